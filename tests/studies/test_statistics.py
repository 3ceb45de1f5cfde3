"""Statistics against closed forms, scipy and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from unweave.studies.report import statistics


def test_median_interval_covers_the_true_median_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(200):
        interval = statistics.median_interval(rng.exponential(size=25), seed=trial)
        hits += interval.low <= math.log(2) <= interval.high
    assert 0.88 <= hits / 200 <= 0.99


def test_median_interval_of_little_is_honest():
    one = statistics.median_interval([0.3])
    assert (one.low, one.value, one.high, one.count) == (0.3, 0.3, 0.3, 1)
    assert math.isnan(statistics.median_interval([math.nan]).value)
    assert statistics.median_interval([1.0, math.nan, 3.0]).count == 2


@pytest.mark.parametrize("count", [4, 9, 30])
def test_the_sign_flip_test_is_that_of_scipy(count):
    differences = np.random.default_rng(count).normal(0.4, 1, size=count)
    expected = stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        n_resamples=20_000 if count > 14 else np.inf,
        rng=np.random.default_rng(0),
    ).pvalue
    found = statistics.sign_flip_p_value(differences)
    assert found == pytest.approx(expected, abs=1e-12 if count <= 14 else 0.01)


def test_five_seeds_cannot_reach_five_per_cent():
    assert statistics.sign_flip_p_value(np.ones(5)) == pytest.approx(2 / 2**5)
    assert statistics.sign_flip_p_value(np.ones(6)) < 0.05


@pytest.mark.parametrize(("effect", "comparisons"), [(0.6, 1), (1.5, 1), (1.5, 10)])
def test_seeds_needed_gives_the_power_it_promises(effect, comparisons):
    """The promise is about the test that tells arms apart: signs exchanged, Holm's level."""
    rng = np.random.default_rng(0)
    pilot = rng.normal(size=400)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) + effect
    needed = int(statistics.seeds_needed(pilot, comparisons=comparisons))

    def power(count):
        trials = rng.normal(effect, 1, size=(300, count))
        p_values = [statistics.sign_flip_p_value(trial) for trial in trials]
        return np.mean(np.array(p_values) * comparisons < 0.05)

    assert power(needed) > 0.74
    assert power(needed - 2) < 0.86


def test_seeds_needed_at_its_ends():
    # However large the difference, five seeds have no p-value below 5 %, nor nine below 0.5 %.
    assert statistics.seeds_needed(np.array([0.2, 0.2])) == 6
    assert statistics.seeds_needed(np.array([9.0, 9.1, 9.2])) == 6
    assert statistics.seeds_needed(np.array([9.0, 9.1, 9.2]), comparisons=10) == 9
    assert statistics.seeds_needed(np.array([1.0, -1.0])) == math.inf
    assert statistics.seeds_needed(np.array([1.0, -1.0, 0.01])) == math.inf


def test_an_interval_of_one_run_has_no_width_and_shows_none():
    assert str(statistics.median_interval([0.3])) == "0.300"
    assert str(statistics.median_interval([0.3, 0.3])) == "0.300 [0.300, 0.300]"


def test_holm_by_hand():
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([]) == []


def test_comparisons_are_paired_by_seed():
    """A difference far smaller than the spread of the seeds is found, because seeds are shared."""
    spread = np.random.default_rng(0).normal(0, 1, size=10)
    first = {seed: float(value) + 0.05 for seed, value in enumerate(spread)}
    second = {seed: float(value) for seed, value in enumerate(spread)} | {99: 5.0}
    (found,) = statistics.compare({"first": first, "second": second})
    assert found.difference.value == pytest.approx(0.05)
    assert found.difference.count == 10
    assert found.is_told_apart
    assert 0.3 < found.beats < 0.7
    (lower,) = statistics.compare({"first": first, "second": second}, higher_is_better=False)
    assert lower.beats == pytest.approx(1 - found.beats)
    assert statistics.compare({"a": {0: 1.0}, "b": {1: 1.0}}) == []


def test_probability_of_beating_counts_ties_half():
    assert statistics.probability_of_beating([1, 2], [1, 0]) == pytest.approx(3.5 / 4)


def test_variance_explained_finds_what_was_put_in():
    rng = np.random.default_rng(0)
    methods, arms, scores = [], [], []
    for method, shift in (("a", 0.0), ("b", 2.0)):
        for setting, more in (("1", -1.0), ("2", 1.0)):
            for _ in range(500):
                methods.append(method)
                arms.append(method + setting)
                scores.append(shift + more + rng.normal())
    found = statistics.variance_explained(np.array(scores), methods, arms)
    assert found.method == pytest.approx(1 / 3, abs=0.03)
    assert found.setting == pytest.approx(1 / 3, abs=0.03)
    assert found.seed == pytest.approx(1 / 3, abs=0.03)
    assert found.method + found.setting + found.seed == pytest.approx(1)


def test_adjusted_shares_of_pure_noise_are_about_nothing():
    rng = np.random.default_rng(0)
    arms = [str(i // 3) for i in range(60)]  # 20 arms of 3 seeds
    plain, adjusted = [], []
    for _ in range(100):
        found = statistics.variance_explained(rng.normal(size=60), arms, arms)
        plain.append(found.method)
        adjusted.append(found.method_adjusted)
    assert np.mean(plain) == pytest.approx(19 / 59, abs=0.03), "what R² makes of noise"
    assert np.mean(adjusted) < 0.08
    assert statistics.variance_explained(np.ones(5), arms[:5], arms[:5]) is None


def test_rank_agreement_is_spearmans():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=20), rng.normal(size=20)
    gap = np.where(np.arange(20) < 3, np.nan, b)
    names, matrix = statistics.rank_agreement({"a": a, "b": gap, "constant": np.ones(20)})
    assert names == ["a", "b"]
    assert matrix[0, 1] == pytest.approx(stats.spearmanr(a[3:], b[3:]).statistic)
    assert matrix[0, 0] == pytest.approx(1)
