"""SmallNORB: grey photographs of toys, 48,600 of 64×64 (from 96×96), each combination once.

Y. LeCun, F. J. Huang and L. Bottou, CVPR 2004. The original files are six in
the NORB binary format, smallnorb-…-{training,testing}-{dat,cat,info}.mat, as
they are, with .gz, or in .zip archives. Of each pair of photographs the first camera's is
taken.

Training and testing toys together make the full grid; rows are in its order,
and `partitions` keeps the two apart. Some work scores without the instance.
"""

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np
from PIL import Image

from unweave.data._archives import list_files
from unweave.data._dataset import Factor, FactorImages
from unweave.data._image_files import fitted
from unweave.data._options import DataOptions
from unweave.data._original import check_count, find_file, grid_size, required_path
from unweave.data._pixels import BytePixels
from unweave.data._progress import with_progress
from unweave.errors import DataError, reason
from unweave.files.cache import cache_folder, cache_key, cached_array

FACTORS = (
    Factor(
        "category",
        5,
        ("four-legged animal", "human figure", "airplane", "truck", "car"),
        categorical=True,
    ),
    Factor("instance", 10, categorical=True),
    Factor("elevation", 9, tuple(map(str, range(30, 71, 5)))),
    Factor("azimuth", 18, tuple(map(str, range(0, 360, 20)))),
    Factor("lighting", 6, categorical=True),
)
PARTS = ("training", "testing")
SIDE = 96
# What the first four bytes say about the values that follow; all little-endian.
TYPES: dict[int, np.dtype] = {
    0x1E3D4C55: np.dtype("u1"),
    0x1E3D4C54: np.dtype("<i4"),
    0x1E3D4C56: np.dtype("<i2"),
    0x1E3D4C51: np.dtype("<f4"),
    0x1E3D4C53: np.dtype("<f8"),
}


@dataclass(frozen=True)
class Stored:
    """A file by itself, or in an archive."""

    path: Path
    member: str = ""

    def __str__(self) -> str:
        return f"{self.member} in {self.path}" if self.member else str(self.path)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read a folder with the original files or archives of them, or one archive."""
    folder = required_path("smallnorb", path, "/path/to/folder")
    labels = [_read_labels(folder, part) for part in PARTS]
    table = np.concatenate(labels)
    count = grid_size(FACTORS)
    check_count("SmallNORB", "photographs", len(table), count, folder)
    _check_values(table, folder)
    rows = np.ravel_multi_index(tuple(table.T), [factor.size for factor in FACTORS])
    if len(np.unique(rows)) != count:
        raise DataError(f"{folder}: some combinations of factors are there twice, others missing")

    size = options.image_size or 64
    files = [_part_file(folder, part, "dat") for part in PARTS]
    images = cached_array(
        cache_folder() / "original" / f"smallnorb-{_key(files, size)}.npy",
        (count, size, size),
        np.dtype(np.uint8),
        lambda array: _fill(array, files, rows),
    )
    ends = np.cumsum([len(part) for part in labels])
    partitions = {"train": np.sort(rows[: ends[0]]), "test": np.sort(rows[ends[0] :])}
    return FactorImages("smallnorb", BytePixels(images), FACTORS, partitions=partitions)


def _key(files: list[Stored], size: int) -> str:
    members = [file.member for file in files if file.member]
    return cache_key([file.path for file in files], size, *members)


def _fill(array: np.ndarray, files: list[Stored], rows: np.ndarray) -> None:
    """Resize the photographs of both parts, each to its row."""
    steps = with_progress(iter(rows), len(rows), "reading smallnorb")
    for stored in files:
        with _opened(stored) as file:
            shape, dtype = _read_header(file, stored)
            if shape[1:] != (2, SIDE, SIDE) or dtype != np.uint8:
                raise DataError(f"{stored}: expected bytes (?, 2, {SIDE}, {SIDE}), found {shape}")
            for _ in range(shape[0]):
                pair = _read_values(file, (2, SIDE, SIDE), dtype, stored)
                row = next(steps)
                array[row] = fitted(Image.fromarray(pair[0]), array.shape[1], color=False)


def _read_labels(folder: Path, part: str) -> np.ndarray:
    """Read the factors of one part, (row, factor)."""
    category = _read_array(_part_file(folder, part, "cat"), axes=1)
    info = _read_array(_part_file(folder, part, "info"), axes=2)
    dat = _part_file(folder, part, "dat")
    with _opened(dat) as file:
        shape, _ = _read_header(file, dat)
    if info.shape != (len(category), 4) or shape[0] != len(category):
        raise DataError(
            f"{folder}: the {part} files do not belong together: {shape[0]} photographs, "
            f"{len(category)} categories, info of shape {info.shape}"
        )
    info = info.copy()
    info[:, 2] //= 2  # azimuth is stored as 0, 2, …, 34
    return np.column_stack([category, info])


def _check_values(table: np.ndarray, folder: Path) -> None:
    for factor, column in zip(FACTORS, table.T, strict=True):
        if column.min() < 0 or column.max() >= factor.size:
            raise DataError(
                f"{folder}: {factor.name} has values {column.min()} to {column.max()}, "
                f"expected 0 to {factor.size - 1}"
            )


def _part_file(folder: Path, part: str, kind: str) -> Stored:
    """Find a file of a part: by itself in a folder, else in an archive there, or in the one."""
    ending = f"-{part}-{kind}.mat"
    archives = [folder] if folder.is_file() else sorted(folder.rglob("*.zip"))
    if folder.is_dir() and (any(folder.rglob(f"*{ending}*")) or not archives):
        return Stored(find_file(folder, f"*{ending}", f"*{ending}.gz"))
    for archive in archives:
        names = [n for n in list_files(archive) if n.endswith((ending, f"{ending}.gz"))]
        if len(names) == 1:
            return Stored(archive, names[0])
        if names:
            raise DataError(f"{archive} holds several files {ending}: {names[0]}, {names[1]}")
    raise DataError(f"{folder} holds no file *{ending}, by itself or in a .zip")


@contextmanager
def _opened(stored: Stored) -> Iterator[IO[bytes]]:
    packed = (stored.member or stored.path.name).endswith(".gz")
    try:
        with ExitStack() as opened:
            if stored.member:
                archive = opened.enter_context(zipfile.ZipFile(stored.path))
                file = opened.enter_context(archive.open(stored.member))
            else:
                file = opened.enter_context(open(stored.path, "rb"))
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"cannot read {stored}: {reason(error)}") from error


def _read_header(file: IO[bytes], path: Stored) -> tuple[tuple[int, ...], np.dtype]:
    """Read type, number of axes and at least three sizes."""
    magic, axes = map(int, _read_values(file, (2,), np.dtype("<i4"), path))
    if magic not in TYPES or not 1 <= axes <= 4:
        raise DataError(f"{path} is not in the NORB binary format (it begins with {magic:#x})")
    sizes = _read_values(file, (max(3, axes),), np.dtype("<i4"), path)[:axes].tolist()
    if min(sizes) < 1 or np.prod(sizes, dtype=float) > 2e9:
        raise DataError(f"{path} claims the impossible shape {tuple(sizes)}")
    return tuple(sizes), TYPES[magic]


def _read_array(path: Stored, axes: int) -> np.ndarray:
    with _opened(path) as file:
        shape, dtype = _read_header(file, path)
        if len(shape) != axes or dtype.kind != "i" or np.prod(shape) > 10_000_000:
            raise DataError(f"{path}: expected integers of {axes} axes, found {dtype} {shape}")
        return _read_values(file, shape, dtype, path)


def _read_values(
    file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype, path: Stored
) -> np.ndarray:
    wanted = int(np.prod(shape)) * dtype.itemsize
    values = file.read(wanted)
    if len(values) < wanted:
        raise DataError(f"{path} is cut short")
    return np.frombuffer(values, dtype).reshape(shape)
