"""What another library's error says, fit for one line of ours."""

LONGEST = 200


def reason(error: BaseException) -> str:
    """Return the message of an error on one line, cut where it goes on and on."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
