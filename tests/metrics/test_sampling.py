"""Scores by sampling: from a table, off the grid, and with the papers' own sampler."""

import numpy as np
import pytest
from representations import codes_of, full_grid

from unweave import metrics
from unweave.errors import DataError
from unweave.metrics._sampling import EncodedRows, GridSampler, TableSampler
from unweave.tables import factor_table

SIZES = (3, 4, 5, 4, 4)


class FullGrid:
    """A data set whose image of a row is its factors, which an encoder turns into codes."""

    factor_sizes = SIZES
    factor_names = ("shape", "scale", "orientation", "x", "y")

    def __init__(self) -> None:
        self.grid = full_grid(SIZES)
        self.encoded = 0

    def __len__(self) -> int:
        return len(self.grid)

    def factors(self, rows: np.ndarray) -> np.ndarray:
        return self.grid[rows]

    def images(self, rows: np.ndarray) -> np.ndarray:
        self.encoded += len(rows)
        return self.grid[rows].astype(np.float32)[:, :, None, None]

    def rows_of(self, factors: np.ndarray) -> np.ndarray:
        return np.ravel_multi_index(tuple(np.asarray(factors).T), SIZES)


def turned(images: np.ndarray) -> np.ndarray:
    """Encode as rotated pairs without the last code: no sampling metric gives 0 or 1."""
    factors = images[:, :, 0, 0].astype(np.int64)
    return codes_of("rotated_pairs", factors, SIZES, np.random.default_rng(0))[:, :4]


@pytest.mark.parametrize("name", ["beta_vae_score", "factor_vae_score", "unfairness"])
def test_table_and_model_agree_on_a_full_grid(name: str) -> None:
    data = FullGrid()
    rows = np.arange(len(data))
    codes, factors = turned(data.images(rows)), data.factors(rows)
    options = {
        "beta_vae_score": {"train_features": 3000, "test_features": 2000},
        "factor_vae_score": {"train_votes": 3000, "test_votes": 3000},
        "unfairness": {"train_rows": 600},
    }[name]
    tables = [getattr(metrics, name)(codes, factors, seed=s, **options).value for s in range(3)]
    of_model = getattr(metrics, f"{name}_of_model")
    models = [of_model(turned, data, seed=s, **options).value for s in range(3)]
    assert 0.02 < np.mean(models) < 0.98
    assert np.mean(tables) == pytest.approx(np.mean(models), abs=0.04)


def test_a_model_encodes_each_row_at_most_once() -> None:
    data = FullGrid()
    metrics.factor_vae_score_of_model(turned, data)
    assert data.encoded <= len(data)


def test_a_model_with_the_wrong_number_of_codes_is_refused() -> None:
    with pytest.raises(DataError, match="one row of codes per image"):
        metrics.factor_vae_score_of_model(lambda images: np.zeros((3, 2)), FullGrid())


def test_a_data_set_without_a_full_grid_is_refused() -> None:
    data = FullGrid()
    data.grid = data.grid[:-1]
    with pytest.raises(DataError, match="no full grid"):
        metrics.beta_vae_score_of_model(turned, data)


def test_off_grid_tables_are_scored() -> None:
    rng = np.random.default_rng(0)
    continuous = rng.random((3000, 3))
    for name in ("beta_vae_score", "factor_vae_score"):
        score = getattr(metrics, name)(continuous, continuous, continuous=True)
        assert score.value > 0.99


def test_too_few_rows_of_a_value_are_said_to_be_too_few() -> None:
    rng = np.random.default_rng(0)
    factors = np.stack([np.arange(30), rng.integers(3, size=30)], axis=1)
    for name in ("beta_vae_score", "factor_vae_score"):
        with pytest.raises(DataError, match="too few rows share a value of factor 'factor_0'"):
            getattr(metrics, name)(rng.standard_normal((30, 3)), factors)


def test_batches_share_the_value_and_pairs_are_different_rows() -> None:
    rng = np.random.default_rng(0)
    factors = factor_table(rng.integers(4, size=(80, 2)))
    sampler = TableSampler(factors, 2)
    batches = sampler.alike(1, 50, 7, rng)
    values = factors.labels[batches, 1]
    assert (values == values[:, :1]).all()
    assert len(np.unique(values)) == 4
    first, second = sampler.pairs(0, 500, rng)
    assert (factors.labels[first, 0] == factors.labels[second, 0]).all()
    assert (first != second).all()


def test_grid_pairs_share_one_factor_and_draw_the_others() -> None:
    data, rng = FullGrid(), np.random.default_rng(0)
    first, second = GridSampler(data).pairs(2, 2000, rng)
    same = data.grid[first] == data.grid[second]
    assert same[:, 2].all()
    assert same[:, 0].mean() == pytest.approx(1 / 3, abs=0.05)


def test_encoded_rows_keep_the_shape_of_the_request() -> None:
    data = FullGrid()
    codes_of_rows = EncodedRows(turned, data)
    rows = np.array([[5, 9, 5], [0, 1, 2]])
    np.testing.assert_allclose(codes_of_rows(rows)[:, 0, 1], turned(data.images(np.array([9])))[0])
    assert codes_of_rows(rows).shape == (4, 2, 3)


def test_constant_codes_have_no_votes() -> None:
    factors = np.random.default_rng(0).integers(3, size=(200, 2))
    score = metrics.factor_vae_score(np.ones((200, 3)), factors)
    assert score.value == 0
    assert not score.details["active_codes"].any()


def test_a_constant_code_does_not_win_votes() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(400, 3))
    codes = np.concatenate([factors, np.ones((400, 1))], axis=1)
    score = metrics.factor_vae_score(codes, factors, threshold=0.0)
    assert score.value > 0.99
    assert score.details["votes"][3].sum() == 0


def test_beta_vae_score_is_blind_to_one_missing_factor() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(2000, 4))
    codes = factors[:, :3].astype(float)
    assert metrics.beta_vae_score(codes, factors).value > 0.99
    assert metrics.factor_vae_score(codes, factors).value < 0.9
