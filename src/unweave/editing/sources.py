"""Images that a user names: a file, a folder, a data set, the model's own; each with its name.

Pictures are brought to the shape that the model takes. They are read when they are asked for,
so that a folder may hold more of them than memory.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data import DataOptions, Factor, FactorImages, image_from_bytes, load_data
from unweave.errors import DataError
from unweave.evaluation.read_tables import NamedTable, read_factors
from unweave.files.row_names import lines_of
from unweave.runs.model import Model

PICTURES = (
    *(".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".gif", ".tif", ".tiff", ".webp"),
    *(".ppm", ".pgm", ".pbm", ".pnm"),
)
"""Endings of the files that are taken for pictures."""

FILE, ROW = "file", "row"
"""What the names of images are: places below a folder, or numbers of rows of a data set."""


@dataclass(frozen=True)
class NamedImages:
    """Images in an order, what each is called, and what is known of them."""

    key: str
    """What the names are: `file` or `row`."""
    names: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    """Factors by name, numbers or words, one entry per image; empty if none are known."""
    images: Callable[[np.ndarray], np.ndarray]
    """Return the images of some of them by number, float32 (image, channel, height, width)."""
    rows: np.ndarray | None = None
    """Rows of the model's own data set, where it is these that are looked at."""

    def __len__(self) -> int:
        return len(self.names)


def open_images(
    source: str | Path | None, model: Model, options: DataOptions = DataOptions()
) -> NamedImages:
    """Open what a user names: a picture, a folder of them, a data set; None is the model's own."""
    if source is None:
        return images_of_data(model.data, own=True)
    path = Path(source).expanduser()
    if os.path.isdir(path):
        return _checked(images_in_files(path, files_below(path), model.image_shape, options))
    if os.path.isfile(path) and path.suffix.lower() in PICTURES:
        return _checked(images_in_files(path.parent, [path.name], model.image_shape, options))
    data = load_data(source, options)
    if data.image_shape != model.image_shape:
        raise DataError(
            f"{data.name} has images of shape {data.image_shape}; {model.name} takes "
            f"{model.image_shape}. Bring them to that size first (--image-size, --color)."
        )
    return images_of_data(data)


def images_of_data(data: FactorImages, *, own: bool = False) -> NamedImages:
    """Name the images of a data set by their rows."""
    table = data.factors()
    columns = {f.name: in_words(f, table[:, i]) for i, f in enumerate(data.factor_list)}
    for name, column in data.columns.items():
        columns[name] = in_words(column.factor, column.values)
    names = tuple(map(str, range(len(data))))
    return NamedImages(ROW, names, columns, data.images, np.arange(len(data)) if own else None)


def in_words(factor: Factor, values: np.ndarray) -> np.ndarray:
    """Return the values of a factor as they are called: words, what they measure, or numbers.

    What is missing, which only columns beside the factors may be, is not a number or "".
    """
    if factor.continuous:
        return values.astype(np.float64)
    index = values.astype(np.int64)
    if factor.values is None and factor.labels is None:
        return index if (index >= 0).all() else np.where(index >= 0, index, np.nan)
    if factor.values is not None:
        return np.where(index >= 0, np.array(factor.values)[index], np.nan)
    assert factor.labels is not None
    called: np.ndarray = np.array(factor.labels)
    try:
        numbers = called.astype(np.float64)
    except ValueError:
        return np.where(index >= 0, called[index], "")
    if (index >= 0).all() and (numbers == np.rint(numbers)).all():
        return numbers.astype(np.int64)[index]
    return np.where(index >= 0, numbers[index], np.nan)


def files_below(folder: Path) -> list[str]:
    """List the pictures in a folder and below it, by their place in it, sorted."""
    found: list[str] = []
    for inside, below, names in os.walk(folder):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in names:
            if Path(name).suffix.lower() in PICTURES and not name.startswith("."):
                found.append(Path(inside, name).relative_to(folder).as_posix())
    if not found:
        raise DataError(f"no image in {folder}; expected files such as .png or .jpg in it or below")
    return sorted(found)


def images_in_files(
    folder: Path, files: Sequence[str], shape: tuple[int, int, int], options: DataOptions
) -> NamedImages:
    """Name pictures by their place in a folder; those that cannot be read may be left out."""
    columns: dict[str, np.ndarray] = {}
    kept = list(range(len(files)))
    if options.bad_images == "skip":
        kept = [i for i, file in enumerate(files) if _is_readable(folder / file, shape)]
    chosen = [files[i] for i in kept]
    if options.factors is not None:
        columns = _factors_of(chosen, Path(options.factors).expanduser())

    def images(rows: np.ndarray) -> np.ndarray:
        return np.stack([read_image(folder / chosen[row], shape) for row in rows])

    return NamedImages(FILE, tuple(chosen), columns, images)


def read_image(path: Path, shape: tuple[int, int, int]) -> np.ndarray:
    """Read one picture and bring it to a shape: float32 (channel, height, width) in [0, 1]."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        return image_from_bytes(content, shape)
    except DataError as error:
        raise DataError(str(error).replace("the given file", str(path))) from error


def _is_readable(path: Path, shape: tuple[int, int, int]) -> bool:
    try:
        read_image(path, shape)
    except DataError:
        return False
    return True


def _checked(found: NamedImages) -> NamedImages:
    if not len(found):
        raise DataError("none of the images can be read")
    return found


def _factors_of(files: Sequence[str], path: Path) -> dict[str, np.ndarray]:
    """Read the columns of a table in the order of files, matched by the names in it."""
    table = read_factors(path, missing="mask")
    order = None
    for named in table.keys.values():
        try:
            order = lines_of(files, named, path)
            break
        except DataError:
            if named is list(table.keys.values())[-1]:
                raise
    if order is None:
        if len(table.values) != len(files):
            raise DataError(
                f"{path} has {len(table.values)} rows for {len(files)} images, and no column of "
                "file names to match them by."
            )
        order = np.arange(len(files))
    return {name: column[order] for name, column in columns_of(table).items()}


def columns_of(table: NamedTable) -> dict[str, Any]:
    """Return the columns of a table by name; numbers that stand for words are words again."""
    found: dict[str, Any] = {}
    if table.values.dtype.kind not in "biuf":
        raise DataError(f"expected a table of numbers and words, found {table.values.dtype}")
    for name, column in zip(table.names, table.values.T, strict=True):
        if name in table.classes:
            words = np.array([*table.classes[name], ""])
            index = np.where(np.isnan(column.astype(float)), -1, column).astype(np.int64)
            found[name] = words[index]
        else:
            whole = np.isfinite(column).all() and (column == np.rint(column)).all()
            found[name] = column.astype(np.int64) if whole else column.astype(np.float64)
    return found
