"""Settings chosen for any images, with the reasons."""

import math

import numpy as np
import pytest
import torch

from unweave import automatic
from unweave.cli import main
from unweave.data import from_arrays, load_data
from unweave.errors import ConfigError
from unweave.networks.patches_any import PatchesAny
from unweave.networks.posed import Posed
from unweave.runs import Machine, load

SMALL = PatchesAny(block=1, channels=8, hidden=16)


def test_one_object_on_a_plain_ground_is_told_from_a_texture(toy):
    sprites = toy.images(np.arange(0, 1024, 16))
    assert automatic.share_with_one_object(sprites) == 1
    network, why = automatic.network_for(sprites)
    assert network == Posed(block=1)
    assert "one object on a plain ground" in why
    noise = np.random.default_rng(0).random((20, 3, 64, 64), dtype=np.float32)
    assert automatic.network_for(noise)[0] == PatchesAny(block=2)
    assert automatic.share_with_one_object(np.zeros((4, 1, 32, 32), np.float32)) == 0
    wide = np.zeros((4, 1, 32, 32), np.float32)
    wide[:, :, 10, 2:30] = 1  # nearly as wide as the image
    assert automatic.share_with_one_object(wide) == 0


def test_what_a_code_could_explain_is_the_entropy_of_the_mean_over_that_of_images():
    images = np.zeros((4, 1, 2, 2), np.float32)
    images[:2, 0, 0, 0] = 1  # one pixel that is a fair coin
    assert automatic.explainable(images) == pytest.approx(math.log(2), abs=1e-4)
    assert automatic.explainable(np.full((3, 1, 2, 2), 0.5, np.float32)) == pytest.approx(0)


def test_the_threshold_is_bracketed_by_the_trials(toy, monkeypatch):
    """A latent is on below 37 exactly: five halvings of 256 leave a factor of 1.19."""
    asked = []

    def below(data, images, architecture, weight, seed, device, steps):
        asked.append(weight)
        return weight < 37

    monkeypatch.setattr(automatic, "_switches_on", below)
    found = automatic.threshold(toy, SMALL, 0, torch.device("cpu"))
    assert [weight for weight, _ in found.tried] == asked
    assert 37 / 256 ** (1 / 32) <= found.weight < 37


def test_trials_tell_a_weight_that_is_worth_its_nats_from_one_that_is_not(toy):
    images = automatic.some_images(toy, 0)
    network, _ = automatic.network_for(images)
    cpu = torch.device("cpu")
    low, high = (
        automatic._switches_on(toy, images, network, weight, 0, cpu, 60) for weight in (1.0, 900.0)
    )
    assert low
    assert not high


def test_the_run_fits_the_time_and_the_threshold(toy, monkeypatch):
    found = automatic.Threshold(80.0, ((80.0, True), (120.0, False)), step_seconds=0.01)
    monkeypatch.setattr(automatic, "threshold", lambda *_, **__: found)
    monkeypatch.setattr(automatic, "network_for", lambda _: (PatchesAny(block=1), "many things"))
    monkeypatch.setattr(automatic, "start_of_fall", lambda weight, *_: weight)
    choice = automatic.choose(toy, 1.0, seed=3)
    config = choice.config
    assert config.steps == pytest.approx(0.9 * 60 / 0.01, rel=0.05)
    assert config.method.kl_weight.at(0) == 80
    assert config.method.kl_weight.at(2 * config.steps // 3) == 1
    assert config.method.optimizer.rate_at(config.steps) == pytest.approx(0, abs=1e-9)
    assert (config.seed, config.data) == (3, "toy_xys")
    said = "\n".join(choice.reasons)
    assert "network patches_any: many things" in said
    assert "80 on, 120 off" in said
    assert automatic.choose(toy, 1e-6).config.steps == automatic.FEWEST_STEPS


def test_one_object_is_posed_and_its_kl_weight_does_not_fall(toy, monkeypatch):
    tried = []

    def timed(*_, trials):
        tried.append(trials)
        return automatic.Threshold(80.0, ((80.0, True),), step_seconds=0.01)

    monkeypatch.setattr(automatic, "threshold", timed)
    choice = automatic.choose(toy, 1.0)
    method, steps = choice.config.method, choice.config.steps
    assert tried == [1], "a trial tells how long a step takes; more are not needed"
    assert isinstance(choice.config.architecture, Posed)
    assert {method.kl_weight.at(step) for step in (0, steps // 3, steps)} == {1}
    assert (method.unstaggered, method.stagger.at(0)) == (4, 7)
    assert method.stagger.at(steps // 2) == pytest.approx(0.3)
    assert "network posed" in choice.reasons[0]
    assert "KL weight 1 throughout" in choice.reasons[1]


def test_the_fall_begins_above_the_threshold_but_not_above_what_a_code_could_save(toy):
    images = automatic.some_images(toy, seed=0)
    most = automatic.explainable(images)
    general = PatchesAny()
    assert automatic.start_of_fall(2.0, images, general) == 2.0 * automatic.HEADROOM
    assert automatic.start_of_fall(most / 2, images, general) == most
    assert automatic.start_of_fall(2 * most, images, general) == 2 * most  # a latent did switch on
    assert automatic.start_of_fall(2.0, images, Posed()) == 1.0


def test_where_there_is_time_several_seeds_are_trained(toy, monkeypatch):
    found = automatic.Threshold(80.0, ((80.0, True),), step_seconds=0.01)
    monkeypatch.setattr(automatic, "threshold", lambda *_, **__: found)
    few, many = automatic.choose(toy, 4.2, seed=5), automatic.choose(toy, 4.8, seed=5)
    assert few.seeds == (5,)
    assert any("too few for 3 seeds of 8,000 steps" in said for said in few.reasons)
    assert many.seeds == (5, 6, 7)
    assert [config.seed for config in many.configs] == [5, 6, 7]
    assert many.config.steps == pytest.approx(0.9 * 4.8 * 60 / 0.01 / 3, rel=0.05)
    assert len(automatic.choose(toy, 0.1, seeds=2).seeds) == 2
    with pytest.raises(ConfigError, match="seeds must be 1 or more, found 0"):
        automatic.choose(toy, 1.0, seeds=0)


def test_the_seed_is_taken_that_the_others_agree_with_most():
    found = automatic.Agreement(centrality=(0.8, 0.9, 0.5), udr=(0.3, 0.3, 0.6))
    assert found.chosen == 1


@pytest.mark.parametrize("minutes", [0.0, -1.0, math.nan])
def test_no_time_is_refused(minutes, toy):
    with pytest.raises(ConfigError, match="minutes must be above 0"):
        automatic.choose(toy, minutes)


def test_the_command_says_what_it_chose_and_trains_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(automatic, "TRIAL_STEPS", 2)
    monkeypatch.setattr(automatic, "TRIALS", 1)
    monkeypatch.setattr(automatic, "FEWEST_STEPS", 3)
    found = automatic.Threshold(9.0, ((9.0, True),), step_seconds=1.0)
    monkeypatch.setattr(automatic, "threshold", lambda *_, **__: found)
    images = (np.random.default_rng(0).random((30, 20, 20)) * 255).astype(np.uint8)
    np.save(tmp_path / "images.npy", images)
    words = ["train", "auto", "--data", str(tmp_path / "images.npy"), "--minutes", "0.01"]
    out = tmp_path / "run"
    assert main([*words, "--out", str(out), "--no-evaluation", "--evaluations", "0"]) == 0
    said = capsys.readouterr().out
    assert "- network patches_any" in said
    start = load(out).config.method.kl_weight.start
    seen = automatic.some_images(load_data(str(tmp_path / "images.npy")), seed=0)
    assert start == automatic.start_of_fall(9.0, seen, PatchesAny())
    assert start > 9
    assert f"KL weight from {start:.3g} to 1" in said
    assert main(["train", "auto", "--data", "toy_xys", "--minutes", "0"]) == 2
    assert main([*words, "--out", str(out), "--no-evaluation", "--seeds", "2"]) == 0
    said = capsys.readouterr().out
    assert "2 seeds, as asked for" in said
    assert "seed 1: ModelCentrality" in said
    assert [load(f"{out}-s{seed}").config.seed for seed in (0, 1)] == [0, 1]


def test_images_in_memory_are_chosen_for_as_well(monkeypatch):
    found = automatic.Threshold(9.0, ((9.0, True),), step_seconds=1.0)
    monkeypatch.setattr(automatic, "threshold", lambda *_, **__: found)
    data = from_arrays(np.random.default_rng(0).random((12, 3, 64, 48), dtype=np.float32))
    config = automatic.choose(data, 1.0, machine=Machine(threads=1)).config
    assert config.architecture == PatchesAny(block=2)
    assert config.data == data.name
