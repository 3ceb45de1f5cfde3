"""Reading codes and factors, and the rule for what is continuous."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave import metrics
from unweave.errors import ConfigError, DataError
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


@pytest.mark.parametrize(
    "absent", ["", " ", "NA", "None", "NaT", "NaN", None, float("nan"), np.datetime64("NaT"), pd.NA]
)
def test_missing_values_of_words_are_refused_and_no_class(absent: object) -> None:
    words = np.array([["heart"], ["square"], [absent], ["heart"]], dtype=object)
    with pytest.raises(DataError, match=r"1 of 4 are missing, the first .* in row 2"):
        factor_table(words)
    masked = factor_table(words, missing="mask")
    assert masked.labels[:, 0].tolist() == [0, 1, -1, 0]
    assert masked.sizes == (2,)
    assert masked.notes == ("factor_0 is known in 3 of 4 rows",)


def test_missing_numbers_and_dates_are_missing_too() -> None:
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-01"]),
            "size": pd.array([1, 2, None, 1], dtype="Int64"),
            "weight": [0.5, 0.5, 0.25, np.nan],
            "other": ["none", "a", "b", "none"],
        }
    )
    table = factor_table(frame, missing="mask")
    assert table.labels.tolist() == [[0, 0, 1, 2], [-1, 1, 1, 0], [1, -1, 0, 1], [0, 0, -1, 2]]
    assert table.sizes == (2, 2, 2, 3)
    with pytest.raises(DataError, match="1 of 4 are missing"):
        factor_table(frame)
    with pytest.raises(ConfigError, match="refuse"):
        factor_table(frame, missing="drop")


def test_each_factor_is_scored_where_it_is_known() -> None:
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(n, size=900) for n in (3, 4, 5)], axis=1)
    codes = factors + 0.3 * rng.standard_normal(factors.shape)
    spoiled = factors.astype(float)
    spoiled[:300, 1] = np.nan
    known = factor_table(spoiled, missing="mask")
    part = np.arange(300, 900)
    for name in ("mig", "mcc", "irs", "infomec"):
        score = getattr(metrics, name)(codes, known)
        assert score.notes == ("factor_1 is known in 600 of 900 rows",)
        assert score.value == pytest.approx(getattr(metrics, name)(codes, factors).value, abs=0.05)
    whole, cut = mig(codes, factors), mig(codes, known)
    gaps = cut.details["gap_per_factor"]
    np.testing.assert_allclose(gaps[[0, 2]], whole.details["gap_per_factor"][[0, 2]])
    alone = mig(codes[part], factors[part])
    assert gaps[1] == pytest.approx(alone.details["gap_per_factor"][1])
    for name in ("dci", "sap", "explicitness", "factor_vae_score", "beta_vae_score"):
        sizes = {"train_votes": 500, "test_votes": 500} if name == "factor_vae_score" else {}
        score = getattr(metrics, name)(codes, known, **sizes)
        full = getattr(metrics, name)(codes, factors, **sizes)
        assert score.value == pytest.approx(full.value, abs=0.06), name


def test_a_metric_of_several_factors_at_once_leaves_incomplete_rows_out() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(3, size=(400, 2))
    codes = factors + 0.1 * rng.standard_normal((400, 2))
    spoiled = factors.astype(float)
    spoiled[:40, 1] = np.nan
    score = metrics.unfairness(codes, factor_table(spoiled, missing="mask"))
    assert score.made.rows == 360
    assert score.notes[-1] == "40 of 400 rows lack a factor: left out"
    assert score.value == metrics.unfairness(codes[40:], factors[40:]).value


def test_whole_numbers_with_hundreds_of_values_are_classes_with_a_warning() -> None:
    rng = np.random.default_rng(0)
    degrees = rng.integers(360, size=(4_000, 1))
    factors = np.concatenate([degrees, rng.integers(3, size=(4_000, 1))], axis=1)
    codes = factors + 0.01 * rng.standard_normal(factors.shape)
    taken = mig(codes, factors)
    assert taken.notes == (
        "factor_0 is 360 whole numbers, taken as classes; if they are amounts, declare it: "
        "continuous=['factor_0']",
    )
    declared = mig(codes, factors, continuous=["factor_0"])
    assert not declared.notes
    assert taken.details["gap_per_factor"][0] < 0.5
    assert declared.details["gap_per_factor"][0] > 0.95
    assert not mig(codes, factors, continuous=False).notes


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
