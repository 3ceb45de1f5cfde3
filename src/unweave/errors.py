"""The errors a user can cause and mend.

A message says what was found, what was expected and what to do. The command
line prints these without a traceback and ends with code 2; anything else is a
bug of ours and keeps its traceback.
"""

import re
from collections.abc import Sequence
from typing import Any

LONGEST_REASON = 200  # characters
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""What colours a terminal or moves its cursor."""
LONGEST_SHOWN = 80
MOST_LISTED = 20


class UnweaveError(Exception):
    """Something the user can mend."""


class ConfigError(UnweaveError, ValueError):
    """A setting or argument that cannot be used."""


class DataError(UnweaveError, ValueError):
    """A file or array that is missing, damaged or of the wrong form."""


class Diverged(UnweaveError):
    """A term of a loss became infinite or not a number."""


class Stopped(KeyboardInterrupt):
    """The user stopped a run between two steps; it can be resumed."""


class Notice(UserWarning):
    """Something that was left out, and why; the command line says it in a line."""


def reason(error: BaseException) -> str:
    """Return what another library's error says on one line, cut where it goes on and on."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"


def first_line(error: BaseException) -> str:
    """Return the first line of what another library's error says, without colours of terminals."""
    text = COLOURS.sub("", str(error)).strip().partition("\n")[0]
    return printable(text[:LONGEST_REASON]) or type(error).__name__


def shown(value: Any) -> str:
    """Return what was found as a message shows it: on one line, and no longer than need be."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # whole numbers of thousands of digits, endless tables
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """Return names with commas between them, of many the first ones and how many there are."""
    few = ", ".join(printable(name[:LONGEST_SHOWN]) for name in names[:MOST_LISTED])
    return few if len(names) <= MOST_LISTED else f"{few}, … ({len(names):,})"


def printable(text: str) -> str:
    """Return text on one line, in which what would move or colour a terminal is written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
