"""Arrays in .npy and .npz files, mapped rather than loaded, nothing ever unpickled.

The header is read and checked against the size of the file before any memory is
taken. An array that is stored as it is, in an .npy or an uncompressed .npz, is
mapped in place; a compressed one is unpacked once into the cache and mapped there.
"""

import ast
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO

import numpy as np

from unweave.errors import DataError, listed, reason
from unweave.files.cache import cache_folder, cache_key, cached_array

MAGIC = b"\x93NUMPY"
LARGEST_HEADER = 64_000
LARGEST_AXES = 8
# The original dSprites shrinks 120-fold; deflate itself cannot exceed about 1030.
LARGEST_RATIO = 400
ALWAYS_FINE = 64_000_000  # bytes that unpack without a look at the ratio
MOST_MEMBERS = 2_000  # arrays of an .npz
BLOCK = 16_000_000  # bytes read at a time
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Header:
    """What an .npy header says, and where the values start."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fortran_order: bool
    start: int

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype} of shape {self.shape}"


def read_header(file: IO[bytes], where: str) -> Header:
    """Read the header of an .npy stream that stands at its start."""
    start = file.read(8)
    if len(start) < 8 or start[:6] != MAGIC:
        raise DataError(f"{where} is not a numpy array file: it does not start like one")
    wide = start[6] >= 2  # versions 2 and 3 give the length in four bytes
    length_bytes = file.read(4 if wide else 2)
    if len(length_bytes) < (4 if wide else 2):
        raise DataError(f"{where} is cut short within its header")
    length = int.from_bytes(length_bytes, "little")
    if length > LARGEST_HEADER:
        raise DataError(f"{where} has a header of {length:,} bytes; an array needs a few hundred")
    text = file.read(length).decode("latin-1")
    if len(text) < length:
        raise DataError(f"{where} is cut short within its header")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes, in bytes that are no header
            fields = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise DataError(f"{where} has an unreadable header") from error
    if not isinstance(fields, dict) or {"descr", "fortran_order", "shape"} - fields.keys():
        raise DataError(f"{where} has a header without the shape and type of its values")
    shape = fields["shape"]
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise DataError(f"{where} has an impossible shape: {shape!r}"[:300])
    if not shape or len(shape) > LARGEST_AXES or 0 in shape:
        raise DataError(f"{where} has shape {shape}; expected rows of values"[:300])
    return Header(
        _plain_dtype(fields["descr"], where),
        shape,
        bool(fields["fortran_order"]),
        8 + len(length_bytes) + length,
    )


def _plain_dtype(description: object, where: str) -> np.dtype:
    try:
        dtype = np.dtype(description) if isinstance(description, str) else None
    except (TypeError, ValueError, SyntaxError) as error:
        raise DataError(f"{where} has values of an unknown type {description!r}"[:300]) from error
    if dtype is None or dtype.kind not in "biufUS" or dtype.itemsize == 0:
        raise DataError(
            f"{where} holds values of type {description!r}, not plain numbers or strings. "
            f"Objects are not read, because that would run code from the file; save it again as "
            f"an array of one number type"[:400]
        )
    return dtype


def text_of(array: np.ndarray, where: str) -> np.ndarray:
    """Return an array of strings; bytes are read as UTF-8."""
    try:
        return np.char.decode(array) if array.dtype.kind == "S" else np.array(array.tolist())
    except (ValueError, SystemError) as error:  # no text, or characters that do not exist
        raise DataError(f"{where} holds damaged text: {reason(error)}") from error


def _refuse_larger(header: Header, limit: int | None, where: str) -> None:
    if limit is not None and header.nbytes > limit:
        raise DataError(
            f"{where} claims to hold {header}, {header.nbytes / 2**30:.1f} GiB; at most "
            f"{limit / 2**30:.1f} GiB are read. Pass fewer rows"
        )


def map_array(path: Path, limit: int | None = None) -> np.ndarray:
    """Map an .npy file for reading, unless it holds more bytes than the limit."""
    try:
        with open(path, "rb") as file:
            header = read_header(file, str(path))
        _refuse_larger(header, limit, str(path))
        available = path.stat().st_size - header.start
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if header.nbytes > available:
        raise DataError(
            f"{path} is cut short: its header claims {header} ({header.nbytes:,} bytes), "
            f"but only {max(available, 0):,} follow"
        )
    return _mapped(path, header, header.start)


def _mapped(path: Path, header: Header, start: int) -> np.ndarray:
    order = "F" if header.fortran_order else "C"
    return np.memmap(path, header.dtype, "r", start, header.shape, order)  # type: ignore[call-overload]


class ArrayArchive:
    """The arrays of an .npz file."""

    def __init__(self, path: Path):
        self.path = path
        with self._errors(), zipfile.ZipFile(path) as archive:
            if (count := len(archive.infolist())) > MOST_MEMBERS:
                raise DataError(
                    f"{path} holds {count:,} arrays; at most {MOST_MEMBERS:,} are read. Save them "
                    f"as a few arrays, a row for each"
                )
            self._members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
        self.names = tuple(self._members)

    def header(self, name: str) -> Header:
        """Read what an array is, without its values."""
        with self.opened(name) as (header, _):
            return header

    def headers(self) -> dict[str, Header]:
        """Read what every array is that holds plain values, rather than pickled objects."""
        found = {}
        with self._errors(), zipfile.ZipFile(self.path) as archive:
            for name in self.names:
                # What is pickled or damaged is no array to choose from.
                with suppress(DataError), self._member(archive, name, None) as (header, _):
                    found[name] = header
        return found

    @contextmanager
    def opened(self, name: str, limit: int | None = None) -> Iterator[tuple[Header, IO[bytes]]]:
        """Open an array as its header and the stream of its values, of at most `limit` bytes."""
        with (
            self._errors(),
            zipfile.ZipFile(self.path) as archive,
            self._member(archive, name, limit) as found,
        ):
            yield found

    @contextmanager
    def _member(
        self, archive: zipfile.ZipFile, name: str, limit: int | None
    ) -> Iterator[tuple[Header, IO[bytes]]]:
        if name not in self._members:
            raise DataError(
                f"{self.path} has no array {name!r}; it holds {listed(self.names) or 'none'}"
            )
        info = self._members[name]
        where = f"{name!r} in {self.path}"
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{where} is compressed in a way numpy does not write")
        stored = info.compress_type == zipfile.ZIP_STORED
        if info.compress_size > self.path.stat().st_size or (
            stored and info.file_size != info.compress_size
        ):
            raise DataError(f"{where} is damaged: it claims more bytes than the file has")
        with self._errors(), archive.open(info) as file:
            header = read_header(file, where)
            _refuse_larger(header, limit, where)
            if header.start + header.nbytes != info.file_size:
                raise DataError(
                    f"{where} is damaged: its header claims {header} ({header.nbytes:,} bytes), "
                    f"the archive {info.file_size - header.start:,}"
                )
            ratio = header.nbytes / max(info.compress_size, 1)
            if header.nbytes > ALWAYS_FINE and ratio > LARGEST_RATIO:
                raise DataError(
                    f"{where} would unpack to {header.nbytes / 1e6:,.0f} MB from "
                    f"{info.compress_size / 1e6:,.1f} MB, {ratio:.0f}-fold; the limit is "
                    f"{LARGEST_RATIO}. If it is meant, save it uncompressed, as .npy"
                )
            yield header, file

    def blocks(self, name: str) -> Iterator[tuple[int, np.ndarray]]:
        """Go through an array in order: the first row of each block, and the block."""
        with self.opened(name) as (header, file):
            if header.fortran_order:
                raise DataError(f"{name!r} in {self.path} is in Fortran order; expected C order")
            row_bytes = prod(header.shape[1:]) * header.dtype.itemsize
            step = max(1, BLOCK // max(row_bytes, 1))
            for first in range(0, header.shape[0], step):
                count = min(step, header.shape[0] - first)
                values = _read_exactly(file, count * row_bytes, str(self.path))
                yield (
                    first,
                    np.frombuffer(values, header.dtype).reshape(count, *header.shape[1:]),
                )

    def map(self, name: str) -> np.ndarray:
        """Map an array for reading: in place, or once unpacked into the cache."""
        header = self.header(name)
        info = self._members[name]
        if info.compress_type == zipfile.ZIP_STORED:
            return _mapped(self.path, header, self._start(info) + header.start)
        key = cache_key([self.path], "unpacked", name)
        shape = header.shape[::-1] if header.fortran_order else header.shape

        def fill(array: np.ndarray) -> None:
            with self.opened(name) as (_, file):
                flat = array.reshape(-1).view(np.uint8)
                for first in range(0, len(flat), BLOCK):
                    part = flat[first : first + BLOCK]
                    part[:] = np.frombuffer(
                        _read_exactly(file, len(part), str(self.path)), np.uint8
                    )

        path = cache_folder() / "unpacked" / f"{key}.npy"
        array = cached_array(path, shape, header.dtype, fill)
        return array.T if header.fortran_order else array

    def load(self, name: str, limit: int | None = None) -> np.ndarray:
        """Read an array whole, unless it holds more bytes than the limit."""
        with self.opened(name, limit) as (header, file):
            values = _read_exactly(file, header.nbytes, str(self.path))
            array = np.frombuffer(values, header.dtype)
            if header.fortran_order:
                return array.reshape(header.shape[::-1]).T
            return array.reshape(header.shape)

    def _start(self, info: zipfile.ZipInfo) -> int:
        """Find the first byte of a stored member: after a local header of its own length."""
        with self._errors(), open(self.path, "rb") as file:
            file.seek(info.header_offset)
            local = file.read(30)
            if len(local) < 30 or local[:4] != b"PK\x03\x04":
                raise DataError(f"{self.path} is damaged: no member where its directory points")
            start = info.header_offset + 30 + sum(struct.unpack("<HH", local[26:30]))
            if start + info.file_size > self.path.stat().st_size:
                raise DataError(f"{self.path} is cut short")
            return start

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{self.path} is damaged or no .npz file: {reason(error)}") from error


def _read_exactly(file: IO[bytes], count: int, where: str) -> bytes:
    values = file.read(count)
    if len(values) < count:
        raise DataError(f"{where} is cut short")
    return values
