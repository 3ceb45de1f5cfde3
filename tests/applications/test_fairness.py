"""Fairness: what decisions depend on, and what taking latents away does."""

import json

import numpy as np
import pytest

import known_models
from unweave.applications import _counterfactuals, _inputs, _unfairness, fairness
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.methods import Part
from unweave.runs.wrapped import wrap

SMALL = {"rows": 1000, "repeats": 2, "sensitive": "side", "target": "y"}


@pytest.fixture(scope="module")
def applied(toy):
    return fairness.apply(known_models.separated(toy), fairness.Settings(**SMALL, drop=1))


def mean_of(applied, given):
    found = applied.numbers["classifiers"][given]
    return {name: float(np.mean(values)) for name, values in found.items()}


def test_taking_the_sensitive_latent_away_closes_the_gap_and_costs_nothing(applied):
    """On codes that are the factors the pass rule holds: half the gap, at most 3 points lost."""
    whole, without = mean_of(applied, "the whole code"), mean_of(applied, "without z2")
    assert whole["parity_gap"] > 0.3
    assert without["parity_gap"] < 0.5 * whole["parity_gap"]
    assert without["odds_gap"] < whole["odds_gap"]
    assert without["accuracy"] > whole["accuracy"] - 0.03
    assert whole["sensitive_auc"] > 0.95
    assert without["sensitive_auc"] < 0.6


def test_controls_do_not_close_the_gap(applied):
    whole = mean_of(applied, "the whole code")["parity_gap"]
    assert mean_of(applied, "without as many that tell neither")["parity_gap"] > 0.7 * whole
    assert mean_of(applied, "pixels")["parity_gap"] > 0.1
    assert mean_of(applied, "pixels")["sensitive_auc"] > 0.9
    same = mean_of(applied, "always the same answer")
    assert same["parity_gap"] == 0
    assert same["accuracy"] < 0.7


def test_a_latent_drawn_anew_tells_nothing_of_the_sensitive_factor(applied):
    assert mean_of(applied, "z2 drawn anew")["sensitive_auc"] < 0.6
    assert mean_of(applied, "z2 drawn anew")["parity_gap"] < 0.1


def test_counterfactuals_flip_decisions_as_far_as_the_latent_decided(applied):
    flips = applied.numbers["flips"]
    assert 0 < flips["codes"] < flips["codes_all_exchanged"]
    assert flips["decoded_unchanged"] < 0.02, "decoding alone changes nothing here"
    assert flips["decoded"] is not None


def test_true_counterfactuals_stand_beside_those_of_the_code(applied):
    """Of codes that are the factors, exchanging a latent is exchanging the factor."""
    flips = applied.numbers["flips"]
    assert flips["true"] > 0.1
    assert flips["decoded"] == pytest.approx(flips["true"], abs=0.02)
    assert flips["not_as_true"] < 0.02
    assert "in the true images" in applied.paragraph


def test_a_latent_that_holds_more_than_the_factor_makes_no_true_counterfactuals(toy):
    model = known_models.separated(toy)
    with_y = np.eye(4, dtype=np.float32)
    with_y[2, 1] = 0.5  # the side comes with half of the place
    mixed = wrap(
        lambda images: model.encode(images) @ np.linalg.inv(with_y),
        toy,
        decode=lambda codes: model.decode(codes @ with_y),
        takes="arrays",
    )
    flips = fairness.apply(mixed, fairness.Settings(**SMALL, drop=1)).numbers["flips"]
    assert flips["decoded_unchanged"] < 0.02
    assert flips["not_as_true"] > 0.05


def test_true_counterfactuals_take_one_factor_from_the_partner(toy):
    taken = _inputs.sample(known_models.separated(toy), 40, 0)
    partners = np.arange(20)[::-1]
    images = _counterfactuals.true_counterfactuals(taken, 20, "side", partners)
    wanted = taken.factors[20:].copy()
    wanted[:, toy.factor_names.index("side")] = taken.column("side")[20:][::-1]
    np.testing.assert_array_equal(images, toy.images(toy.rows_of(wanted)))


def test_without_a_decoder_codes_are_judged_alone(toy):
    model = wrap(known_models.standard, toy, name="encoder")
    found = fairness.apply(
        model, fairness.Settings(**(SMALL | {"rows": 100, "repeats": 1, "drop": 1}))
    )
    assert found.numbers["flips"]["decoded"] is None
    assert any("has no decoder" in caveat for caveat in found.caveats)


def test_latents_that_labels_hold_to_the_factor_are_those_taken_away(toy):
    parts = [Part(1), Part(1), Part(1, factor="side"), Part(1)]
    model = known_models.separated(toy, parts=parts)
    found = fairness.apply(
        model, fairness.Settings(**(SMALL | {"rows": 100, "repeats": 1, "drop": 1}))
    )
    assert found.numbers["held_by_labels"] == [2]
    assert found.numbers["latents_that_tell_it"] == [2]


def test_mixed_codes_keep_the_gap_that_separated_ones_lose(toy):
    """x and y mixed over two latents: without one of them the other still tells x."""
    settings = fairness.Settings(rows=500, repeats=1, sensitive="x", target="side", drop=1)
    mixed = fairness.apply(known_models.entangled(toy), settings)
    clean = fairness.apply(known_models.separated(toy), settings)

    def left(applied):
        name = next(n for n in applied.numbers["classifiers"] if n.startswith("without z"))
        return mean_of(applied, name)["sensitive_auc"]

    assert left(clean) < 0.6
    assert left(mixed) > 0.65


def test_perfect_codes_are_fair_shuffled_ones_are_and_mixed_ones_are_not(toy):
    factors = toy.factors()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(factors))
    codes = known_models.standard(toy.images(np.arange(len(toy))))[order]
    table = factors[order]
    mean, largest, accuracy = _unfairness.unfairness(codes[:, :3], table)
    assert np.isnan(np.diag(mean)).all()
    assert accuracy.min() > 0.8
    total = "mean_fairness:mean_pred:mean_sens"
    perfect = _unfairness.aggregates(mean, largest)
    noise = codes[:, :3] + 1.0 * codes[:, [1, 2, 0]] + 0.8 * rng.standard_normal((1024, 3))
    mixed = _unfairness.aggregates(*_unfairness.unfairness(noise, table)[:2])
    shuffled = codes[rng.permutation(len(codes)), :3]
    nothing = _unfairness.aggregates(*_unfairness.unfairness(shuffled, table)[:2])
    assert nothing[total] < 0.02
    assert perfect[total] < 0.03
    assert perfect[total] < mixed[total]
    assert len(perfect) == 16
    assert perfect["max_fairness:max_pred:max_sens"] == max(perfect.values())
    assert perfect[total] == min(v for n, v in perfect.items() if n.startswith("mean_"))


def test_the_distance_of_answers_is_the_total_variation():
    answers = np.array([0, 0, 1, 1])
    moved, weight = _unfairness.distances(answers, np.array([0, 0, 1, 1]))
    assert moved.tolist() == [0.5, 0.5]
    assert weight.tolist() == [2, 2]
    moved, _ = _unfairness.distances(answers, np.array([0, 1, 0, 1]))
    assert moved.tolist() == [0, 0]


def test_adjusting_takes_away_what_accuracy_explains():
    rng = np.random.default_rng(0)
    accuracy = rng.random(60)
    by_accuracy = _unfairness.adjusted(
        -accuracy + 0.05 * rng.standard_normal(60),
        accuracy + 0.05 * rng.standard_normal(60),
        accuracy,
    )
    assert by_accuracy[0] < -0.8
    assert abs(by_accuracy[1]) < 0.35
    cause = rng.standard_normal(60)
    by_itself = _unfairness.adjusted(-cause - accuracy, cause + accuracy, accuracy)
    assert by_itself[1] < -0.8


def test_decisions_refuse_the_sensitive_group_as_often_as_asked():
    rng = np.random.default_rng(0)
    target, sensitive = rng.random(20_000) > 0.5, rng.random(20_000) > 0.5
    made = fairness.biased_decisions(target, sensitive, 0.4, rng)
    assert made[target & sensitive].mean() == pytest.approx(0.6, abs=0.02)
    assert (made == target)[~(target & sensitive)].all()
    assert (fairness.biased_decisions(target, sensitive, 0.0, rng) == target).all()


def test_what_cannot_be_judged_is_refused(toy):
    model = known_models.separated(toy)
    for settings, hint in [
        ({"sensitive": "colour"}, "sensitive factor of toy_xys"),
        ({"sensitive": "x", "target": "x"}, "both sensitive and the target"),
        ({"bias": 1.5}, "a bias from 0"),
        ({"rows": 3}, "20 rows"),
        ({"rows": 100, "beside": ("nowhere",)}, "not a run folder"),
    ]:
        with pytest.raises((ConfigError, DataError), match=hint):
            fairness.apply(model, fairness.Settings(**({"repeats": 1} | settings)))


def test_the_command_keeps_the_result_in_the_run(tiny_run, tmp_path, capsys):
    words = ["apply", "fairness", str(tiny_run("vae").path), "--out", str(tmp_path)]
    more = ["--rows", "60", "--repeats", "1", "--drop", "1", "--sensitive", "side", "--target", "x"]
    assert main([*words, *more]) == 0
    out = capsys.readouterr().out
    assert "untrained" in out
    content = json.loads((tmp_path / "fairness.json").read_text())
    assert content["settings"]["sensitive"] == "side"
    assert (tmp_path / "fairness.png").is_file()


def test_latents_that_carry_nothing_tell_a_classifier_nothing(toy):
    """A dead latent whose mean follows the sensitive factor a little, as those of VAEs do."""

    def posterior(images):
        mean, logvar = known_models.posterior(images)
        mean[:, 3] = 0.01 * mean[:, 2]
        return mean, logvar

    model = wrap(lambda images: posterior(images)[0], toy, posterior=posterior, name="whispering")
    settings = fairness.Settings(**(SMALL | {"rows": 400, "repeats": 1, "drop": 1}))
    found = fairness.apply(model, settings)
    assert mean_of(found, "without z2")["sensitive_auc"] < 0.65
    assert any("z3 carry less than" in caveat for caveat in found.caveats)
