"""Sets in the IDX format of MNIST: four files, as they are or with .gz.

Y. LeCun, C. Cortes and C. J. C. Burges, yann.lecun.com/exdb/mnist. Big-endian:
a magic number, the sizes of the axes, then bytes.
"""

import gzip
import zlib
from pathlib import Path

import numpy as np

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import check_count, find_file, required_path
from unweave.data._pixels import BytePixels, Pixels
from unweave.data._resize import resized
from unweave.errors import DataError, reason

COUNTS = {"train": 60_000, "t10k": 10_000}
SIDE = 28
IMAGES, LABELS = 2051, 2049  # magic numbers: bytes of three axes, of one


def load_idx_set(
    name: str, path: Path | None, factor: Factor, options: DataOptions
) -> FactorImages:
    """Read a folder with images and labels to train on and to test with, in this order."""
    folder = required_path(name, path, "/path/to/folder")
    images, labels, files = [], [], []
    for part, count in COUNTS.items():
        image_file = _find(folder, f"{part}-images", 3)
        images.append(_read(image_file, IMAGES, (count, SIDE, SIDE)))
        labels.append(_read(_find(folder, f"{part}-labels", 1), LABELS, (count,)))
        files.append(image_file)
        if labels[-1].max() >= factor.size:
            raise DataError(
                f"{folder}: the {part} labels go up to {labels[-1].max()}, "
                f"expected 0 to {factor.size - 1}"
            )
    pixels: Pixels = BytePixels(np.concatenate(images))
    table = np.concatenate(labels).astype(np.int64)[:, None]
    train, total = COUNTS["train"], sum(COUNTS.values())
    partitions = {"train": np.arange(train), "test": np.arange(train, total)}
    if options.image_size is not None:
        pixels = resized(pixels, options.image_size, files)
    return FactorImages(name, pixels, (factor,), table, partitions)


def _find(folder: Path, stem: str, axes: int) -> Path:
    names = (f"{stem}-idx{axes}-ubyte", f"{stem}.idx{axes}-ubyte")  # both are about
    return find_file(folder, *names, *(f"{name}.gz" for name in names))


def _read(path: Path, magic: int, shape: tuple[int, ...]) -> np.ndarray:
    head = 4 * (1 + len(shape))
    size = int(np.prod(shape))
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            content = file.read(head + size + 1)  # one more would show a longer file
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {reason(error)}") from error
    numbers = np.frombuffer(content[: len(content) // 4 * 4][:head], ">i4").tolist()
    if not numbers or numbers[0] != magic:
        found = numbers[0] if numbers else "nothing"
        raise DataError(f"{path} is not an IDX file of {len(shape)} axes: it begins with {found}")
    if len(numbers) > 1:
        check_count(path.name, "items", numbers[1], shape[0], path)
    if tuple(numbers[1:]) != shape or len(content) != head + size:
        raise DataError(
            f"{path}: expected {shape} and {size:,} bytes, found {tuple(numbers[1:])} "
            f"and {len(content) - head:,} bytes"
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)
