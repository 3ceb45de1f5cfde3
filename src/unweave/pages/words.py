"""Numbers as people say them."""


def counted(count: int, what: str) -> str:
    """Say how many there are of something: 1 run, 3 runs."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def duration(seconds: float) -> str:
    """Say a length of time: 40 s, 12 min, 3.5 h, 12 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:,.1f} days"
