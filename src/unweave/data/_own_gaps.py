"""Factors of own images that some images lack, kept beside the others.

A factor is known of every image. A column with gaps can be none; where these are to be masked it
stands beside the factors, as a label does that some images lack, and is scored where it is known.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from unweave.catalog import check_name
from unweave.data._dataset import Column
from unweave.data._factor_table import ID_COLUMNS, LABEL_COLUMN, RowFacts, as_factors
from unweave.errors import DataError
from unweave.tables import is_missing

CHOICES = ("refuse", "mask")


def facts_of(
    columns: Mapping[str, np.ndarray], count: int, where: str, missing: str = "refuse"
) -> RowFacts:
    """Turn columns into factors, and into columns beside them; `missing` is one of `CHOICES`."""
    check_name(missing, CHOICES, "way with missing values")
    gaps = {}
    if missing == "mask":
        gaps = {name: column for name, column in columns.items() if _has_gaps(name, column)}
    whole = {name: column for name, column in columns.items() if name not in gaps}
    facts = as_factors(whole, count, where)
    beside = tuple(_beside(name, column, count, where) for name, column in gaps.items())
    facts["columns"] = (*facts["columns"], *beside)
    return facts


def _has_gaps(name: str, column: np.ndarray) -> bool:
    """Say whether a column that is to be a factor lacks values; labels may lack them anyway."""
    if name.lower() in ID_COLUMNS or name.lower().startswith(LABEL_COLUMN):
        return False
    return bool(is_missing(column).any())


def _beside(name: str, column: np.ndarray, count: int, where: str) -> Column:
    if is_missing(column).all():
        raise DataError(f"{where}: factor {name!r} is missing in every row; leave it out")
    (found,) = as_factors({f"{LABEL_COLUMN} {name}": column}, count, where)["columns"]
    return replace(found, factor=replace(found.factor, name=name))
