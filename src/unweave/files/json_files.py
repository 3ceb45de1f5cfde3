"""JSON files, which are read whole or refused in a sentence."""

import json
from pathlib import Path
from typing import Any

from unweave.errors import DataError


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, or say what is wrong with it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON: {error}") from error
