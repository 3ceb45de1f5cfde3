"""Which kinds of file a figure is written as."""

from collections.abc import Sequence
from pathlib import Path

from unweave.errors import ConfigError


def format_of(path: Path, formats: Sequence[str], what: str) -> str:
    """Return the format that a file's suffix names, if `what` can be written so."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in formats:
        *most, last = formats
        raise ConfigError(
            f"{path}: {what} are written as {', '.join(most)} or {last}, found {suffix!r}"
        )
    return suffix
