"""Protocols of tables that others copy, against the definitions written out a second time."""

import numpy as np
import pandas as pd
import pytest
from representations import representation
from scipy.stats import entropy
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from unweave import metrics
from unweave.errors import DataError
from unweave.evaluation.score import score

SIZES = (3, 4, 6, 5, 5)
NAMES = ("shape", "scale", "orientation", "x", "y")


def noisy(rows: int = 3_000, deviation: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Codes so noisy that no score is at its end."""
    given = representation("perfect", rows, sizes=SIZES)
    noise = np.random.default_rng(1).standard_normal(given.codes.shape)
    return given.codes + deviation * noise, given.factors


def groups_of_rows(factors: np.ndarray, rng: np.random.Generator):
    """100 groups of 100 rows for each factor, which share a value of it."""
    for factor, size in enumerate(SIZES):
        for _ in range(100):
            alike = np.flatnonzero(factors[:, factor] == rng.integers(size))
            yield factor, rng.choice(alike, 100)


def test_factor_vae_score_of_lin2020_judges_the_votes_that_chose() -> None:
    codes, factors = noisy(deviation=1.8)
    expected = []
    for seed in range(4):
        table = np.zeros((5, 5))
        for factor, rows in groups_of_rows(factors, np.random.default_rng(seed)):
            table[np.argmin(codes[rows].std(axis=0) / codes.std(axis=0)), factor] += 1
        expected.append(table.max(axis=1).sum() / table.sum())
    found = [
        metrics.factor_vae_score(codes, factors, protocol="lin2020", seed=seed)
        for seed in range(16)
    ]
    assert 0.4 < np.mean(expected) < 0.99
    assert np.mean([s.value for s in found]) == pytest.approx(np.mean(expected), abs=0.03)
    assert found[0].details["votes"].sum(axis=0).tolist() == [100] * 5
    assert found[0].value == found[0].details["train_accuracy"]


def test_beta_vae_score_of_lin2020_is_training_accuracy_of_pairs_within_groups() -> None:
    codes, factors = noisy(deviation=2.5)
    expected = []
    for seed in range(4):
        features, labels = [], []
        for factor, rows in groups_of_rows(factors, np.random.default_rng(seed)):
            features.append(np.abs(codes[rows[0::2]] - codes[rows[1::2]]).mean(axis=0))
            labels.append(factor)
        model = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
        expected.append(model.fit(features, labels).score(features, labels))
    found = [
        metrics.beta_vae_score(codes, factors, protocol="lin2020", seed=seed) for seed in range(4)
    ]
    assert 0.3 < np.mean(expected) < 0.99
    assert np.mean([s.value for s in found]) == pytest.approx(np.mean(expected), abs=0.03)
    assert found[0].made is not None
    assert found[0].made.sizes["train_features"] == 500


def test_sap_of_lin2020_correlates_amounts_and_fits_shapes_on_the_same_rows() -> None:
    codes, factors = noisy(800)
    found = metrics.sap(codes, pd.DataFrame(factors, columns=list(NAMES)), protocol="lin2020")
    scores = np.zeros((5, 5))
    for code in range(5):
        machine = LinearSVC(C=0.01, class_weight="balanced", dual=False, tol=1e-8)
        column = codes[:, [code]]
        scores[code, 0] = machine.fit(column, factors[:, 0]).score(column, factors[:, 0])
        for factor in range(1, 5):
            scores[code, factor] = np.corrcoef(codes[:, code], factors[:, factor])[0, 1] ** 2
    ordered = np.sort(scores, axis=0)
    assert found.value == pytest.approx(np.mean(ordered[-1] - ordered[-2]), abs=2e-3)
    assert found.details["by_regression"].tolist() == [False, True, True, True, True]


def entropic(importance: np.ndarray) -> tuple[float, float]:
    """D and C of an importance matrix, (code, factor), as its authors compute them."""
    importance = importance + 1e-12
    of_codes = 1 - entropy(importance.T, base=importance.shape[1])
    weight = importance.sum(axis=1) / importance.sum()
    of_factors = 1 - entropy(importance, base=importance.shape[0])
    return float((weight * of_codes).sum()), float(of_factors.mean())


def standard(table: np.ndarray) -> np.ndarray:
    return (table - table.mean(axis=0)) / table.std(axis=0)


def test_dci_of_lin2020_is_the_lasso_of_all_rows() -> None:
    codes, factors = noisy(900, deviation=0.4)
    codes[:, 0] += codes[:, 1]
    found = metrics.dci(codes, factors, protocol="lin2020")
    x, y = standard(codes), standard(factors)
    importance = np.stack(
        [np.abs(Lasso(alpha=0.02).fit(x, column).coef_) for column in y.T], axis=1
    )
    assert (found.parts["D"], found.parts["C"]) == pytest.approx(entropic(importance), abs=1e-4)
    assert found.made is not None
    assert found.made.sizes == {"train_rows": 900, "test_rows": 900}


def test_mig_of_lin2020_counts_every_row_there_is() -> None:
    codes, factors = noisy(400, deviation=0.3)
    shares = np.zeros((5, 5))
    for code in range(5):
        binned = np.digitize(codes[:, code], np.histogram(codes[:, code], 20)[1][:-1])
        for factor in range(5):
            own = mutual_info_score(factors[:, factor], factors[:, factor])
            shares[code, factor] = mutual_info_score(factors[:, factor], binned) / own
    ordered = np.sort(shares, axis=0)
    expected = np.mean(ordered[-1] - ordered[-2])
    assert metrics.mig(codes, factors, protocol="lin2020").value == pytest.approx(expected)
    many = np.tile(codes, (40, 1)), np.tile(factors, (40, 1))
    whole = score(*many, ["mig", "factor_vae_score"], protocol="lin2020")
    assert whole["mig"].made.rows == 16_000
    assert whole["factor_vae_score"].made.rows == 16_000
    assert score(*many, ["mig"])["mig"].made.rows == 10_000


def test_dci_of_hsu2024_is_a_forest_by_entropy() -> None:
    codes, factors = noisy(400, deviation=0.4)
    found = metrics.dci(codes, factors, protocol="hsu2024")
    importance = []
    for labels in factors.T:
        forest = RandomForestClassifier(100, criterion="entropy", max_depth=10, random_state=9)
        importance.append(forest.fit(codes[:360], labels[:360]).feature_importances_)
    expected = entropic(np.stack(importance, axis=1))
    assert (found.parts["D"], found.parts["C"]) == pytest.approx(expected, abs=0.04)
    assert found.made is not None
    assert found.made.sizes == {"train_rows": 360, "test_rows": 40}


def test_infomec_of_hsu2024_leaves_out_codes_of_small_quartiles() -> None:
    codes, factors = noisy(1_200, deviation=0.3)
    rng = np.random.default_rng(0)
    # Rarely far from 0: a wide range, but no width between the quartiles.
    rare = np.where(rng.random(1_200) < 0.05, 3.0, 0.0) + 1e-3 * rng.standard_normal(1_200)
    codes = np.concatenate([codes, rare[:, None]], axis=1)
    newer = metrics.infomec(codes, factors, protocol="hsu2024")
    older = metrics.infomec(codes, factors, protocol="hsu2023")
    assert newer.details["active_codes"].tolist() == [True] * 5 + [False]
    assert older.details["active_codes"].tolist() == [True] * 6
    scaled = standard(codes[:, :5])
    shares = np.stack(
        [
            mutual_info_classif(scaled, labels, n_neighbors=10, random_state=0)
            / mutual_info_score(labels, labels)
            for labels in factors.T
        ]
    )
    modularity = ((shares.max(axis=0) / shares.sum(axis=0)).mean() - 1 / 5) / (1 - 1 / 5)
    compactness = ((shares.max(axis=1) / shares.sum(axis=1)).mean() - 1 / 5) / (1 - 1 / 5)
    assert newer.parts["InfoM"] == pytest.approx(modularity, abs=0.01)
    assert newer.parts["InfoC"] == pytest.approx(compactness, abs=0.01)
    assert newer.value == newer.parts["InfoM"]


def test_infomec_of_hsu2024_discrete_counts_values_of_codes_with_wide_quartiles() -> None:
    rng = np.random.default_rng(2)
    factors = np.stack([rng.integers(size, size=1_500) for size in (3, 4, 5)], axis=1)
    mixed = factors + rng.integers(2, size=factors.shape) * (rng.random(factors.shape) < 0.4)
    # Quantised, and narrow: a tenth of the widest quartiles lies below 0.1.
    codes = np.concatenate([mixed, (mixed[:, :1] + mixed[:, 1:2]) // 2], axis=1) / 5 - 0.5
    narrow = 0.08 * rng.integers(2, size=1_500)
    constant = np.full(1_500, 0.25)
    codes = np.concatenate([codes, narrow[:, None], constant[:, None]], axis=1)
    found = metrics.infomec(codes, factors, protocol="hsu2024_discrete")
    assert found.details["active_codes"].tolist() == [True] * 4 + [False] * 2
    wider = metrics.infomec(codes, factors, protocol="hsu2024").details["active_codes"]
    assert wider.tolist() == [True] * 5 + [False]
    counted = np.rint(10 * codes[:, :4]).astype(int).T
    shares = np.array(
        [[mutual_info_score(v, c) / mutual_info_score(v, v) for c in counted] for v in factors.T]
    )
    modularity = ((shares.max(axis=0) / shares.sum(axis=0)).mean() - 1 / 3) / (1 - 1 / 3)
    compactness = ((shares.max(axis=1) / shares.sum(axis=1)).mean() - 1 / 4) / (1 - 1 / 4)
    inputs = pd.get_dummies(pd.DataFrame(codes[:, :5].round(3)).astype(str)).to_numpy(float)
    explicitness = []
    for size, labels in zip((3, 4, 5), factors.T, strict=True):
        model = LogisticRegression(C=np.inf, class_weight="balanced", max_iter=5_000, tol=1e-8)
        chances = model.fit(inputs, labels).predict_proba(inputs)
        loss = -np.log(chances[np.arange(len(labels)), labels]).mean()
        explicitness.append(1 - loss / np.log(size))
    assert found.parts["InfoM"] == pytest.approx(modularity, abs=1e-9)
    assert found.parts["InfoC"] == pytest.approx(compactness, abs=1e-9)
    assert found.parts["InfoE"] == pytest.approx(np.mean(explicitness), abs=2e-3)
    assert min(found.parts.values()) > 0.1
    assert max(found.parts.values()) < 0.95


def vectors(rows: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Three concepts of three codes: two hold a factor in directions of their own, one noise."""
    rng = np.random.default_rng(3)
    factors = np.stack([rng.integers(4, size=rows), rng.integers(5, size=rows)], axis=1)
    parts = [np.outer(factors[:, k], rng.standard_normal(3)) for k in range(2)]
    parts.append(rng.standard_normal((rows, 3)))
    return np.concatenate(parts, axis=1) + 0.4 * rng.standard_normal((rows, 9)), factors


def test_importance_of_a_concept_is_the_sum_over_its_codes() -> None:
    codes, factors = vectors()
    alone = metrics.dci(codes, factors, protocol="linear")
    joined = metrics.dci(codes, factors, protocol="linear", groups=3)
    expected = alone.details["importance"].reshape(3, 3, 2).sum(axis=1)
    np.testing.assert_allclose(joined.details["importance"], expected)
    assert (joined.parts["D"], joined.parts["C"]) == pytest.approx(entropic(expected), abs=1e-6)
    assert joined.parts["C"] > alone.parts["C"] + 0.2


def test_a_concept_votes_with_its_sum_of_variances() -> None:
    codes, factors = vectors()
    votes = np.zeros((3, 2))
    rng = np.random.default_rng(0)
    whole = codes.var(axis=0).reshape(3, 3).sum(axis=1)
    for factor, size in enumerate((4, 5)):
        for _ in range(300):
            alike = np.flatnonzero(factors[:, factor] == rng.integers(size))
            within = codes[rng.choice(alike, 64)].var(axis=0).reshape(3, 3).sum(axis=1)
            votes[np.argmin(within / whole), factor] += 1
    found = metrics.factor_vae_score(
        codes, factors, protocol="locatello2019", groups=3, train_votes=600, test_votes=600
    )
    assert found.value == pytest.approx(votes.max(axis=1).sum() / votes.sum(), abs=0.03)
    assert found.details["votes"].shape == (3, 2)
    assert found.value > 0.95
    scaled = metrics.factor_vae_score(
        codes * 1e-3, factors, groups=3, components=1, train_votes=600, test_votes=600
    )
    assert scaled.value > 0.95


def test_clusters_of_a_concept_take_the_place_of_bins() -> None:
    codes, factors = vectors()
    shares = np.zeros((3, 2))
    for concept in range(3):
        means = KMeans(20, n_init=1, random_state=0)
        label = means.fit_predict(codes[:, 3 * concept : 3 * concept + 3].astype(float))
        for factor in range(2):
            own = mutual_info_score(factors[:, factor], factors[:, factor])
            shares[concept, factor] = mutual_info_score(factors[:, factor], label) / own
    ordered = np.sort(shares, axis=0)
    found = metrics.mig(codes, factors, groups=[[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    assert found.value == pytest.approx(np.mean(ordered[-1] - ordered[-2]), abs=1e-9)
    assert found.value > metrics.mig(codes, factors).value + 0.2


def test_groups_may_be_sizes_members_or_names() -> None:
    codes, factors = vectors(300)
    ways = [3, [[0, 1, 2], [3, 4, 5], [6, 7, 8]], ["a"] * 3 + ["b"] * 3 + ["c"] * 3]
    values = {metrics.dci(codes, factors, protocol="linear", groups=w).value for w in ways}
    assert len(values) == 1
    for wrong in (4, [[0, 1], [1, 2]], [[0], [9]], ["a", "b"], [[0, 1, 2]]):
        with pytest.raises(DataError):
            metrics.dci(codes, factors, protocol="linear", groups=wrong)
