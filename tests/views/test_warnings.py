"""Warnings: what is wrong with models is told, what is right is not."""

import numpy as np

import known_models
from unweave import views
from unweave.runs.run import Run
from unweave.runs.wrapped import WrappedModel, wrap


def test_a_healthy_model_warns_of_its_dead_latent_only(separated, codes):
    found = views.warnings(separated, codes).warnings
    assert [warned.kind for warned in found] == ["collapsed"]
    assert found[0].latents == [3]


def test_turned_axes_and_copies_are_warned_of(toy):
    turned = views.warnings(known_models.entangled(toy))
    assert {tuple(w.factors) for w in turned.of_kind("entangled_latents")} == {("x",), ("y",)}
    assert {tuple(w.latents) for w in turned.of_kind("entangled_factors")} == {(0,), (1,)}
    assert not turned.of_kind("collapsed")
    twice = wrap(lambda images: known_models.standard(images)[:, [0, 0]], toy)
    assert [w.latents for w in views.warnings(twice).of_kind("correlated")] == [[0, 1]]


def test_many_warnings_of_one_kind_are_one_line_that_tells_the_worst(toy):
    def encode(images: np.ndarray) -> np.ndarray:
        x, y, _ = known_models.read_factors(images).T
        noise = np.random.default_rng(0).standard_normal((len(x), 4))
        return np.stack([x, x, x + 8 * noise[:, 0], y, y + 4 * noise[:, 1]], axis=1)

    found = views.warnings(wrap(encode, toy))
    together = found.of_kind("correlated")
    assert len(together) >= 3
    lines = [line for line in found.in_short if "move together" in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"{len(together)} pairs of latents move together; above all, z0 and")
    assert "z1" in lines[0]
    assert len(found.in_short) <= len({warned.kind for warned in found.warnings})


def test_warnings_say_what_the_stored_score_says(separated, codes, monkeypatch):
    """A run whose score, of other rows, has a latent mix two factors is warned of as it says."""
    known = np.zeros((4, 3))
    known[0] = [0.71, 0.52, 0.0]
    details = {
        "mutual_information": known,
        "factor_entropy": np.ones(3),
        "factor_names": ["x", "y", "side"],
    }
    scores = {"mig": {"value": 0.5, "details": details, "made": {"rows": 15_000}}}
    monkeypatch.setattr(WrappedModel, "scores", scores)
    mixed = views.warnings(separated, codes).of_kind("entangled_factors")
    assert [warned.message for warned in mixed] == ["z0 mixes x (0.71 of its entropy) and y (0.52)"]
    assert views.heat_map_of_scores(separated, "mi", codes).rows == 15_000
    assert views.heat_map(separated, "mi", codes).rows == len(codes.rows)


def test_a_run_that_is_not_finished_says_so_first(run):
    assert not views.warnings(run).of_kind("unfinished")
    begun = Run(run.config, run.summary, run.nets, step=3, data=run.data)
    assert views.warnings(begun).in_short[0] == "the run is not finished: step 3 of 4"


def test_a_latent_of_a_few_hundredths_of_a_nat_carries_nothing(toy):
    def posterior(images):
        mean, logvar = known_models.posterior(images)
        mean[:, 3] = 0.3 * mean[:, 0]
        return mean, logvar

    view = views.kl_per_dimension(known_models.separated(toy, posterior=posterior))
    assert 0.03 < view.kl[3] < 0.1
    assert view.active.tolist() == [True, True, True, False]


def test_independent_codes_of_many_equal_values_do_not_move_together(toy):
    """Two switches that are rarely on: ranked by position, their ties would seem to agree."""
    switches = np.random.default_rng(0).random((len(toy), 2)) < 0.1

    def encode(images: np.ndarray) -> np.ndarray:
        rows = toy.rows_of(known_models.read_factors(images).astype(int))
        return switches[rows].astype(np.float32)

    assert abs(np.corrcoef(switches.T)[0, 1]) < 0.05
    assert not views.warnings(wrap(encode, toy)).of_kind("correlated")


def test_a_kl_at_its_limit_is_warned_of(toy, separated, codes, monkeypatch):
    total = float(codes.kl().sum())
    monkeypatch.setattr(WrappedModel, "kl_limit", total * 1.02)
    assert "limit" in views.warnings(separated, codes).of_kind("kl_limit")[0].message
    monkeypatch.setattr(WrappedModel, "kl_limit", total * 2)
    assert not views.warnings(separated, codes).of_kind("kl_limit")
    monkeypatch.undo()
    sharp = known_models.separated(
        toy,
        posterior=lambda images: (known_models.standard(images), np.full((len(images), 4), -20)),
    )
    messages = [w.message for w in views.warnings(sharp).of_kind("kl_limit")]
    assert len(messages) == 2
    assert "1,024 images" in messages[0]
    assert "floor" in messages[1]
