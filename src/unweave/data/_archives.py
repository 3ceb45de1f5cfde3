"""Files in a folder, a .zip or a .tar, read one after the other without unpacking to disk."""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from unweave.errors import DataError, reason

LARGEST_FILE = 512_000_000  # bytes of one file in an archive; no set comes near it
DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError)


def list_files(path: Path) -> list[str]:
    """List the files in a folder or archive, as places below it, sorted."""
    with _damage_reported(path):
        if path.is_dir():
            return sorted(f.relative_to(path).as_posix() for f in path.rglob("*") if f.is_file())
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return sorted(name for name in archive.namelist() if not name.endswith("/"))
        with tarfile.open(path) as tar:
            return sorted(member.name for member in tar if member.isfile())


def stamped_files(path: Path, files: list[str]) -> list[Path]:
    """Return what tells whether a folder or archive has changed: its files, or itself."""
    return [path / file for file in files] if path.is_dir() else [path]


def read_files(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """Open the wanted files of a folder or archive, in the order in which they are stored."""
    with _damage_reported(path):
        if path.is_dir():
            for name in wanted:
                with open(path / name, "rb") as file:
                    yield name, file
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    if info.filename in wanted:
                        _check_size(path, info.filename, info.file_size)
                        yield info.filename, io.BytesIO(archive.read(info))
        else:
            with tarfile.open(path) as tar:
                for member in tar:
                    if member.name in wanted and (content := tar.extractfile(member)):
                        _check_size(path, member.name, member.size)
                        # Held in memory: going back in a compressed stream starts it afresh.
                        yield member.name, io.BytesIO(content.read())


def _check_size(path: Path, name: str, size: int) -> None:
    if size > LARGEST_FILE:
        raise DataError(f"{name} in {path} claims {size:,} bytes; the limit is {LARGEST_FILE:,}")


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        raise DataError(
            f"{path} is not a readable folder, .zip or .tar: {reason(error)}"
        ) from error
