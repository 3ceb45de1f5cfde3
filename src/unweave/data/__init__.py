"""Data sets: images by row and the factors they were made from."""

import os
from pathlib import Path
from typing import Any

from unweave import catalog
from unweave.data._apart import DataParts, put_together, take_apart
from unweave.data._dataset import Column, DataSummary, FactorImages
from unweave.data._drawing import draw_by_weights, draw_evenly
from unweave.data._factor import Factor
from unweave.data._factor_table import ID_COLUMNS
from unweave.data._image_files import image_from_bytes
from unweave.data._options import DataOptions
from unweave.data._own_arrays import from_arrays, load_array_file
from unweave.data._own_folder import load_folder
from unweave.data._places import Place, known_places
from unweave.errors import ConfigError, DataError
from unweave.files.opened_places import remember
from unweave.settings.plain import from_plain, to_plain

__all__ = [
    "ID_COLUMNS",
    "Column",
    "DataOptions",
    "DataParts",
    "DataSummary",
    "Factor",
    "FactorImages",
    "Place",
    "draw_by_weights",
    "draw_evenly",
    "from_arrays",
    "image_from_bytes",
    "known_places",
    "load_data",
    "open_source",
    "places_of",
    "put_together",
    "set_name",
    "take_apart",
]


def load_data(
    source: str | Path, options: DataOptions = DataOptions(), **changes: Any
) -> FactorImages:
    """Open a data set.

    `source` is the name of a set (`dsprites`), a name and the original file
    (`dsprites:/path/to/file.npz`), a folder of images, or an array file. Options may be
    given one by one: `load_data("photos", factors="table.csv", bad_images="skip")`.
    """
    if changes:
        options = from_plain(DataOptions, to_plain(options) | _as_text(changes), "load_data")
    data = open_source(str(source), options)
    remember(places_of(str(source), options))
    return data


def places_of(source: str, options: DataOptions) -> list[Path]:
    """Return the files and folders that opening a source would read, as far as they exist."""
    path = source.partition(":")[2] if set_name(source) else source
    named = [path, options.factors or ""]
    return [place for text in named if text and os.path.exists(place := Path(text).expanduser())]


def open_source(text: str, options: DataOptions) -> FactorImages:
    """Open a data set that somebody else has named, such as a run folder: see `load_data`."""
    name, _, rest = text.partition(":")
    if set_name(text):
        entry = catalog.load(__name__, name, "data set")
        data: FactorImages = entry.load(Path(rest).expanduser() if rest else None, options)
        if not isinstance(data, FactorImages):
            raise ConfigError(
                f"load of the data set {name} must return FactorImages, found {type(data).__name__}"
            )
        _check_options(data, options)
        data.known = True
        return data.arranged_by(options)
    path = Path(text).expanduser()
    if os.path.isdir(path):  # unlike its method, also of names that are too long
        return load_folder(path, options).arranged_by(options)
    if os.path.isfile(path):
        if options.clips != "none":
            raise ConfigError(f"{path} is no folder of frames; leave clips out")
        if path.suffix.lower() in (".npy", ".npz"):
            return load_array_file(path, options).arranged_by(options)
        raise DataError(
            f"{path} is neither a folder of images nor an array file (.npy, .npz). "
            f"The original file of a known set is given as NAME:{path}, for instance "
            f"dsprites:{path}; `unweave list data` shows the names."
        )
    if rest or not _looks_like_path(text):
        known = catalog.names(__name__)
        raise ConfigError(f"no data set named {name!r}. {catalog.suggestion(name, known)}")
    raise DataError(f"no such file or folder: {path}. A known set is given by its name instead.")


def _as_text(changes: dict[str, Any]) -> dict[str, Any]:
    """Take paths for what they are called, as options are plain words and numbers."""
    return {k: str(v) if isinstance(v, Path) else v for k, v in changes.items()}


def set_name(source: str) -> str:
    """Return the name of the set that a source names; "" for a folder or file of images."""
    name = source.partition(":")[0]
    return name if name in catalog.names(__name__) else ""


def _check_options(data: FactorImages, options: DataOptions) -> None:
    """Refuse options that a known set cannot follow, rather than pass over them."""
    channels, height, width = data.image_shape
    size, color = options.image_size, options.color
    if size is not None and (height, width) != (size, size):
        raise ConfigError(f"{data.name} has images of {height}×{width}; leave image_size out")
    if color != "auto" and channels != (1 if color == "grey" else 3):
        raise ConfigError(f"{data.name} has images of {channels} channels; leave color out")
    if options.factors is not None:
        raise ConfigError(f"the factors of {data.name} are known; leave the file of factors out")
    if options.clips != "none":
        raise ConfigError(f"{data.name} is no folder of frames; leave clips out")


def _looks_like_path(text: str) -> bool:
    return any(sign in text for sign in "/\\.~")
