"""Checks that every method of the catalog passes, whichever paper it comes from."""

import copy
import dataclasses
import json
import sys

import numpy as np
import pytest
import torch

from tiny_methods import CLASSES, METHODS, STEPS, config_for, small
from unweave import catalog, devices, views, workflows
from unweave.cli._output import paper_of
from unweave.errors import ConfigError
from unweave.evaluation.encode import encode_run
from unweave.methods import method_named, turns_of
from unweave.runs.config import Machine, from_json, to_json
from unweave.runs.run import Run, load
from unweave.settings.schedules import Schedule
from unweave.training import loop
from unweave.training.game import Game

LEARNING = [name for name, kind in CLASSES.items() if kind().players]
BASELINES = [name for name in METHODS if name not in LEARNING]
CODING = [name for name, kind in CLASSES.items() if kind.codes_from != "nowhere"]
ENCODING = [name for name, kind in CLASSES.items() if kind.codes_from == "images"]
DECODING = [name for name, kind in CLASSES.items() if kind.decodes]
SWAPPING = [name for name, kind in CLASSES.items() if kind.swaps]
CPU = torch.device("cpu")


def set_up(name: str, toy):
    config = config_for(name, method=small(name).settled(STEPS, toy))
    nets = loop.make_networks(config, toy)
    devices.place(nets, CPU)
    return Run(config, toy.summary, nets, step=0, data=toy), Game(config, toy.summary, nets)


def moves(run: Run, toy, step: int):
    return loop.moves_of_step(run.config, run.nets, toy, CPU, step)


def changed(before, after) -> set[str]:
    """Return the names of the networks whose weights differ."""
    old, new = before.state_dict(), after.state_dict()
    return {key.split(".")[0] for key in old if not torch.equal(old[key], new[key])}


def columns_for_every_method(count: int) -> dict[str, np.ndarray]:
    """Return columns of a user's table that give any kind of batch."""
    rows = np.arange(count)
    together = {"group": rows // 20, "pair": rows // 2, "clip": rows // 8, "time": rows % 8}
    factors = {"azimuth": rows % 5, "light": rows // 5 % 4}
    return together | factors | {"label": np.where(rows % 3, rows % 4, np.nan)}


pytestmark = pytest.mark.usefixtures("plain_gan_is_known")


@pytest.fixture
def quiet() -> Machine:
    return Machine(evaluations=1, checkpoint_seconds=0.0)


@pytest.mark.parametrize("name", LEARNING)
def test_each_turn_moves_exactly_its_players_networks(name, toy):
    run, game = set_up(name, toy)
    players_seen = set()
    for step in range(STEPS):
        for move in moves(run, toy, step):
            before = copy.deepcopy(run.nets)
            game.play(move, step)
            movers = {turn.player for turn in turns_of(move)} or {move.player}
            owned = {network for player in movers for network in game.players[player].owns}
            assert changed(before, run.nets) == owned
            players_seen |= movers
    assert players_seen == set(run.config.method.players)


@pytest.mark.parametrize("name", sorted(set(LEARNING) & set(ENCODING)))
def test_codes_pass_gradients_on_so_that_labels_could_guide_them(name, toy):
    run, _ = set_up(name, toy)
    run.config.method.encode(run.nets, torch.from_numpy(toy.images([0, 5]))).sum().backward()
    moved = {key.split(".")[0] for key, p in run.nets.named_parameters() if p.grad is not None}
    assert moved & {network for p in run.config.method.players.values() for network in p.owns}
    assert "encoder" in moved or not hasattr(run.nets, "encoder")


@pytest.mark.parametrize("name", LEARNING)
def test_terms_are_finite_scalars(name, toy):
    run, game = set_up(name, toy)
    for step in range(3):
        for move in moves(run, toy, step):
            for turn in game.play(move, step):
                for term in (turn.loss.total, *turn.loss.terms.values()):
                    assert term.shape == ()
                    assert torch.isfinite(term)


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_record_and_resumed_equals_uninterrupted(name, toy, quiet, tmp_path):
    config = config_for(name, steps=6)
    whole = loop.start(config, toy, tmp_path / "whole", quiet)
    again = loop.start(config, toy, tmp_path / "again", quiet)
    assert list(whole.folder.record()) == list(again.folder.record())

    halfway = dataclasses.replace(config, steps=3)
    loop.start(halfway, toy, tmp_path / "halves", quiet)
    resumed = loop.resume(tmp_path / "halves", toy, quiet, steps=6)
    for key, tensor in whole.nets.state_dict().items():
        assert torch.equal(tensor, resumed.nets.state_dict()[key]), key
    terms = [line for line in whole.folder.record() if "player" in line]
    assert terms == [line for line in resumed.folder.record() if "player" in line]


@pytest.mark.parametrize("name", LEARNING)
def test_another_seed_gives_another_record(name, toy, quiet, tmp_path):
    one = loop.start(config_for(name), toy, tmp_path / "one", quiet)
    two = loop.start(config_for(name, seed=1), toy, tmp_path / "two", quiet)
    assert list(one.folder.record()) != list(two.folder.record())


@pytest.mark.parametrize("name", CODING)
def test_a_run_loads_back_with_the_codes_of_its_rows(name, toy, tiny_run):
    trained = tiny_run(name)
    run = load(trained.path)
    codes = run.encode_rows(np.arange(5))
    assert codes.shape == (5, run.latent_dim)
    assert codes.dtype == np.float32
    np.testing.assert_array_equal(codes, trained.encode_rows(np.arange(5)))
    if name in ENCODING:
        np.testing.assert_array_equal(codes, run.encode(toy.images(np.arange(5))))
    encoded = encode_run(run, rows=20)
    assert encoded.codes.shape == (20, run.latent_dim)


@pytest.mark.parametrize("name", sorted(set(ENCODING) & set(DECODING)))
def test_a_run_loads_back_and_encodes_as_it_was_trained(name, toy, tiny_run):
    trained = tiny_run(name)
    run = load(trained.path)
    images = toy.images(np.arange(5))
    codes = run.encode(images)
    assert codes.shape == (5, run.code.size)
    assert codes.dtype == np.float32
    np.testing.assert_array_equal(codes, trained.encode(images))
    drawn = run.draw_codes(images)
    assert drawn.shape == codes.shape
    assert np.isfinite(drawn).all()
    assert run.reconstruct(images).shape == images.shape
    assert run.traverse(images[0], steps=7).shape == (run.code.size, 7, *toy.image_shape)


@pytest.mark.parametrize("name", DECODING)
def test_a_run_loads_back_and_draws_the_images_it_drew(name, toy, tiny_run):
    trained = tiny_run(name)
    run = load(trained.path)
    codes = run.prior_codes(5)
    assert codes.shape == (5, run.code.size)
    decoded = run.decode(codes)
    assert decoded.shape == (5, *toy.image_shape)
    assert 0 <= decoded.min() <= decoded.max() <= 1
    np.testing.assert_array_equal(decoded, trained.decode(codes))
    np.testing.assert_array_equal(run.sample(3), trained.sample(3))


@pytest.mark.parametrize("name", METHODS)
def test_a_code_is_described_as_it_is(name, toy):
    run, _ = set_up(name, toy)
    run.config.method.fit(run.nets, toy, 0)
    code = run.code
    assert [d for unit in code.units for d in unit.dimensions] == list(range(code.size))
    assert {unit.factor for unit in code.units} <= {"", *toy.factor_names}
    tables = [run.encode_rows(np.arange(8))] if name in CODING else []
    tables += [run.prior_codes(8)] if name in DECODING else []
    for table in tables:
        assert table.shape[1] == code.size
        for unit in code.units:
            if unit.kind == "category":
                chances = table[:, list(unit.dimensions)]
                assert (chances >= 0).all()
                np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", SWAPPING)
def test_a_swap_gives_images_and_the_parts_of_a_code_are_all_of_it(name, toy):
    run, _ = set_up(name, toy)
    images = toy.images(np.arange(4))
    assert run.swap(images[:2], images[2:]).shape == (2, *toy.image_shape)
    roles = run.code.roles
    if roles:
        assert set(roles) == {"content", "style"}
        assert sorted(d for part in roles.values() for d in part) == list(range(run.latent_dim))


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_takes_no_turn_and_leaves_a_whole_run(name, toy, quiet, tmp_path):
    run = loop.start(config_for(name, steps=20_000), toy, tmp_path / "run", quiet)
    assert not [line for line in run.folder.record() if "player" in line]
    assert run.folder.status()["state"] == "done"
    assert run.folder.networks_file.is_file()
    assert run.folder.checkpoint_file.is_file()
    assert run.step == load(tmp_path / "run").step == 20_000


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(DECODING)))
def test_without_a_decoder_images_are_refused_and_no_picture_is_drawn(name, toy, tmp_path):
    run = workflows.train_config(
        config_for(name), toy, tmp_path / "run", evaluate=False, progress=False
    )
    assert not list((run.path / "figures").rglob("*.png"))
    for wish in (lambda: run.sample(2), lambda: run.decode(run.encode_rows(np.arange(2)))):
        with pytest.raises(ConfigError, match=f"{name} has no decoder"):
            wish()


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(ENCODING)))
def test_without_an_encoder_images_are_refused(name, toy, quiet, tmp_path):
    run = loop.start(config_for(name), toy, tmp_path / "run", quiet)
    for wish in (run.encode, run.draw_codes, run.reconstruct):
        with pytest.raises(ConfigError, match=f"{name} has no codes of images"):
            wish(toy.images([0]))
    assert run.posterior(toy.images([0])) is None


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(CODING)))
def test_without_codes_a_run_is_trained_drawn_and_told_what_cannot_be_scored(name, toy, tmp_path):
    run = workflows.train_config(config_for(name), toy, tmp_path / "run", progress=False)
    drawn = {path.stem for path in run.folder.figures.glob("*.png")}
    assert drawn == {"traversals", "prior_samples"}
    scores = run.scores
    assert scores
    assert all(f"{name} has no codes" in entry["reason"] for entry in scores.values())
    with pytest.raises(ConfigError, match=f"{name} has no codes"):
        run.encode_rows(np.arange(2))


@pytest.mark.parametrize("name", METHODS)
def test_settings_survive_json(name):
    config = config_for(name)
    assert from_json(json.loads(json.dumps(to_json(config)))) == config


def module_of(name: str):
    return catalog.load("unweave.methods", name.partition("+")[0], "method")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_documented(name):
    method = CLASSES[name]
    module = sys.modules[method.__module__] if name == "plain_gan" else module_of(name)
    assert module.__doc__.count("\n\n") >= 1, "say what it is, then cite the paper"
    assert paper_of(module), "say where the paper is: arXiv:…, openreview:… or doi:…"
    # Only a baseline may have nothing to turn.
    knobs = {f.name for f in dataclasses.fields(method)} | ({""} if name in BASELINES else set())
    assert method.main_knob in knobs


@pytest.mark.parametrize("name", ENCODING)
def test_a_method_trains_on_color_images_of_odd_size(name, quiet, tmp_path):
    from unweave.data import from_arrays

    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(40, 20, 27, 3), dtype=np.uint8)
    data = from_arrays(images, columns_for_every_method(len(images)))
    run = loop.start(config_for(name, data="arrays"), data, tmp_path / "run", quiet)
    codes = run.encode(data.images([0, 1]))
    assert codes.shape == (2, run.latent_dim)
    if name in DECODING:
        assert run.decode(codes).shape == (2, 3, 20, 27)


def weights_of(name: str) -> list[str]:
    """List the settings of a method that weigh a term of its loss."""
    words = ("beta", "gamma", "alpha", "lambda", "weight", "decay", "capacity")
    numbers = (Schedule, Schedule | None, float)
    return [
        field.name
        for field in dataclasses.fields(CLASSES[name])
        if field.type in numbers and any(word in field.name for word in words)
    ]


@pytest.mark.parametrize(
    ("name", "weight"), [(name, weight) for name in METHODS for weight in weights_of(name)]
)
def test_a_negative_weight_is_refused(name, weight):
    method = CLASSES[name]
    if method.__name__ == "InfoVAE" and weight == "alpha":
        return  # it weighs the KL by 1 - alpha: see test_info_vae.py
    fields = {field.name: field.type for field in dataclasses.fields(method)}
    values = [-1.0] if fields[weight] is float else [-1.0, "4:-1:10", "-1:4:10"]
    for value in values:
        with pytest.raises(ConfigError, match=f"^{weight} must be 0 or more, found -?[0-9.:-]+$"):
            method(**{weight: value})


def test_unknown_method_names_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'beta_vae'"):
        method_named("betavae")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_looked_at(name, toy):
    run, _ = set_up(name, toy)
    run.config.method.fit(run.nets, toy, 0)
    codes = None
    if name in CODING:
        codes = views.sample_codes(run, 64)
        assert np.isfinite(codes.codes).all()
        assert sorted(views.kl_per_dimension(run, codes).order) == list(range(run.latent_dim))
        assert all(warned.message for warned in views.warnings(run, codes).warnings)
    if name in DECODING:
        shown = views.traversals(run, latents=[0, run.latent_dim - 1], steps=4, codes=codes)
        assert shown.images.shape == (2, 4, *toy.image_shape)
        assert 0 <= shown.images.min() <= shown.images.max() <= 1
