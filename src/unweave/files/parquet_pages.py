"""What the pages of a Parquet file say they unpack to, read off their own headers.

The description at the end of a file is only what its writer claims. A reader takes as much
memory for a page as the header of that page says, so these are added up as well. Where pages
begin is read off the description here too: pyarrow, asked for it, ends the whole process over
some spoilt descriptions. Both are structures of Thrift's compact protocol; of them we need a few
numbers, and skip the rest.
"""

import os
from typing import IO, Any

from unweave.errors import DataError

LARGEST_HEADER = 1_000_000  # bytes; statistics of a page may hold long words
LARGEST_DESCRIPTION = 16_000_000  # bytes of text, and entries, in the description of a file
DEEPEST = 12
UNCOMPRESSED, COMPRESSED = 2, 3  # fields of a page's header
ROW_GROUPS, COLUMNS, CHUNK = 4, 1, 3  # of the description, of a row group, of a column
CHUNK_BYTES, DATA_AT, DICTIONARY_AT = 7, 9, 11  # of a chunk
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)


def unpacked_bytes(file: IO[bytes], most: int) -> int:
    """Return what all pages together unpack to; stop counting beyond `most`."""
    total = 0
    for group in _structures(_description(file).get(ROW_GROUPS)):
        for column in _structures(group.get(COLUMNS)):
            for chunk in _structures([column.get(CHUNK)]):
                total += _of_chunk(file, chunk, most - total)
                if total > most:
                    return total
    return total


def _description(file: IO[bytes]) -> dict[int, Any]:
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 8, 0))
    ending = file.read(8)
    size = int.from_bytes(ending[:4], "little")
    if ending[4:] != b"PAR1" or not 0 < size <= min(end - 8, LARGEST_DESCRIPTION):
        raise DataError("it has no description at its end, or too long a one")
    file.seek(end - 8 - size)
    return _Header(file.read(size)).fields()


def _structures(items: Any) -> list[dict[int, Any]]:
    """Return a list of structures, or say that there is something else in its place."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DataError("its description is damaged")
    return items


def _of_chunk(file: IO[bytes], chunk: dict[int, Any], most: int) -> int:
    starts = [place for field in (DATA_AT, DICTIONARY_AT) if (place := _number(chunk, field)) > 0]
    length = _number(chunk, CHUNK_BYTES)
    if not starts or length < 0:
        raise DataError("its description does not say where a column is")
    place, total = min(starts), 0
    end = place + length
    while place < end and total <= most:
        file.seek(place)
        header = _Header(file.read(min(LARGEST_HEADER, end - place)))
        fields = header.fields()
        packed, unpacked = _number(fields, COMPRESSED), _number(fields, UNCOMPRESSED)
        if packed < 0 or unpacked < 0:
            raise DataError("a page has no size")
        total += unpacked
        place += header.place + packed
    return total


def _number(fields: dict[int, Any], field: int) -> int:
    """Return a whole number among the fields, or -1 if there is none."""
    value = fields.get(field)
    return value if isinstance(value, int) else -1


class _Header:
    """One structure of the compact protocol, read from its first byte."""

    def __init__(self, content: bytes):
        self.content, self.place = content, 0

    def fields(self, depth: int = 0) -> dict[int, Any]:
        """Return whole numbers, structures and lists of them, and stand behind the structure."""
        if depth > DEEPEST:
            raise DataError("the header of a page is nested too deeply")
        found: dict[int, Any] = {}
        field = 0
        while True:
            first = self._byte()
            kind = first & 0x0F
            if kind == STOP:
                return found
            field = field + (first >> 4) if first >> 4 else self._signed()
            found[field] = self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        """Return a number, a structure or a list, or skip what is of no use here."""
        if kind in (TRUE, FALSE):
            return None  # the value is the kind
        if kind in (I16, I32, I64):
            return self._signed()
        if kind in (BYTE, DOUBLE):
            self.place += 1 if kind == BYTE else 8
        elif kind == BINARY:
            length = self._number()
            self.place += length
        elif kind in (LIST, SET):
            first = self._byte()
            count = first >> 4 if first >> 4 < 15 else self._number()
            return self._items(count, [first & 0x0F], depth)
        elif kind == MAP:
            count = self._number()
            if count:
                kinds = self._byte()
                self._items(count, [kinds >> 4, kinds & 0x0F], depth)
        elif kind == STRUCT:
            return self.fields(depth + 1)
        else:
            raise DataError("a header in it is damaged")
        return None

    def _items(self, count: int, kinds: list[int], depth: int) -> list[Any]:
        if count > len(self.content) or depth > DEEPEST:
            raise DataError("a header in it is damaged")
        found = []
        for _ in range(count):
            for kind in kinds:
                if kind in (TRUE, FALSE):
                    self.place += 1  # within a list a truth value takes a byte
                else:
                    found.append(self._value(kind, depth + 1))
        return found

    def _byte(self) -> int:
        if self.place >= len(self.content):
            raise DataError("a page is cut short within its header")
        self.place += 1
        return self.content[self.place - 1]

    def _number(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise DataError("the header of a page is damaged")

    def _signed(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)
