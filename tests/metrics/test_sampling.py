"""Scores by sampling: from a table, off the grid, and with the papers' own sampler."""

from typing import Any

import numpy as np
import pytest
from representations import FullGrid, codes_of

from unweave import metrics
from unweave.errors import DataError
from unweave.metrics._sampling import EncodedRows, GridSampler, TableSampler
from unweave.tables import factor_table

SIZES = (3, 4, 5, 4, 4)


def turned(images: np.ndarray) -> np.ndarray:
    """Encode as rotated pairs without the last code: no sampling metric gives 0 or 1."""
    factors = images[:, :, 0, 0].astype(np.int64)
    return codes_of("rotated_pairs", factors, SIZES, np.random.default_rng(0))[:, :4]


OPTIONS = {
    "beta_vae_score": {"train_features": 3000, "test_features": 2000},
    "factor_vae_score": {"train_votes": 3000, "test_votes": 3000},
    "factored_components": {"traversals": 200},
    "flatness": {"traversals": 200},
    "r_factor_vae_score": {"train_votes": 2000, "test_votes": 2000},
    "unfairness": {"train_rows": 600},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_table_and_model_agree_on_a_full_grid(name: str) -> None:
    data = FullGrid(SIZES)
    rows = np.arange(len(data))
    codes, factors = turned(data.images(rows)), data.factors(rows)
    options: dict[str, Any] = OPTIONS[name]
    # Factors as they are; coarse ones let the others change within a part.
    whole = {"bins": max(SIZES)} if name == "r_factor_vae_score" else {}
    score = of_model = getattr(metrics, name)
    tables = [score(codes, factors, seed=s, **options, **whole).value for s in range(3)]
    models = [of_model(turned, data, seed=s, **options).value for s in range(3)]
    assert 0.02 < np.mean(models) < 0.98
    assert np.mean(tables) == pytest.approx(np.mean(models), abs=0.04)


def test_a_model_encodes_each_row_at_most_once() -> None:
    data = FullGrid(SIZES)
    metrics.factor_vae_score(turned, data)
    assert data.encoded <= len(data)


def test_a_model_with_the_wrong_number_of_codes_is_refused() -> None:
    with pytest.raises(DataError, match="one row of codes per image"):
        metrics.factor_vae_score(lambda images: np.zeros((3, 2)), FullGrid(SIZES))


def test_a_data_set_without_a_full_grid_is_refused() -> None:
    data = FullGrid(SIZES)
    data.grid = data.grid[:-1]
    with pytest.raises(DataError, match="no full grid"):
        metrics.beta_vae_score(turned, data)


def test_a_factor_with_one_value_is_not_drawn_for() -> None:
    data = FullGrid((1, 4, 5, 6))
    data.factor_names = ("floor", "shape", "x", "y")

    def perfect(images: np.ndarray) -> np.ndarray:
        return images[:, :, 0, 0]

    for name in ("beta_vae_score", "factor_vae_score", "r_factor_vae_score", "unfairness"):
        score = getattr(metrics, name)(perfect, data, **OPTIONS[name])
        best = 1.0 if score.higher_is_better else 0.0
        assert score.value == pytest.approx(best, abs=0.02), name
        assert score.details["factor_names"] == ("shape", "x", "y")
    assert score.made is not None
    labels = GridSampler(data).labels_of(np.array([7, 0]))
    assert labels.tolist() == [[0, 1, 1], [0, 0, 0]]


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
    data, rng = FullGrid(SIZES), np.random.default_rng(0)
    first, second = GridSampler(data).pairs(2, 2000, rng)
    same = data.grid[first] == data.grid[second]
    assert same[:, 2].all()
    assert same[:, 0].mean() == pytest.approx(1 / 3, abs=0.05)


def test_rows_apart_share_all_factors_but_one() -> None:
    rng = np.random.default_rng(0)
    factors = factor_table(rng.integers(3, size=(60, 3)))
    for sampler in (TableSampler(factors), GridSampler(FullGrid(SIZES))):
        labels = sampler.labels_of(sampler.apart(1, 40, 6, rng))
        same = (labels == labels[:, :1]).all(axis=1)
        assert same[:, [0, 2]].all()
        assert not same[:, 1].all()


def test_traversals_take_every_value_in_turn_and_change_nothing_else() -> None:
    rng = np.random.default_rng(0)
    factors = factor_table(rng.integers(3, size=(60, 3)))
    for sampler in (TableSampler(factors), GridSampler(FullGrid(SIZES))):
        labels = sampler.labels_of(sampler.traversals(2, 50, rng))
        assert labels.shape == (50, sampler.sizes[2], len(sampler.sizes))
        assert (labels[:, :, 2] == np.arange(sampler.sizes[2])).all()
        assert (labels[:, :, :2] == labels[:, :1, :2]).all()
        assert len(np.unique(labels[:, 0, 0])) == 3


def test_a_table_without_whole_traversals_is_refused_with_a_way_out() -> None:
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(20, size=50), rng.integers(20, size=50)], axis=1)
    for name in ("flatness", "factored_components"):
        with pytest.raises(DataError, match=r"no rows take all \d+ values .* sampler"):
            getattr(metrics, name)(rng.standard_normal((50, 3)), factors)
    alone = np.stack([np.arange(50), np.arange(50)], axis=1)
    with pytest.raises(DataError, match="no two rows share all factors but 'factor_0'"):
        metrics.r_factor_vae_score(rng.standard_normal((50, 3)), alone, bins=50)


def test_encoded_rows_keep_the_shape_of_the_request() -> None:
    data = FullGrid(SIZES)
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
