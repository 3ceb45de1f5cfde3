"""What the pages of a Parquet file say they unpack to, read off their own headers.

The description at the end of a file is only what its writer claims. A reader takes as much
memory for a page as the header of that page says, so these are added up as well. Headers are
structures of Thrift's compact protocol; of them we need three numbers, and skip the rest.
"""

from typing import IO, Any

from unweave.errors import DataError

LARGEST_HEADER = 1_000_000  # bytes; statistics of a page may hold long words
DEEPEST = 8
UNCOMPRESSED, COMPRESSED = 2, 3  # fields of a page's header
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)


def unpacked_bytes(file: IO[bytes], meta: Any, most: int) -> int:
    """Return what all pages together unpack to; stop counting beyond `most`."""
    total = 0
    for group in range(meta.num_row_groups):
        for column in range(meta.num_columns):
            total += _of_chunk(file, meta.row_group(group).column(column), most - total)
            if total > most:
                return total
    return total


def _of_chunk(file: IO[bytes], chunk: Any, most: int) -> int:
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
        starts.append(chunk.dictionary_page_offset)
    place, total = min(starts), 0
    end = place + chunk.total_compressed_size
    while place < end and total <= most:
        file.seek(place)
        header = _Header(file.read(min(LARGEST_HEADER, end - place)))
        fields = header.fields()
        packed, unpacked = fields.get(COMPRESSED, -1), fields.get(UNCOMPRESSED, -1)
        if packed < 0 or unpacked < 0:
            raise DataError("a page has no size")
        total += unpacked
        place += header.place + packed
    return total


class _Header:
    """One structure of the compact protocol, read from its first byte."""

    def __init__(self, content: bytes):
        self.content, self.place = content, 0

    def fields(self, depth: int = 0) -> dict[int, int]:
        """Return the whole numbers among the fields, and stand behind the structure."""
        if depth > DEEPEST:
            raise DataError("the header of a page is nested too deeply")
        found: dict[int, int] = {}
        field = 0
        while True:
            first = self._byte()
            kind = first & 0x0F
            if kind == STOP:
                return found
            field = field + (first >> 4) if first >> 4 else self._signed()
            if kind in (I16, I32, I64):
                found[field] = self._signed()
            else:
                self._skip(kind, depth)

    def _skip(self, kind: int, depth: int) -> None:
        if kind in (TRUE, FALSE):
            return  # the value is the kind
        if kind in (I16, I32, I64):
            self._signed()
        elif kind in (BYTE, DOUBLE):
            self.place += 1 if kind == BYTE else 8
        elif kind == BINARY:
            length = self._number()
            self.place += length
        elif kind in (LIST, SET):
            first = self._byte()
            count = first >> 4 if first >> 4 < 15 else self._number()
            self._skip_items(count, [first & 0x0F], depth)
        elif kind == MAP:
            count = self._number()
            if count:
                kinds = self._byte()
                self._skip_items(count, [kinds >> 4, kinds & 0x0F], depth)
        elif kind == STRUCT:
            self.fields(depth + 1)
        else:
            raise DataError("the header of a page is damaged")

    def _skip_items(self, count: int, kinds: list[int], depth: int) -> None:
        if count > len(self.content) or depth > DEEPEST:
            raise DataError("the header of a page is damaged")
        for _ in range(count):
            for kind in kinds:
                if kind in (TRUE, FALSE):
                    self.place += 1  # within a list a truth value takes a byte
                else:
                    self._skip(kind, depth + 1)

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
