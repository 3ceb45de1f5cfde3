"""The columns of a Parquet file; what it would take in memory is checked before it is read.

A value that is repeated takes next to no room in such a file: one of a thousand bytes can
claim hundreds of millions of rows. So rows, columns and unpacked sizes are read off its
description first, as the header of an array is.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import ConfigError, DataError, reason, shown
from unweave.files.arrays import ALWAYS_FINE, LARGEST_RATIO
from unweave.files.csv_cells import MOST_COLUMNS
from unweave.files.parquet_pages import LARGEST_DESCRIPTION, unpacked_bytes

VALUE_BYTES = 8  # of a number, or of the place of a word


def read_parquet(path: Path, limit: int) -> dict[str, NDArray[Any]]:
    """Return the columns by name, unless they would take more bytes than the limit."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ConfigError(
            "reading parquet needs pyarrow: pip install 'unweave[table]', or save as npy or csv."
        ) from error
    try:
        with parquet.ParquetFile(
            path,
            thrift_string_size_limit=LARGEST_DESCRIPTION,
            thrift_container_size_limit=LARGEST_DESCRIPTION,
        ) as file:
            _check_kinds(file.schema_arrow, path)
            _check_size(file.metadata, path, limit)
            words = [f.name for f in file.schema_arrow if _is_text(f.type)]
        with parquet.ParquetFile(path, read_dictionary=words) as file:
            table = file.read()
        names = table.column_names
        columns = [_values(column) for column in table.columns]  # words are decoded here
    except (pyarrow.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        if isinstance(error, DataError) and str(path) in str(error):
            raise
        raise DataError(f"{path} is no readable parquet file ({reason(error)}).") from error
    if len(set(names)) < len(names):
        raise DataError(f"{path} has two columns of the same name.")
    return dict(zip(names, columns, strict=True))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _check_kinds(schema: Any, path: Path) -> None:
    from pyarrow import types

    if len(schema) > MOST_COLUMNS:
        raise DataError(f"{path} has {len(schema):,} columns; at most {MOST_COLUMNS:,} are read.")
    simple = (
        types.is_boolean,
        types.is_integer,
        types.is_floating,
        types.is_decimal,
        types.is_date,
        types.is_timestamp,
        types.is_null,
    )
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if not (_is_text(kind) or any(fits(kind) for fits in simple)):
            raise DataError(
                f"{path}: column {shown(field.name)} holds {shown(str(field.type))}; expected "
                f"numbers or words."
            )


def _check_size(meta: Any, path: Path, limit: int) -> None:
    """Refuse what would unpack to more than the limit, or far more than the file is long.

    The description of the file and the headers of its pages are both asked: either may lie.
    """
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    rows = max(meta.num_rows, sum(group.num_rows for group in groups))
    with open(path, "rb") as file:
        pages = unpacked_bytes(file, limit)
    unpacked = max(pages, sum(max(group.total_byte_size, 0) for group in groups))
    needed = max(unpacked, rows * meta.num_columns * VALUE_BYTES)
    if needed > limit:
        raise DataError(
            f"{path} says it holds {rows:,} rows, {needed / 2**30:.1f} GiB; "
            f"at most {limit / 2**30:.1f} GiB are read."
        )
    ratio = needed / max(path.stat().st_size, 1)
    if needed > ALWAYS_FINE and ratio > LARGEST_RATIO:
        raise DataError(
            f"{path} would unpack to {needed / 1e6:,.0f} MB ({rows:,} rows), {ratio:,.0f}-fold; "
            f"the limit is {LARGEST_RATIO}. If it is meant, save it as .npy."
        )


def _values(column: Any) -> NDArray[Any]:
    """Return a column as an array; words that are repeated are kept once."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        values: NDArray[Any] = column.to_numpy()
        return values
    parts = []
    for chunk in column.chunks:
        known = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        places = chunk.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
        parts.append(known[places])
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)
