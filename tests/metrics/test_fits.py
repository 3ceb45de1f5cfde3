"""Our fast fits against scikit-learn's, which they replace."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from representations import representation
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.svm import LinearSVC

from unweave import metrics
from unweave.metrics import _class_trees as class_trees
from unweave.metrics._class_trees import boost_each_class
from unweave.metrics._cuts import Floats, Nodes, Scratch, SortedCodes, best_cuts
from unweave.metrics._information import measure_information
from unweave.metrics._logistic import area_under_curve, fit_by_adagrad, fit_one_vs_rest
from unweave.metrics._neighbours import neighbour_information
from unweave.metrics._svm import SortedInputs
from unweave.metrics._trees import boost, boost_each
from unweave.tables import bin_equal_width, factor_table


def labelled(rows: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=rows)
    x = rng.standard_normal((rows, 4))
    x[:, 0] += labels
    x[:, 1] -= 0.5 * labels
    return x, labels


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_logistic_regression_is_liblinears(C: float, balanced: bool) -> None:
    x, labels = labelled(400, 4)
    ours = fit_one_vs_rest(x, labels, 4, C=C, balanced=balanced)
    weight = "balanced" if balanced else None
    for k in range(4):
        model = LogisticRegression(
            C=C, solver="liblinear", tol=1e-10, max_iter=1000, class_weight=weight
        )
        model.fit(x, labels == k)
        np.testing.assert_allclose(ours.weights[k, :-1], model.coef_[0], atol=1e-3)
        np.testing.assert_allclose(ours.weights[k, -1], model.intercept_[0], atol=1e-3)


def test_logistic_regression_with_a_free_intercept_is_scikit_learns() -> None:
    x, labels = labelled(400, 3)
    ours = fit_one_vs_rest(x + 5, labels, 3, free_intercept=True)
    model = LogisticRegression(tol=1e-10, max_iter=10_000).fit(x + 5, labels == 2)
    np.testing.assert_allclose(ours.weights[2, :-1], model.coef_[0], atol=1e-3)
    np.testing.assert_allclose(ours.weights[2, -1], model.intercept_[0], atol=1e-2)


@pytest.mark.parametrize("options", [{}, {"balanced": True, "free_intercept": True}, {"C": 100.0}])
def test_logistic_regression_of_many_columns_is_that_of_few(monkeypatch, options) -> None:
    # Without a Hessian, steps are found by conjugate gradients in single precision.
    x, labels = labelled(300, 5)
    mixing = np.random.default_rng(1).standard_normal((4, 40))
    x = np.concatenate([np.tanh(x @ mixing), 1e3 + 50 * x], axis=1)  # columns of unlike sizes
    x[:, 7] = 0.0
    expected = fit_one_vs_rest(x, labels, 5, **options)
    monkeypatch.setattr("unweave.metrics._logistic.LARGEST_PRODUCT", 10)
    found = fit_one_vs_rest(x, labels, 5, **options)
    np.testing.assert_allclose(found.scores(x), expected.scores(x), atol=2e-3)
    areas = [area_under_curve(each.scores(x), labels)[0] for each in (found, expected)]
    np.testing.assert_allclose(*areas, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
def test_machine_on_one_code_is_liblinears(classes: int, scale: float) -> None:
    x, labels = labelled(500, classes)
    column = scale * x[:, 0] - 0.7
    both = SortedInputs(np.stack([x[:, 3], column], axis=1)).fit(labels, classes)
    ours = both[1]  # of several codes each has its own machines
    model = LinearSVC(C=0.01, class_weight="balanced", dual=False, tol=1e-12, max_iter=100_000)
    model.fit(column[:, None], labels)
    if classes == 2:
        ours = ours[1:]
    np.testing.assert_allclose(ours[:, 0], model.coef_[:, 0], atol=1e-5)
    np.testing.assert_allclose(ours[:, 1], model.intercept_, atol=1e-5)


def test_steps_of_adagrad_are_torchs() -> None:
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((40, 3)), rng.integers(4, size=40)
    ours = fit_by_adagrad(x, labels, 4, np.random.default_rng(3), steps=50, batch=10, rate=0.5)
    layer = torch.nn.Linear(3, 4).double()
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.Adagrad(layer.parameters(), lr=0.5)
    for rows in np.random.default_rng(3).integers(40, size=(50, 10)):
        optimizer.zero_grad()
        scores = layer(torch.from_numpy(x[rows]))
        torch.nn.functional.cross_entropy(scores, torch.from_numpy(labels[rows])).backward()
        optimizer.step()
    np.testing.assert_allclose(ours.scores(x), layer(torch.from_numpy(x)).detach(), atol=1e-6)


def test_area_under_the_curve_counts_ties_as_half() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=200)
    scores = rng.integers(5, size=(200, 3)).astype(float)
    areas, present = area_under_curve(scores, labels)
    expected = [roc_auc_score(labels == k, scores[:, k]) for k in range(3)]
    np.testing.assert_allclose(areas, expected)
    assert present.tolist() == [0, 1, 2]


def test_information_is_that_of_pairwise_counting() -> None:
    x, labels = labelled(600, 5)
    factors = factor_table(np.stack([labels, labels % 2], axis=1))
    ours = measure_information(x, factors, 20).mutual
    for code in range(4):
        for factor in range(2):
            binned = bin_equal_width(x[:, code], 20)
            expected = mutual_info_score(binned, factors.labels[:, factor])
            assert ours[code, factor] == pytest.approx(expected, abs=1e-10)


def test_information_by_neighbours_is_scikit_learns() -> None:
    x, labels = labelled(800, 4)
    for code in range(4):
        column = x[:, code] / x[:, code].std()
        ours = neighbour_information(column, labels, 10, np.random.default_rng(0))
        expected = mutual_info_classif(column[:, None], labels, n_neighbors=10, random_state=0)[0]
        assert ours == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("classes", [2, 5])
def test_boosted_trees_are_scikit_learns(classes: int) -> None:
    x, labels = labelled(400, classes)
    others, truth = labelled(300, classes, seed=1)
    ours = boost(x, labels, others)
    model = GradientBoostingClassifier(random_state=0).fit(x, labels)
    np.testing.assert_allclose(ours.importance, model.feature_importances_, atol=0.02)
    accuracy = (ours.prediction == truth).mean()
    assert accuracy == pytest.approx(model.score(others, truth), abs=0.04)


def test_every_threshold_gives_scikit_learns_importances_at_any_size(monkeypatch) -> None:
    monkeypatch.setattr("unweave.metrics._trees.EXACT_ROWS", 100)
    x, labels = labelled(900, 6)
    expected = GradientBoostingClassifier(random_state=0).fit(x, labels).feature_importances_
    exact = boost(x, labels, x[:2], every_threshold=True).importance
    np.testing.assert_allclose(exact, expected, atol=0.01)
    # 255 thresholds spread importance a little further.
    np.testing.assert_allclose(boost(x, labels, x[:2]).importance, expected, atol=0.05)


@pytest.mark.parametrize("classes", [2, 6])
def test_trees_grown_together_are_scikit_learns(classes: int) -> None:
    x, labels = labelled(900, classes)
    others, truth = labelled(600, classes, seed=1)
    model = GradientBoostingClassifier(random_state=0).fit(x, labels)
    (ours,) = boost_each_class(x, labels[:, None], (classes,), others)
    np.testing.assert_allclose(ours.importance, model.feature_importances_, atol=0.01)
    assert (ours.prediction == truth).mean() == pytest.approx(model.score(others, truth), abs=0.03)
    own = (ours.train_prediction == labels).mean()
    assert own == pytest.approx(model.score(x, labels), abs=0.01)


@pytest.mark.parametrize("codes", [3, 12])
def test_the_cut_found_is_the_best_of_all_thresholds(monkeypatch, codes: int) -> None:
    monkeypatch.setattr("unweave.metrics._cuts.LEAST_ROWS_PER_BLOCK", 9)
    monkeypatch.setattr("unweave.metrics._cuts.EVERY_CODE", codes)
    rng = np.random.default_rng(codes)
    x = rng.standard_normal((400, codes))
    x[:, 1] = np.where(rng.random(400) < 0.6, 0.0, x[:, 1])  # one value of most rows
    x[:, 2] = np.round(x[:, 2])
    labels = (x[:, 0] + rng.standard_normal(400) > 1).astype(int) + (x[:, 2] > 0)
    codes_sorted = SortedCodes(x, x[:5])
    residual = np.zeros((3, 406), dtype=np.float32)
    residual[:, :400] = np.eye(3)[labels].T - rng.uniform(0.05, 0.5, size=(3, 400))
    leaf = np.zeros((3, 406), dtype=np.int8)
    leaf[:, :400] = rng.random((3, 400)) < 0.3
    leaf[:, codes_sorted.nothing] = -1
    inside = np.stack([leaf[:, :400] == side for side in (0, 1)], axis=1).astype(np.float32)
    trained = residual[:, None, :400]
    summed = np.stack([np.maximum(trained, 0) * inside, inside, trained * inside])
    sums = np.empty((4, 6, codes_sorted.codes * codes_sorted.blocks), dtype=np.float32)
    codes_sorted.sums(np.moveaxis(summed.reshape(3, 6, 400), 2, 0), sums)
    tree = np.repeat(np.arange(3), 2)
    cuts = best_cuts(
        codes_sorted,
        Nodes(
            tree,
            np.tile(np.array([0, 1], dtype=np.int8), 3),
            residual,
            leaf,
            residual.max(axis=1)[tree],
            residual.min(axis=1)[tree],
        ),
        sums,
        Scratch(),
    )
    for node in range(6):
        rows = np.flatnonzero(leaf[node // 2, :400] == node % 2)
        values = residual[node // 2, rows].astype(float)
        removed = {
            (code, rank): squared_error_removed(values, codes_sorted.ranks[code, rows] <= rank)
            for code in range(codes)
            for rank in np.unique(codes_sorted.ranks[code, rows])[:-1]
        }
        assert cuts.gain[node] == pytest.approx(max(removed.values()), rel=1e-4)
        found = squared_error_removed(
            values, codes_sorted.ranks[cuts.code[node], rows] <= cuts.rank[node]
        )
        assert found == pytest.approx(cuts.gain[node], rel=1e-4)


@pytest.mark.parametrize("name", ["perfect", "rotated_pairs", "kminus1"])
def test_dci_of_codes_of_few_values_is_that_of_every_threshold_at_study_size(name: str) -> None:
    """Nodes of one class are not cut, though rounding makes it seem that a cut removes something.

    Expected is D by `locatello2019_exact`, which takes several times as long.
    """
    expected = {"perfect": 1.0, "rotated_pairs": 0.6555, "kminus1": 0.9022}[name]
    given = representation(name, 15_000, sizes=(3, 6, 4, 4, 4))
    assert metrics.dci(given.codes, given.factors).value == pytest.approx(expected, abs=0.003)


def test_no_threshold_is_better_than_those_that_trees_are_cut_at(monkeypatch) -> None:
    """Where residuals of both signs are large, as with two classes, a block can hide a cut."""
    missed: list[float] = []
    search = class_trees.best_cuts

    def checked(codes: SortedCodes, nodes: Nodes, sums: Floats, scratch: Scratch) -> Any:
        cuts = search(codes, nodes, sums, scratch)
        for node, (tree, leaf) in enumerate(zip(nodes.tree, nodes.leaf, strict=True)):
            rows = np.flatnonzero(nodes.leaf_of[tree, : codes.rows] == leaf)
            values = nodes.residual[tree, rows].astype(float)
            values -= values.mean()
            best = 0.0
            for ranks in codes.ranks[:, rows]:
                order = np.argsort(ranks, kind="stable")
                before = np.arange(1, len(rows))
                removed = np.cumsum(values[order])[:-1] ** 2 / (before * (len(rows) - before))
                differs = np.diff(ranks[order]) > 0
                best = max(best, len(rows) * (removed * differs).max(initial=0.0))
            if cuts.gain[node] < best * (1 - 1e-4) - 1e-6:
                missed.append(best)
        return cuts

    monkeypatch.setattr(class_trees, "best_cuts", checked)
    x, labels = labelled(500, 2)
    boost_each_class(x, labels[:, None], (2,), x[:9], rounds=20)
    x, labels = labelled(400, 7)
    boost_each_class(x, labels[:, None], (7,), x[:9], rounds=6)
    assert not missed


def test_children_have_the_rows_of_their_parents() -> None:
    """Sums over blocks are those of the rows that the turns leave in each node."""
    rng = np.random.default_rng(0)
    x, residual = rng.standard_normal((200, 2)), rng.standard_normal((200, 3))
    codes = SortedCodes(x, x[:5])
    cells = codes.codes * codes.blocks
    table = np.stack([np.maximum(residual, 0), np.ones_like(residual), residual], axis=1)

    def sums_of(rows: np.ndarray) -> np.ndarray:
        sums = np.empty((4, 3, cells), dtype=np.float32)
        codes.sums((table * rows[:, None]).astype(np.float32), sums)
        return sums

    first, second = rng.random((2, 200, 3)) < 0.4
    root = sums_of(np.ones_like(residual))
    tables = [(table * left[:, None]).astype(np.float32) for left in (first, second)]
    children = np.empty((4, 6, cells), dtype=np.float32)
    codes.sums_of_children(root, tables[0], children)
    of_both = np.concatenate([tables[0] * second[:, None], tables[1]], axis=1).astype(np.float32)
    found = np.empty((4, 12, cells), dtype=np.float32)
    codes.sums_of_children(children, of_both, found)
    nodes = (first & second, ~first & second, first & ~second, ~first & ~second)
    expected = np.concatenate([sums_of(rows) for rows in nodes], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def squared_error_removed(values: np.ndarray, left: np.ndarray) -> float:
    """By the definition: squared distances from the mean, before and after the cut."""
    after = sum(((part - part.mean()) ** 2).sum() for part in (values[left], values[~left]))
    return float(((values - values.mean()) ** 2).sum() - after)


def test_classes_grown_apart_have_the_trees_of_those_grown_together(monkeypatch) -> None:
    x, labels = labelled(400, 5)
    (together,) = boost_each_class(x, labels[:, None], (5,), x[:50])
    monkeypatch.setattr("unweave.metrics._class_trees.TOGETHER", 2)
    (apart,) = boost_each_class(x, labels[:, None], (5,), x[:50])
    np.testing.assert_allclose(together.importance, apart.importance, atol=1e-3)
    assert (together.prediction == apart.prediction).mean() > 0.95


def test_other_rows_fall_into_the_intervals_of_the_rows_nearest_to_them() -> None:
    x, labels = labelled(300, 3)
    (ours,) = boost_each_class(x, labels[:, None], (3,), x)
    np.testing.assert_array_equal(ours.prediction, ours.train_prediction)
    (again,) = boost_each_class(x, labels[:, None], (3,), x + 1e-12)
    np.testing.assert_array_equal(again.prediction, ours.prediction)


def test_trees_of_many_codes_give_the_dci_of_every_threshold() -> None:
    # Of so many codes several know the same. Their order decides which is cut, and moves D of
    # every threshold by 0.01 to either side.
    x, labels = labelled(600, 4)
    factors = np.stack([labels, (x[:, 2] > 0).astype(int) + (x[:, 3] > 0)], axis=1)
    wide = np.tanh(x @ np.random.default_rng(1).standard_normal((4, 140)))
    ours = metrics.dci(wide, factors)
    exact = metrics.dci(wide, factors, protocol="locatello2019_exact")
    assert ours.parts["D"] == pytest.approx(exact.parts["D"], abs=0.02)
    assert ours.parts["C"] == pytest.approx(exact.parts["C"], abs=0.01)


def test_fitting_leaves_torch_the_threads_it_had() -> None:
    x, labels = labelled(100, 3)
    before = torch.get_num_threads()
    boost_each_class(x, labels[:, None], (3,), x[:20], rounds=2)
    assert torch.get_num_threads() == before


def test_trees_of_several_factors_are_those_of_each() -> None:
    x, labels = labelled(200, 3)
    both = np.stack([labels, labels[::-1]], axis=1)
    together = boost_each(x, both, (3, 3), x[:20])
    for index in range(2):
        alone = boost(x, both[:, index], x[:20])
        np.testing.assert_array_equal(together[index].importance, alone.importance)
        np.testing.assert_array_equal(together[index].prediction, alone.prediction)


def test_trees_without_anything_to_learn_predict_the_most_frequent_class() -> None:
    fitted = boost(np.zeros((6, 2)), np.array([2, 2, 2, 5, 5, 1]), np.ones((3, 2)))
    assert fitted.importance.tolist() == [0, 0]
    assert fitted.prediction.tolist() == [2, 2, 2]


def test_without_lightgbm_the_message_says_what_to_do_and_the_other_metrics_are_scored(monkeypatch):
    import sys

    from unweave.evaluation.score import score

    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as where it does not load
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, size=(300, 2))
    codes = factors + 0.1 * rng.normal(size=(300, 2))
    scores = score(codes, factors, ["sample_efficiency", "dci", "mig"])
    assert "libgomp" in scores.reasons["sample_efficiency"]
    assert scores["mig"].value > 0
    assert scores["dci"].value > 0.9  # its trees are our own


def test_trees_are_begun_in_one_thread_while_others_grow_theirs():
    """Where LightGBM's threads were not one everywhere, this ended the process."""
    script = """
import threading
import numpy as np
from unweave.metrics._trees import begin

x = np.random.default_rng(0).standard_normal((60, 3))
ones = np.ones((60, 3), dtype=np.float32)

def begin():
    for _ in range(800):
        begin(x, 3, 0, 60)

def grow():
    booster = begin(x, 3, 0, 60)
    booster.update(fobj=lambda *_: (x.astype(np.float32), ones))
    for _ in range(3000):
        booster.predict(x, pred_leaf=True, num_threads=1)

threads = [threading.Thread(target=work) for work in (begin, grow, begin, grow)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    environment = {name: v for name, v in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert done.returncode == 0


SCIKIT = json.loads((Path(__file__).parent / "scikit_dci.json").read_text("utf-8"))


def study_cases() -> list[Any]:
    """Cases whose trees are few enough for every run of the tests, and the rest for acceptance."""
    return [
        pytest.param(
            entry,
            id=f"{entry['representation']}-{sum(entry['sizes'])}",
            marks=[] if sum(entry["sizes"]) < 40 else [pytest.mark.acceptance],
        )
        for entry in SCIKIT
    ]


@pytest.mark.parametrize("entry", study_cases())
def test_default_trees_are_within_a_hundredth_of_scikit_learns_at_study_size(
    entry: dict[str, Any],
) -> None:
    """benchmarks/dci_references.py fitted scikit-learn's to the same 10,000 rows."""
    given = representation(entry["representation"], entry["rows"], sizes=tuple(entry["sizes"]))
    found = metrics.dci(given.codes, given.factors)
    assert found.parts == pytest.approx(entry["parts"], abs=0.01)
