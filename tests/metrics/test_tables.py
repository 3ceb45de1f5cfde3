"""Reading codes and factors, and the rule for what is continuous."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.errors import DataError
from unweave.metrics import Score, mig
from unweave.tables import bin_equal_width, code_table, factor_table, standardize

RNG = np.random.default_rng(0)


def test_floats_with_many_values_are_continuous_and_others_are_classes() -> None:
    table = np.stack(
        [
            RNG.random(500),
            np.round(RNG.random(500), 1),
            np.arange(500) % 100.0,
        ],
        axis=1,
    )
    factors = factor_table(table)
    assert factors.continuous == (True, False, False)
    assert factors.sizes == (20, 11, 100)


def test_continuous_factors_can_be_declared() -> None:
    table = RNG.integers(50, size=(200, 2))
    assert factor_table(table, continuous=True, bins=5).sizes == (5, 5)
    assert factor_table(table, continuous=[1], bins=5).continuous == (False, True)
    assert factor_table(table, continuous=["factor_0"], bins=5).continuous == (True, False)
    assert factor_table(table, continuous=[True, False], bins=5).continuous == (True, False)
    with pytest.raises(DataError, match="no factor 'colour'"):
        factor_table(table, continuous=["colour"])
    with pytest.raises(DataError, match="no factor 7"):
        factor_table(table, continuous=[7])


def test_frames_may_mix_words_and_numbers() -> None:
    columns = {"shape": ["heart", "square", "heart"], "size": [0.5, 1.0, 1.5]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        factors = factor_table(frame)
        assert factors.names == ("shape", "size")
        assert factors.labels.tolist() == [[0, 0], [1, 1], [0, 2]]
        assert factors.values[:, 1].tolist() == [0.5, 1.0, 1.5]
    with pytest.raises(DataError, match="holds words"):
        factor_table(pd.DataFrame(columns), continuous=["shape"])
    with pytest.raises(DataError, match="must be numbers"):
        code_table(pd.DataFrame(columns))


def test_a_factor_with_one_value_is_left_out_and_named() -> None:
    table = np.stack([np.zeros(20, int), np.arange(20) % 3], axis=1)
    factors = factor_table(table, names=["colour", "shape"])
    assert factors.names == ("shape",)
    assert factors.left_out == ("colour",)
    details = mig(RNG.standard_normal((20, 2)), table).details
    assert details["left_out_factors"] == ("factor_0",)


def test_small_integers_do_not_overflow() -> None:
    column = np.array([-128, 127, 0, -128], dtype=np.int8)[:, None]
    assert factor_table(column).labels[:, 0].tolist() == [0, 2, 1, 0]
    assert factor_table(column.view(np.uint8)).labels[:, 0].tolist() == [2, 1, 0, 2]


def test_distant_integers_are_classes_too() -> None:
    column = np.array([10**12, -5, 10**12, 7])[:, None]
    assert factor_table(column).labels[:, 0].tolist() == [2, 0, 2, 1]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=60),
    st.integers(2, 40),
)
def test_bins_are_those_of_a_search_among_the_edges(values: list[float], bins: int) -> None:
    column = np.array(values)
    found = bin_equal_width(column, bins)
    if np.ptp(column) <= 1e-6:
        return
    edges = np.linspace(column.min(), column.max(), bins + 1)[:-1]
    np.testing.assert_array_equal(found, np.searchsorted(edges, column, side="right") - 1)


def test_standardised_codes_have_unit_variance_and_constants_give_zero() -> None:
    codes = np.stack([RNG.standard_normal(100) * 7 + 3, np.full(100, 0.1)], axis=1)
    scaled = standardize(codes)
    assert scaled[:, 0].std() == pytest.approx(1)
    assert (scaled[:, 1] == 0).all()


def test_complex_and_ragged_tables_are_refused() -> None:
    with pytest.raises(DataError, match="complex"):
        code_table(np.ones((3, 2), dtype=complex))
    with pytest.raises(DataError, match=r"ragged|numbers"):
        code_table([[1.0, 2.0], [3.0]])


def test_a_score_is_never_nan() -> None:
    with pytest.raises(DataError, match="nan"):
        Score("mig", float("nan"), "locatello2019")
    with pytest.raises(DataError, match="gaps"):
        Score("mig", 0.5, "locatello2019", {"gaps": np.array([np.inf])})
    assert float(Score("mig", 0.5, "locatello2019")) == 0.5
