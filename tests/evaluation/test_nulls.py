"""Scores beside what codes that nobody aligned would score."""

import json

import numpy as np
import pytest

from unweave.errors import ConfigError
from unweave.evaluation.nulls import rotated, shuffled
from unweave.evaluation.score import score
from unweave.metrics import Score, is_above_nulls, null_words
from unweave.tables import factor_table

RNG = np.random.default_rng(0)
FACTORS = np.stack([RNG.integers(n, size=900) for n in (3, 4, 5)], axis=1)
ALIGNED = FACTORS + 0.2 * RNG.standard_normal(FACTORS.shape)


def test_a_rotation_keeps_distances_and_constant_codes() -> None:
    codes = np.concatenate([ALIGNED * [1, 100, 0.01], np.full((900, 1), 7.0)], axis=1)
    turned = rotated(codes, 0)
    scaled = (codes[:, :3] - codes[:, :3].mean(axis=0)) / codes[:, :3].std(axis=0)
    np.testing.assert_allclose(turned[:, :3] @ turned[:, :3].T, scaled @ scaled.T, atol=1e-9)
    assert (turned[:, 3] == 0).all()
    assert not np.allclose(turned, rotated(codes, 1))
    np.testing.assert_array_equal(turned, rotated(codes, 0))


def test_shuffled_factors_stay_together() -> None:
    factors = factor_table(FACTORS)
    mixed = shuffled(factors, 3)
    assert (mixed.labels != factors.labels).any()
    found = np.unique(mixed.labels, axis=0, return_counts=True)
    np.testing.assert_array_equal(
        found[1], np.unique(factors.labels, axis=0, return_counts=True)[1]
    )


def test_aligned_codes_are_above_both_nulls_and_turned_ones_are_not() -> None:
    chosen = ["mig", "sap", "modularity"]
    aligned = score(ALIGNED, FACTORS, chosen, preset="fast", nulls=3)
    turned = score(rotated(ALIGNED, 99), FACTORS, chosen, preset="fast", nulls=3)
    for name in chosen:
        result = aligned[name]
        assert [len(result.nulls[null]) for null in ("rotated", "shuffled")] == [3, 3]
        assert result.above("rotated")
        assert result.above("shuffled")
        assert is_above_nulls(json.loads(json.dumps(result.to_json()))) is True
        assert not any("no better than" in note for note in result.remarks)
    assert not turned["mig"].above("rotated") or not turned["sap"].above("rotated")
    below = next(result for result in turned.values() if not result.above("rotated"))
    assert "no better than random rotations of the same codes" in str(below)
    assert is_above_nulls(below.to_json()) is False
    assert "rotated 0." in str(turned)


@pytest.mark.parametrize(
    ("value", "higher", "said"),
    [
        (0.55, True, "no better than random rotations of the same codes, 0.500 to 0.600"),
        (0.61, True, "hardly better than random rotations of the same codes, 0.500 to 0.600: by"),
        (0.49, False, "hardly better than random rotations of the same codes, 0.500 to 0.600: by"),
        (0.9, True, ""),
    ],
)
def test_a_value_beyond_every_draw_is_not_said_to_be_within_them(value, higher, said) -> None:
    draws = {"rotated": (0.5, 0.6)}
    score = Score("mig", value, "mine", higher_is_better=higher, nulls=draws)
    assert said in "; ".join(score.remarks)
    assert bool(said) == bool(score.remarks)


def test_many_mixtures_look_disentangled_until_their_null_is_seen() -> None:
    values = {}
    factors = FACTORS[:400, 1:]
    u = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    for count in (2, 48):
        mixing = np.random.default_rng(1).standard_normal((2, count))
        values[count] = score(np.tanh(u @ mixing), factors, ["dci"], preset="fast", nulls=3)["dci"]
    assert values[48].value > values[2].value + 0.2
    assert not values[48].above("rotated")


def test_nulls_are_asked_for_and_go_with_what_a_metric_needs() -> None:
    posterior = ALIGNED, np.full(ALIGNED.shape, -2.0)
    names = ["gaussian_total_correlation", "mig_sampled", "kl_decomposition"]
    found = score(ALIGNED, FACTORS, names, preset="fast", posterior=posterior, nulls=1)
    assert set(found["gaussian_total_correlation"].nulls) == {"rotated"}
    assert set(found["mig_sampled"].nulls) == {"shuffled"}
    assert not found["kl_decomposition"].nulls
    assert not score(ALIGNED, FACTORS, ["mig"])["mig"].nulls
    assert is_above_nulls(score(ALIGNED, FACTORS, ["mig"])["mig"].to_json()) is None
    with pytest.raises(ConfigError, match="nulls"):
        score(ALIGNED, FACTORS, ["mig"], nulls=-1)


def test_where_lower_is_better_a_null_is_beaten_from_below() -> None:
    fair = Score("unfairness", 0.1, "p", higher_is_better=False, nulls={"rotated": (0.2, 0.3)})
    unfair = Score("unfairness", 0.25, "p", higher_is_better=False, nulls={"rotated": (0.2, 0.3)})
    assert fair.above("rotated")
    assert not unfair.above("rotated")
    barely = Score("unfairness", 0.15, "p", higher_is_better=False, nulls={"rotated": (0.2, 0.3)})
    assert not barely.above("rotated")  # 0.25 - 2 × 0.07
    assert null_words(fair.to_json()) == "rotated 0.250 ± 0.071"
