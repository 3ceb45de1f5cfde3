"""What every metric does first: choose a protocol, read the tables, split the rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.catalog import check_name
from unweave.errors import DataError
from unweave.metrics._score import Made
from unweave.tables import Continuous, FactorTable, check_same_rows, code_table, factor_table


def choose(protocol: str, protocols: Mapping[str, str], metric: str) -> str:
    """Return the protocol, or raise an error that names the metric's protocols."""
    check_name(protocol, protocols, f"protocol of {metric}")
    return protocol


def read(
    codes: Any,
    factors: Any,
    *,
    continuous: Continuous = None,
    bins: int = 20,
    least_codes: int = 1,
    least_factors: int = 1,
    missing: str = "drop",
    metric: str,
) -> tuple[NDArray[Any], FactorTable]:
    """Read both tables and check that the metric is defined for them.

    Where values are missing, a metric may "mask" them, that is look at each factor where it is
    known, "drop" the rows that lack one, or "refuse" them.
    """
    table = code_table(codes)
    known = factors
    if not isinstance(factors, FactorTable):
        known = factor_table(factors, continuous=continuous, bins=bins)
    check_same_rows(table, known)
    if missing == "refuse" and known.has_missing:
        raise DataError(f"{metric} takes no missing values of factors; leave such rows out.")
    if missing == "drop" and known.has_missing:
        complete = known.complete_rows()
        if len(complete) < 2:
            raise DataError(
                f"{metric} needs rows that have a value of every factor; found {len(complete)}."
            )
        note = f"{len(known) - len(complete):,} of {len(known):,} rows lack a factor: left out"
        table, known = table[complete], known.rows(complete)
        known = replace(known, notes=(*known.notes, note))
    need_codes(table, least_codes, metric)
    if len(known.names) < least_factors:
        left_out = f" ({', '.join(known.left_out)} left out)" if known.left_out else ""
        raise DataError(
            f"{metric} compares factors and needs at least {least_factors} that vary; "
            f"found {len(known.names)}{left_out}."
        )
    return table, known


def need_codes(table: NDArray[Any], least: int, metric: str) -> None:
    """Raise unless there are as many codes, or concepts, as the metric compares."""
    if table.shape[1] < least:
        raise DataError(
            f"{metric} compares codes and needs at least {least}; found {table.shape[1]}."
        )


def split_rows(
    rows: int, train_rows: int, test_rows: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw disjoint training and test rows.

    A table with too few rows is divided in the same ratio.
    """
    if train_rows < 1 or test_rows < 1:
        raise DataError(
            f"need at least 1 training and 1 test row; asked for {train_rows}, {test_rows}."
        )
    order = rng.permutation(rows)
    if rows < train_rows + test_rows:
        train_rows = min(max(round(rows * train_rows / (train_rows + test_rows)), 1), rows - 1)
        test_rows = rows - train_rows
    return order[:train_rows], order[train_rows : train_rows + test_rows]


def rows_to_choose_by(train: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Divide training rows 3 : 1, to fit and to choose a setting by; so few are not divided."""
    count = len(train) // 4
    return (train[count:], train[:count]) if count else (train, train)


def named(factors: FactorTable) -> dict[str, Any]:
    """Say in a score's details which factors its arrays speak of."""
    details: dict[str, Any] = {"factor_names": factors.names}
    if factors.left_out:
        details["left_out_factors"] = factors.left_out
    return details


def made(
    codes: NDArray[Any],
    factors: FactorTable | None,
    *,
    seed: int,
    bins: int | None = None,
    standardized: bool = False,
    active: NDArray[np.bool_] | None = None,
    **sizes: int,
) -> Made:
    """Say how a score of these tables was made; codes that are not `active` had no part in it."""
    return Made(
        rows=len(codes),
        codes=codes.shape[1],
        seed=seed,
        sizes=sizes,
        bins=bins,
        standardized=standardized,
        dropped_codes=() if active is None else tuple(np.flatnonzero(~active).tolist()),
        dropped_factors=() if factors is None else factors.left_out,
    )


def describe(module: Any) -> dict[str, Any]:
    """Return a metric module's own description, for tables and documentation."""
    return {
        "protocols": dict(module.PROTOCOLS),
        "needs": module.NEEDS,
        "higher_is_better": module.HIGHER_IS_BETTER,
        "range": module.RANGE,
    }


CODES = "codes and factors"
POSTERIOR = "Gaussian posterior and factors"
POSTERIOR_ALONE = "Gaussian posterior"
CODES_ALONE = "codes"
SEVERAL_MODELS = "codes of several models"
GENERATOR = "a function from codes to images, and codes"
TRAVERSALS = "an attribute along traversals"
