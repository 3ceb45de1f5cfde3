"""A folder of the user's own images.

All files below the folder are read, sorted by their place in it. Hidden files,
system files and texts (CSV, JSON and the like) are passed over; any other file
must be a picture. Pictures are decoded once: cut to the middle square, resized
and kept as bytes in the cache, which is mapped, not loaded.
"""

import json
import logging
import os
import re
from pathlib import Path, PurePosixPath

import numpy as np

from unweave.data._dataset import FactorImages
from unweave.data._factor_table import read_columns
from unweave.data._image_files import fitted, is_grey, open_image
from unweave.data._options import DataOptions
from unweave.data._own_gaps import facts_of
from unweave.data._pixels import BytePixels, Pixels, SelectedPixels
from unweave.data._progress import with_progress
from unweave.errors import DataError
from unweave.files.cache import cache_folder, cache_key, cached_folder, new_array

DEFAULT_SIZE = 64
SYSTEM_FILES = ("thumbs.db", "desktop.ini", "__macosx")
COMPANIONS = (
    *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".xml", ".toml", ".md", ".rst"),
    *(".html", ".pdf", ".log", ".npy", ".npz", ".mat", ".h5", ".parquet", ".lock", ".py"),
)
"""Files that come along with pictures and are not meant to be any."""
SHOWN = 10  # names of bad files in a message

log = logging.getLogger(__name__)


def load_folder(path: Path, options: DataOptions) -> FactorImages:
    """Decode a folder of images on first use, and map the result."""
    size = DEFAULT_SIZE if options.image_size is None else options.image_size
    if size < 1:
        raise DataError(f"image_size must be at least 1, found {size}")
    files = find_files(path)
    if not files:
        raise DataError(f"no image in {path}; expected files such as .png or .jpg in it or below")
    key = cache_key([path / file for file in files], files, size, options.color)

    def make(folder: Path) -> None:
        _decode(path, files, size, options.color, folder)

    bad: dict[str, str]
    images, bad = cached_folder(
        cache_folder() / "folders" / key,
        make,
        notes="bad.json",
        needed=len(files) * size * size * 3,
    )
    _report(path, bad, len(files), options)
    good = np.array([row for row, file in enumerate(files) if file not in bad])
    pixels: Pixels = BytePixels(images)
    if bad:
        pixels = SelectedPixels(pixels, good)
    columns = {}
    if options.factors is not None:
        table = read_columns(Path(options.factors), len(files), files)
        columns = {name: column[good] for name, column in table.items()}
    if options.clips == "folders":
        known = {name.lower() for name in columns} & {"clip", "time"}
        if known:
            raise DataError(
                f"{options.factors} has a column {min(known)!r}, and folders are to be clips as "
                "well; leave one of the two out"
            )
        columns |= {name: column[good] for name, column in clips_by_folder(files).items()}
    name = path.resolve().name or "folder"
    facts = facts_of(columns, len(pixels), str(options.factors), options.missing)
    return FactorImages(name, pixels, **facts)


def find_files(path: Path) -> list[str]:
    """List what ought to be pictures, by their place below the folder, sorted."""
    found: list[str] = []
    for folder, below, names in os.walk(path, onerror=_refuse_folder):
        below[:] = [name for name in below if not _is_hidden(name)]
        for name in names:
            file = Path(folder, name)
            if _is_hidden(name) or file.suffix.lower() in COMPANIONS or not file.is_file():
                continue
            found.append(file.relative_to(path).as_posix())
    return sorted(found)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name.lower() in SYSTEM_FILES


def _refuse_folder(error: OSError) -> None:
    """Refuse a folder that cannot be looked into: without it the images would be others."""
    raise DataError(f"cannot read the folder {error.filename}: {error.strerror or error}")


def clips_by_folder(files: list[str]) -> dict[str, np.ndarray]:
    """Return the clip and the time of each file: its folder, and its rank by name in there.

    Numbers in names count as numbers: frame_10 comes after frame_9.
    """
    ranks: dict[str, int] = {}
    by_folder: dict[str, list[str]] = {}
    for file in files:
        by_folder.setdefault(str(PurePosixPath(file).parent), []).append(file)
    for inside in by_folder.values():
        ranks |= {file: rank for rank, file in enumerate(sorted(inside, key=_by_numbers))}
    return {
        "clip": np.array([str(PurePosixPath(file).parent) for file in files]),
        "time": np.array([ranks[file] for file in files]),
    }


def _by_numbers(name: str) -> list[tuple[int, str]]:
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _decode(path: Path, files: list[str], size: int, color: str, folder: Path) -> None:
    """Write the pictures into `images.npy`, and those that are none into `bad.json`."""
    in_color = color == "rgb" or (color == "auto" and _any_color(path, files, size))
    shape = (len(files), size, size, 3) if in_color else (len(files), size, size)
    images = new_array(folder / "images.npy", shape, np.dtype(np.uint8))
    bad = {}
    for row, file in with_progress(enumerate(files), len(files), f"reading {path.name}"):
        try:
            image = open_image(path / file, at_least=size)
            images[row] = fitted(image, size, color=in_color)
        except DataError as error:
            bad[file] = str(error).removeprefix(f"{path / file} is ")
    images.flush()
    (folder / "bad.json").write_text(json.dumps(bad, indent=1), encoding="utf-8")


def _any_color(path: Path, files: list[str], size: int) -> bool:
    """Whether any picture has colour; ends at the first that has."""
    for file in files:
        try:
            if not is_grey(open_image(path / file, at_least=size)):
                return True
        except DataError:
            continue  # reported when it is decoded
    return False


def _report(path: Path, bad: dict[str, str], count: int, options: DataOptions) -> None:
    if not bad:
        return
    shown = "; ".join(f"{file}: {reason}" for file, reason in list(bad.items())[:SHOWN])
    more = f"; and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
    found = f"{len(bad):,} of {count:,} files in {path} cannot be read as images: {shown}{more}"
    if len(bad) == count:
        raise DataError(found)
    if options.bad_images == "refuse":
        raise DataError(
            f"{found}. Remove them, or leave them out: --bad-images skip, "
            "or bad_images='skip' from Python"
        )
    log.warning("%s. They are left out", found)
