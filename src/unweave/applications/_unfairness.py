"""How far the answers of classifiers move with factors that they are not about.

F. Locatello et al., "On the Fairness of Disentangled Representations", NeurIPS 2019,
arXiv:1905.13662, with random forests on a table of codes; and the comparison of such numbers
with disentanglement over many models, plain and among models of like accuracy.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from unweave.applications._inputs import in_classes
from unweave.correlation import rank_correlation

CLASSES = 10  # a factor of more values is cut into so many
NEIGHBOURS = 5
SHUFFLES = 10


def unfairness(
    codes: np.ndarray, factors: np.ndarray, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how far answers move with a sensitive factor, by its values: mean and largest.

    Both are (target, sensitive), with not a number on the diagonal, and less what they are where
    rows are assigned to values at random; the third is the accuracy of the classifier of each
    target. Half of the rows are fitted to, the other half is judged.
    """
    from sklearn.ensemble import RandomForestClassifier

    labels = np.stack([in_classes(column, CLASSES) for column in factors.T], axis=1)
    half, count = len(codes) // 2, labels.shape[1]
    mean, largest = (np.full((count, count), np.nan) for _ in range(2))
    accuracy = np.zeros(count)
    for target in range(count):
        fitted = RandomForestClassifier(30, min_samples_leaf=3, random_state=seed)
        answers = fitted.fit(codes[:half], labels[:half, target]).predict(codes[half:])
        accuracy[target] = (answers == labels[half:, target]).mean()
        for sensitive in range(count):
            if sensitive != target:
                found = _above_chance(answers, labels[half:, sensitive], seed)
                mean[target, sensitive], largest[target, sensitive] = found
    return mean, largest, accuracy


def _above_chance(answers: np.ndarray, groups: np.ndarray, seed: int) -> tuple[float, float]:
    """Return the mean and the largest distance of groups, less those of random groups."""

    def both(assigned: np.ndarray) -> np.ndarray:
        moved, weight = distances(answers, assigned)
        return np.array([np.average(moved, weights=weight), moved.max()])

    rng = np.random.default_rng((seed, 0xC4A))
    chance = np.mean([both(rng.permutation(groups)) for _ in range(SHUFFLES)], axis=0)
    mean, largest = np.maximum(both(groups) - chance, 0)
    return float(mean), float(largest)


def distances(answers: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the total variation between the answers of each group and all, and group sizes."""
    kinds, places = np.unique(answers, return_inverse=True)
    overall = np.bincount(places, minlength=len(kinds)) / len(answers)
    moved, weight = [], []
    for value in np.unique(groups):
        inside = places[groups == value]
        shares = np.bincount(inside, minlength=len(kinds)) / len(inside)
        moved.append(0.5 * np.abs(shares - overall).sum())
        weight.append(len(inside))
    return np.array(moved), np.array(weight)


def aggregates(mean: np.ndarray, largest: np.ndarray) -> dict[str, float]:
    """Sum tables (target, sensitive) up in all the ways of the paper's code.

    mean_fairness:mean_pred:mean_sens is the mean over targets of the mean over sensitive factors
    of the mean over values; with pred first, targets are put together last.
    """
    found = {}
    functions: dict[str, Callable[..., Any]] = {"mean": np.nanmean, "max": np.nanmax}
    for (name, table), order, first, last in itertools.product(
        {"mean": mean, "max": largest}.items(), ("pred", "sens"), functions, functions
    ):
        inner = 1 if order == "pred" else 0  # axis of the factors that are put together first
        other = "sens" if order == "pred" else "pred"
        value = functions[first](functions[last](table, axis=inner))
        found[f"{name}_fairness:{first}_{order}:{last}_{other}"] = float(value)
    return found


def adjusted(
    unfair: np.ndarray, disentangled: np.ndarray, accuracy: np.ndarray, neighbours: int = NEIGHBOURS
) -> tuple[float, float]:
    """Return the rank correlation of unfairness and disentanglement, plain and adjusted.

    Adjusted, each is compared with its mean among the runs whose accuracy is nearest, itself left
    out: what is left is not explained by how well factors are predicted.
    """
    away = np.abs(accuracy[:, None] - accuracy[None])
    np.fill_diagonal(away, np.inf)
    nearest = np.argsort(away, axis=1, kind="stable")[:, : min(neighbours, len(accuracy) - 1)]
    left = [values - values[nearest].mean(axis=1) for values in (unfair, disentangled)]
    return rank_correlation(unfair, disentangled), rank_correlation(*left)


def rank_interval(first: np.ndarray, second: np.ndarray, draws: int = 1000) -> tuple[float, float]:
    """Return the middle 95 % of the rank correlation over draws of the runs with replacement."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(draws):
        chosen = rng.integers(len(first), size=len(first))
        found.append(rank_correlation(first[chosen], second[chosen]))
    low, high = np.nanquantile(found, (0.025, 0.975))
    return float(low), float(high)
