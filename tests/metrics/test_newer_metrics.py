"""Newer metrics against closed forms and definitions written out a second time."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from representations import full_grid
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from unweave import metrics
from unweave.errors import DataError
from unweave.evaluation.score import score
from unweave.metrics._information import factor_dependence
from unweave.tables import factor_table

GRID = np.tile(full_grid((3, 4, 5)), (4, 1))
RNG = np.random.default_rng(0)


def test_med_of_perfect_codes_is_one_and_of_merged_codes_is_its_formula() -> None:
    perfect = metrics.med(GRID.astype(float), GRID)
    assert perfect.parts == pytest.approx({"D": 1.0, "C": 1.0})
    merged = np.stack([5 * GRID[:, 1] + GRID[:, 2], GRID[:, 0]], axis=1).astype(float)
    found = metrics.med(merged, GRID)
    binned = merged[:, 0]  # twenty values, twenty bins
    share = np.array([[0.0, 1, 1], [1, 0, 0]])
    assert mutual_info_score(binned, GRID[:, 1]) == pytest.approx(np.log(4))
    of_codes = 1 - entropy(share.T, base=3)
    assert found.parts["D"] == pytest.approx((of_codes * [2 / 3, 1 / 3]).sum())
    assert found.parts["C"] == pytest.approx(1.0)


def test_top_med_keeps_the_codes_of_each_factor_that_know_it_alone() -> None:
    noise = RNG.standard_normal((len(GRID), 6))
    codes = np.concatenate([GRID, GRID + noise[:, :3], GRID.sum(axis=1)[:, None]], axis=1)
    every = metrics.med(codes, GRID)
    top = metrics.med(codes, GRID, protocol="cao2022_top", top=1)
    assert top.made is not None
    assert top.made.dropped_codes == (3, 4, 5, 6)
    assert top.value == pytest.approx(1.0)
    assert every.value < 0.9


def test_gaps_of_dependent_factors_reach_one_where_mig_cannot() -> None:
    first = RNG.integers(4, size=20_000)
    second = np.where(RNG.random(20_000) < 0.5, first, RNG.integers(4, size=20_000))
    factors = np.stack([first, second], axis=1)
    codes = np.concatenate([factors, np.zeros((20_000, 1))], axis=1).astype(float)
    found = metrics.dmig(codes, factors)
    shared = mutual_info_score(first, second)
    own = entropy(np.bincount(first))
    assert metrics.mig(codes, factors).value == pytest.approx(1 - shared / own, abs=1e-3)
    assert metrics.mig(codes, factors).value < 0.85
    assert found.parts == pytest.approx({"DMIG": 1.0, "DLIG": 1.0, "XMIG": 1.0})
    assert found.details["factor_dependence"][0, 1] == pytest.approx(shared / own, abs=2e-3)


def test_gaps_of_independent_factors_are_those_of_mig() -> None:
    codes = GRID + 0.5 * RNG.standard_normal(GRID.shape)
    noise = RNG.standard_normal((len(GRID), 1))
    codes = np.concatenate([codes, noise], axis=1)
    ours, usual = metrics.dmig(codes, GRID), metrics.mig(codes, GRID)
    assert ours.value == pytest.approx(usual.value, abs=1e-9)
    assert "XMIG" in ours.parts
    assert "XMIG" not in metrics.dmig(codes[:, :3], GRID).parts


def test_dependence_of_factors_is_told_from_chance() -> None:
    independent = RNG.integers(6, size=(3_000, 3))
    found = factor_dependence(factor_table(independent))
    assert not found.certain.any()
    assert found.normalised[0, 1] < 0.01
    copied = independent.copy()
    copied[:600, 1] = copied[:600, 0]
    found = factor_dependence(factor_table(copied))
    assert found.certain[0, 1]
    assert not found.certain[0, 2]
    assert found.normalised[0, 1] == found.normalised[1, 0] > 0.02


def test_omes_of_perfect_and_of_merged_codes() -> None:
    # A changed factor is drawn anew among the others: over pairs, z and z' of n values have
    # correlation -1 / (n - 1).
    sizes = np.array([3, 4, 5])
    perfect = metrics.omes(GRID.astype(float), GRID, pairs=40_000)
    strength = 1 - 1 / (sizes - 1)
    np.testing.assert_allclose(np.diag(perfect.details["strength"]), strength, atol=0.02)
    np.testing.assert_allclose(perfect.details["strength"] - np.diag(strength), 0, atol=0.02)
    aside = 1 - (1 - strength) / 3
    assert perfect.value == pytest.approx((strength * aside).mean(), abs=0.02)
    merged = np.stack([GRID[:, 0] + 3.0 * GRID[:, 1], GRID[:, 2]], axis=1)
    assert metrics.omes(merged, GRID, pairs=40_000).value < perfect.value
    with pytest.raises(DataError, match="constant"):
        metrics.omes(np.zeros((len(GRID), 2)), GRID)


def test_omes_is_its_definition() -> None:
    codes = GRID @ RNG.standard_normal((3, 4)) + 0.3 * RNG.standard_normal((len(GRID), 4))
    found = metrics.omes(codes, GRID)
    m = found.details["strength"]
    expected = []
    for k in range(3):
        overlap = [m[d, k] * (1 - np.abs(np.eye(3)[k] - m[d]).mean()) for d in range(4)]
        encoding = [m[d, k] * (1 - np.abs(np.eye(4)[d] - m[:, k]).mean()) for d in range(4)]
        expected.append((max(overlap) + max(encoding)) / 2)
    assert found.value == pytest.approx(np.mean(expected))
    k, d = 1, 2
    groups: dict[tuple, list[int]] = {}
    for row, others in enumerate(np.delete(GRID, k, axis=1)):
        groups.setdefault(tuple(others), []).append(row)
    first, second = [], []
    for rows in groups.values():
        for a in rows:
            for b in rows:
                if GRID[a, k] != GRID[b, k]:
                    first.append(codes[a, d])
                    second.append(codes[b, d])
    assert m[d, k] == pytest.approx(1 - abs(np.corrcoef(first, second)[0, 1]), abs=0.04)


def test_linear_codes_are_explicit_and_bent_ones_are_less() -> None:
    u = RNG.uniform(-1, 1, (3_000, 2))
    linear = metrics.dci_es(u @ np.array([[1.0, 2], [3, -1]]), u)
    assert linear.parts["E"] == pytest.approx(1.0, abs=0.01)
    assert linear.parts["S"] == 1.0
    waves = np.concatenate([np.sin(3 * u), np.cos(3 * u)], axis=1)
    bent = metrics.dci_es(waves, u)
    assert bent.parts["E"] < 0.95
    assert bent.parts["S"] == 0.5
    curve = bent.details["error_by_capacity"][:, 0]
    area = ((curve[1:] + curve[:-1]) / 2 - curve.min()).sum()  # by trapezoids
    expected = 1 - area / (0.5 * (len(curve) - 1) * 1.0)
    assert bent.details["explicitness_per_factor"][0] == pytest.approx(expected)


def test_scores_say_which_factors_depend_on_each_other() -> None:
    first = RNG.integers(4, size=4_000)
    second = np.where(RNG.random(4_000) < 0.4, first, RNG.integers(4, size=4_000))
    third = RNG.integers(3, size=4_000)
    factors = np.stack([first, second, third], axis=1)
    found = score(factors.astype(float), factors, ["mig"])
    (note,) = found.notes
    assert "factor_1 and factor_0" in note
    assert "factor_2" not in note
    assert note in str(found)
    assert found.to_json()["notes"] == [note]
    assert score(GRID.astype(float), GRID, ["mig"]).notes == []


def test_votes_from_few_rows_say_that_rows_repeat() -> None:
    few = RNG.integers(5, size=(100, 2))
    said = metrics.factor_vae_score(few.astype(float), few, train_votes=50, test_votes=50)
    assert any("repeat rows" in note for note in said.notes)
    many = RNG.integers(5, size=(4_000, 2))
    silent = metrics.factor_vae_score(many.astype(float), many, train_votes=50, test_votes=50)
    assert not silent.notes


def test_narrow_posteriors_of_noise_know_nothing_once_chance_is_subtracted() -> None:
    factors = RNG.integers(4, size=(400, 2))
    means = RNG.standard_normal((400, 3))
    logvars = np.full(means.shape, 2 * np.log(0.01))
    plain = metrics.mig_sampled(means, logvars, factors)
    fair = metrics.mig_sampled(means, logvars, factors, protocol="chen2018_null")
    assert plain.details["mutual_information"].mean() > 0.1
    assert fair.details["mutual_information"].mean() < 0.03


def test_codes_that_keep_factors_apart_lose_nothing_on_unseen_values() -> None:
    factors = RNG.integers(4, size=(4_000, 2))
    apart = metrics.generalization_gap(np.eye(4)[factors].reshape(4_000, 8), factors)
    assert apart.value == pytest.approx(0.0, abs=1e-9)
    assert apart.parts["unseen"] == 1.0
    # One-hot codes of both together: a combination that was never seen says nothing.
    joined = np.eye(16)[4 * factors[:, 0] + factors[:, 1]]
    found = metrics.generalization_gap(joined, factors)
    assert found.parts["seen"] == 1.0
    assert found.parts["unseen"] < 0.5
    assert not found.higher_is_better


def test_blocks_are_told_by_what_they_hold_whatever_their_axes() -> None:
    u = RNG.standard_normal((1_500, 4))
    turn = np.linalg.qr(RNG.standard_normal((2, 2)))[0]
    codes = np.concatenate([u[:, :2] @ turn, np.tanh(u[:, 2:] @ turn)], axis=1)
    names = pd.DataFrame(u, columns=["shape", "side", "x", "y"])
    good = metrics.block_r2(codes, names, blocks=2, content=("shape", "side"), continuous=True)
    assert good.parts["own block"] > 0.9
    assert good.parts["other blocks"] < 0.05
    swapped = metrics.block_r2(codes, names, blocks=2, content=("x", "y"), continuous=True)
    assert swapped.value == pytest.approx(-good.value, abs=0.05)
    linear = metrics.block_r2(codes, names, protocol="linear", blocks=2, continuous=True)
    assert linear.details["r2"][0, :2] == pytest.approx([1, 1], abs=1e-9)
    assert linear.details["own_block"].tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match="no factor 'hue'"):
        metrics.block_r2(codes, names, blocks=2, content=("hue",), continuous=True)


@pytest.mark.parametrize("step", [1e-4, 1e-2])
def test_path_length_of_a_linear_generator_is_its_closed_form(step: float) -> None:
    matrix = RNG.standard_normal((3, 12))
    codes = RNG.standard_normal((400, 3))
    found = metrics.path_length(lambda z: z @ matrix, codes, paths=6_000, step=step)
    first, second = codes[RNG.integers(400, size=(2, 100_000))]
    lengths = (((first - second) @ matrix) ** 2).sum(axis=1)
    low, high = np.percentile(lengths, [1, 99])
    expected = lengths[(lengths >= low) & (lengths <= high)].mean()
    assert found.value == pytest.approx(expected, rel=0.06)


def test_path_length_of_one_image_is_nothing_and_on_the_sphere_is_the_angle() -> None:
    codes = RNG.standard_normal((300, 3))
    assert metrics.path_length(lambda z: np.ones((len(z), 4)), codes, paths=50).value == 0
    found = metrics.path_length(lambda z: z, codes, paths=6_000, step=1e-3, spherical=True)
    units = codes / np.linalg.norm(codes, axis=1, keepdims=True)
    angles = np.arccos(np.clip(units @ units.T, -1, 1)) ** 2
    assert found.value == pytest.approx(angles.mean(), rel=0.05)


def test_separability_is_one_for_planes_and_doubles_for_each_attribute_without() -> None:
    u = RNG.uniform(-1, 1, (6_000, 2))
    planes = metrics.linear_separability(u, u, continuous=True)
    assert planes.value == pytest.approx(1.0, abs=0.05)
    rings = metrics.linear_separability(u, np.abs(u), continuous=True)
    assert rings.value == pytest.approx(4.0, abs=0.1)


def test_smoothness_and_monotonicity_of_traversals_are_closed_forms() -> None:
    places = np.arange(9.0)
    steady = metrics.traversal_smoothness(np.stack([2 * places, -places]))
    assert steady.parts == pytest.approx({"smoothness": 1.0, "monotonicity": 0.0})
    # One jump: first differences 0 … 1 … 0, second ones 1 and -1, so C = 1 and the span is 1.
    jump = metrics.traversal_smoothness((places > 4).astype(float)[None].repeat(2, 0))
    assert jump.parts == pytest.approx({"smoothness": 0.0, "monotonicity": 1.0})
    # A parabola: every second difference is 2, first ones run from 1 to 15.
    parabola = metrics.traversal_smoothness(np.stack([places**2, (places / 2) ** 2]), step=1.0)
    assert parabola.details["smoothness_per_traversal"] == pytest.approx([1 - 2 / 14] * 2)
    halves = metrics.traversal_smoothness(np.stack([(places / 2) ** 2] * 2), step=0.5)
    assert halves.parts["smoothness"] == pytest.approx(1 - 2 / 14)
    with pytest.raises(DataError, match="3 places"):
        metrics.traversal_smoothness(np.zeros((2, 2)))


def test_only_the_gap_tells_codes_apart_that_know_the_same() -> None:
    """The worked example of docs/metrics.md."""
    factors = full_grid((4, 4))
    first, second = factors.T
    cases = {
        "apart": (np.stack([first, second], axis=1), 1.0, 1.386),
        "twice": (np.stack([first, first], axis=1), 0.0, 2.773),
        "both": (np.stack([4 * first + second, 4 * second + first], axis=1), 0.0, 2.773),
    }
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text("utf-8")
    for codes, gap, total in cases.values():
        details = metrics.mig(codes.astype(float), factors).details
        mutual = details["mutual_information"]
        assert mutual[:, 0].max() == pytest.approx(np.log(4))
        assert mutual[:, 0].sum() == pytest.approx(total, abs=1e-3)
        assert details["gap_per_factor"][0] == pytest.approx(gap, abs=1e-9)
        assert f"{total:.3f} | {gap:.0f} |" in page
