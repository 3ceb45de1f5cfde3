"""Correlations beside scipy's, with ties, gaps and constants."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from unweave.correlation import correlations, rank_agreement, rank_correlation


@pytest.fixture
def ties():
    """Two columns of few values, so that most rows are tied."""
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=200)
    return first.astype(float), (first + rng.integers(3, size=200)).astype(float)


def test_tied_values_share_their_mean_rank(ties):
    assert rank_correlation(*ties) == pytest.approx(spearmanr(*ties).statistic)


def test_rare_events_that_are_independent_do_not_correlate():
    first, second = np.random.default_rng(0).random((2, 2_000)) < 0.05
    expected = np.corrcoef(first, second)[0, 1]  # of two values, ranks say the same as values
    assert rank_correlation(first, second) == pytest.approx(expected)
    assert abs(expected) < 0.05


def test_rows_that_lack_a_value_are_left_out(ties):
    first, second = ties[0].copy(), ties[1].copy()
    first[:10], second[10:20] = np.nan, np.inf
    assert rank_correlation(first, second) == pytest.approx(spearmanr(first[20:], second[20:])[0])


@pytest.mark.parametrize("second", [[1.0, 1.0, 1.0], [1.0, 2.0, np.nan]])
def test_ranks_of_constants_and_of_two_rows_say_nothing(second):
    assert np.isnan(rank_correlation(np.arange(3.0), np.array(second)))


def test_a_constant_column_correlates_with_nothing(ties):
    table = np.stack([*ties, np.ones(200)], axis=1)
    found = correlations(table, table, ranks=False)
    np.testing.assert_allclose(found[:2, :2], np.corrcoef(*ties))
    assert not found[2].any()
    assert not found[:, 2].any()


def test_agreement_has_a_line_per_column(ties):
    found = rank_agreement([ties[0], -ties[0], ties[1]])
    assert found[0, 1] == pytest.approx(-1)
    assert found[0, 2] == found[2, 0] == pytest.approx(spearmanr(*ties).statistic)
    assert rank_agreement([]).shape == (0, 0)
