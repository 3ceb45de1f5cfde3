"""JSON files, which are read whole or refused in a sentence."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unweave.errors import DataError, reason, shown

LARGEST = 500_000_000
"""Bytes; what we write is far smaller."""


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, or say what is wrong with it."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise DataError(f"{path} has {size:,} bytes; at most {LARGEST:,} of JSON are read")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON: {reason(error)}") from error


def read_json_lines(path: Path) -> Iterator[tuple[int, str, Any]]:
    """Yield number, text and content of each line; a last one cut short by a crash is left out.

    Nothing if there is no such file.
    """
    if not path.is_file():
        return
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.endswith("\n"):
                    yield number, line, _parsed(line, number, path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text in UTF-8: {reason(error)}") from error


def _parsed(line: str, number: int, path: Path) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}, line {number} is not JSON: {shown(line.strip())}. Remove the line"
        ) from error
