"""Pictures that a run folder keeps: those drawn while training, of applications, and a thumbnail.

A run folder may come from anybody. Only files of the run itself are read, never a link, only
PNG, and none that is larger than pictures of ours are.
"""

import io
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from unweave.errors import DataError
from unweave.explorer.open_runs import NoSuchRun
from unweave.runs.folder import RunFolder

PNG = b"\x89PNG\r\n\x1a\n"
LARGEST_FILE = 30_000_000  # bytes
LARGEST_PICTURE = 20_000_000  # pixels
THUMBNAIL = (120, 80)  # pixels; shown at half of that, for screens with small ones
MOST_STEPS = 500  # pictures of one kind
TRAINING = re.compile(r"([a-z_]{1,40})-(\d{1,15})\.png")
FOR_THUMBNAILS = ("traversals", "reconstructions", "samples")


class NoPicture(NoSuchRun):
    """The run keeps no such picture."""


def training_pictures(folder: RunFolder) -> dict[str, Any]:
    """Return which pictures were kept while the run trained, by kind and step, and weights."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(_files(folder.figures / "training")):
        if match := TRAINING.fullmatch(file.name):
            entry = {"step": int(match[2]), "file": file.name}
            kinds.setdefault(match[1], []).append(entry)
    return {
        "kinds": {
            kind: sorted(entries, key=lambda entry: entry["step"])[-MOST_STEPS:]
            for kind, entries in kinds.items()
        },
        "weights": list(folder.kept_weights())[-MOST_STEPS:],
    }


def training_picture(folder: RunFolder, name: str) -> bytes:
    """Return one of them."""
    if not TRAINING.fullmatch(name):
        raise NoPicture(f"{name!r} is not the name of a picture")
    return read_picture(folder.figures / "training" / name)


def thumbnail(folder: RunFolder) -> bytes:
    """Return a small picture of what the run does."""
    file = _for_thumbnail(folder)
    if file is None:
        raise NoPicture("this run keeps no picture yet")
    facts = file.stat()
    return _small(file, facts.st_mtime_ns, facts.st_size)


def has_thumbnail(folder: RunFolder) -> bool:
    """Tell whether there is one."""
    return _for_thumbnail(folder) is not None


def _for_thumbnail(folder: RunFolder) -> Path | None:
    training = sorted(_files(folder.figures / "training"), key=lambda file: file.name)
    for kind in FOR_THUMBNAILS:
        newest = [file for file in training if _kind(file) == kind][-1:]
        for file in (folder.figures / f"{kind}.png", *newest):
            if _is_own(file):
                return file
    return None


def read_picture(file: Path) -> bytes:
    """Return a picture of a run folder as it lies there."""
    if not _is_own(file):
        raise NoPicture(f"there is no picture {file.name} in the run")
    if file.stat().st_size > LARGEST_FILE:
        raise DataError(f"{file.name} has more than {LARGEST_FILE:,} bytes")
    content = file.read_bytes()
    if not content.startswith(PNG):
        raise DataError(f"{file.name} is not a PNG")
    return content


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir() or folder.is_symlink() or folder.parent.is_symlink():
        return []
    return [file for file in folder.iterdir() if _is_own(file)]


def _kind(file: Path) -> str:
    match = TRAINING.fullmatch(file.name)
    return match[1] if match else ""


def _is_own(file: Path) -> bool:
    return file.is_file() and not (file.is_symlink() or file.parent.is_symlink())


@lru_cache(maxsize=2_000)
def _small(file: Path, modified: int, size: int) -> bytes:
    """Return a part of a picture, scaled; remembered until the file changes.

    Pictures of ours have words on their left and above: the part is from the right, below these.
    """
    try:
        with Image.open(io.BytesIO(read_picture(file)), formats=("PNG",)) as opened:
            if opened.width * opened.height > LARGEST_PICTURE:
                raise DataError(f"{file.name} has more than {LARGEST_PICTURE:,} pixels")
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{file.name} cannot be read: {error}") from None
    across, down = THUMBNAIL
    top = picture.height // 9
    share = min(0.5 * picture.width / across, (picture.height - top) / down)
    left = picture.width - round(across * share)
    part = picture.crop((left, top, picture.width, top + round(down * share)))
    content = io.BytesIO()
    part.resize(THUMBNAIL, Image.Resampling.LANCZOS).save(content, "PNG")
    return content.getvalue()
