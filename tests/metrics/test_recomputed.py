"""MCC, unfairness and the parts of the KL, recomputed by other means."""

from itertools import permutations

import numpy as np
import pytest
from representations import full_grid
from scipy.stats import norm, pearsonr, spearmanr
from sklearn.ensemble import GradientBoostingClassifier

from unweave import metrics


@pytest.mark.parametrize("protocol", ["klindt2021", "hyvarinen2016"])
def test_mcc_is_the_best_of_all_assignments(protocol: str) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(7, size=(400, 3))
    codes = np.exp(factors @ rng.standard_normal((3, 4)) * 0.5) + rng.standard_normal((400, 4))
    correlation = spearmanr if protocol == "klindt2021" else pearsonr
    table = np.array(
        [[abs(correlation(code, factor).statistic) for factor in factors.T] for code in codes.T]
    )
    best = max(
        np.mean([table[code, k] for k, code in enumerate(order)])
        for order in permutations(range(4), 3)
    )
    assert metrics.mcc(codes, factors, protocol=protocol).value == pytest.approx(best, abs=1e-6)


def test_unfairness_is_that_of_scikit_learns_trees_under_interventions() -> None:
    sizes = (3, 4, 3)
    factors = np.tile(full_grid(sizes), (12, 1))
    rng = np.random.default_rng(1)
    codes = factors @ np.array([[1.0, 0.4, 0], [0, 1, 0.3], [0.5, 0, 1]])
    codes = codes + 0.5 * rng.standard_normal(codes.shape)
    found = metrics.unfairness(codes, factors, interventions=400)
    distance = np.zeros((3, 3))
    for target in range(3):
        train = rng.permutation(len(codes))[:288]
        model = GradientBoostingClassifier(random_state=0)
        model.fit(codes[train], factors[train, target])
        # The last row of a combination stands for it.
        rows = {tuple(values): row for row, values in enumerate(factors.tolist())}
        named = model.predict(codes)
        for sensitive in range(3):
            if sensitive == target:
                continue
            shares = np.zeros((sizes[sensitive], sizes[target]))
            for base in full_grid(sizes).tolist():
                for value in range(sizes[sensitive]):
                    changed = [*base]
                    changed[sensitive] = value
                    shares[value, named[rows[tuple(changed)]]] += 1
            shares /= shares.sum(axis=1, keepdims=True)
            distance[target, sensitive] = (
                0.5 * np.abs(shares - shares.mean(axis=0)).sum(axis=1).mean()
            )
    expected = distance[~np.eye(3, dtype=bool)].mean()
    assert 0.05 < expected < 0.6
    assert found.value == pytest.approx(expected, abs=0.06)


def test_parts_of_the_kl_are_those_of_the_mixture_written_out() -> None:
    rng = np.random.default_rng(2)
    mean = rng.standard_normal((60, 2)) @ np.array([[1.0, 0.8], [0, 0.6]])
    logvar = rng.uniform(-3, -1, mean.shape)
    deviation = np.exp(logvar / 2)
    totals = np.zeros(3)
    draws = 4_000
    for row in rng.integers(60, size=draws):
        z = mean[row] + deviation[row] * rng.standard_normal(2)
        each = norm.pdf(z, mean, deviation)  # (row, code)
        log_joint = np.log(each.prod(axis=1).mean())
        log_single = np.log(each.mean(axis=0))
        totals += [
            np.log(each[row]).sum() - log_joint,
            log_joint - log_single.sum(),
            (log_single - norm.logpdf(z)).sum(),
        ]
    expected = totals / draws
    repeats = [metrics.kl_decomposition(mean, logvar, seed=seed).parts for seed in range(40)]
    found = [np.mean([parts[name] for parts in repeats]) for name in repeats[0]]
    assert list(repeats[0]) == ["information", "total correlation", "dimension-wise KL"]
    assert found == pytest.approx(expected.tolist(), abs=0.06)
    kl = 0.5 * (mean**2 + np.exp(logvar) - logvar - 1).sum(axis=1).mean()
    assert sum(found) == pytest.approx(kl, abs=0.06)
