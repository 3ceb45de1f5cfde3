"""Reading the original files of known sets."""

from pathlib import Path

import numpy as np

from unweave.errors import DataError


def takes_no_file(name: str, path: Path | None) -> None:
    """Refuse a path for a set that is made on this machine."""
    if path is not None:
        raise DataError(f"{name} is made on this machine and takes no file; write just {name}")


def required_file(name: str, path: Path | None, example: str) -> Path:
    """Return the path of the original file or folder, or say how to give it."""
    if path is None:
        raise DataError(
            f"{name} is read from its original files, which cannot be shipped. "
            f"Give their place as {name}:{example}"
        )
    path = path.expanduser()
    if not path.exists():
        raise DataError(f"no such file or folder: {path} (expected {example})")
    return path


def open_npz_member(
    path: Path, key: str, dtype: np.dtype, shape: tuple[int | None, ...]
) -> np.ndarray:
    """Return one array of an .npz file without unpickling anything."""
    if not path.is_file():
        raise DataError(f"no such file: {path}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            if key not in archive.files:
                raise DataError(
                    f"{path} has no array {key!r}; it holds {', '.join(archive.files) or 'none'}"
                )
            array = archive[key]
    except (ValueError, OSError, EOFError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not a readable .npz file: {error}") from error
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        wanted = "×".join("?" if n is None else str(n) for n in shape)
        raise DataError(
            f"{path}: expected {key!r} as {dtype} of shape {wanted}, "
            f"found {array.dtype} of shape {array.shape}"
        )
    return array
