"""Interventions in the world and in the code."""

import json

import numpy as np
import pytest

import known_models
from unweave.applications import intervene
from unweave.applications._identification import do_groups, with_products
from unweave.cli import main
from unweave.data import load_data
from unweave.errors import ConfigError
from unweave.runs.wrapped import wrap

SMALL = intervene.Settings(rows=700, pairs=60, nulls=2)


@pytest.fixture(scope="module")
def exact(toy):
    return intervene.apply(known_models.separated(toy), SMALL)


def mixing(toy):
    """Latents that mix x and y, with a decoder that undoes it."""

    def decode(codes):
        x, y = (codes[:, 0] + codes[:, 1]) / 2, (codes[:, 0] - codes[:, 1]) / 2
        return known_models.draw(toy, np.stack([x, y, codes[:, 2]], axis=1))

    return wrap(known_models.entangled(toy).encode, toy, decode=decode, name="mixing")


def test_setting_one_latent_of_a_separated_code_moves_its_factor_alone(exact):
    ratios = exact.numbers["in_the_code"]["ratios"]
    assert set(ratios) == {"x", "y", "side"}
    assert max(ratios.values()) < intervene.STILL
    everything = exact.numbers["in_the_code"]["moved"]["all latents"]
    assert min(everything.values()) > 0.1


def test_setting_a_latent_of_a_mixed_code_moves_both_factors(toy):
    found = intervene.apply(mixing(toy), SMALL)
    ratios = found.numbers["in_the_code"]["ratios"]
    assert max(ratios.get("x", 1), ratios.get("y", 1)) > 0.6
    assert "moves other factors too" in found.paragraph


def test_interventions_identify_what_a_rotation_hid(toy):
    found = intervene.apply(known_models.entangled(toy), SMALL).numbers["identification"]
    assert found["before"] < 0.9
    assert found["after"] > 0.95
    assert found["after"] > found["before"] + 0.1
    assert max(found["at_random"]) < found["after"] - 0.1


def test_curves_identify_what_straight_directions_miss(toy):
    """x bends along y, as position does in the codes of small networks."""

    def encode(images):
        x, y, side = known_models.standard(images)[:, :3].T
        return np.stack([x + 1.5 * y**2, y, side], axis=1)

    model = wrap(encode, toy, name="bent")
    found = intervene.apply(model, SMALL).numbers["identification"]
    assert found["straight"] < 0.9
    assert found["after"] > 0.97
    assert max(found["at_random"]) < found["after"] - 0.3


def test_wide_codes_are_cut_to_as_many_components_as_rows_can_tell_apart():
    codes = np.random.default_rng(0).normal(size=(1000, 200))
    features = with_products(codes, rows=500)
    assert features.shape[1] <= 500 / 10
    repeated = with_products(np.tile(codes[:, :2], 100), rows=500)
    assert repeated.shape[1] == 2 + 3
    assert np.isfinite(repeated).all()
    narrow = with_products(codes[:, :3], rows=500)
    assert narrow.shape[1] == 3 + 6


def test_a_world_of_one_changed_factor_moves_one_latent(exact):
    moved = exact.numbers["in_the_world"]
    for factor, latent in zip(("x", "y", "side"), ("z0", "z1", "z2"), strict=True):
        assert moved[factor][latent] > 0.5
        assert max(v for name, v in moved[factor].items() if name != latent) < 1e-6


def test_robustness_stands_beside_its_nulls(exact):
    irs = exact.numbers["irs"]
    assert irs["value"] > 0.9
    assert irs["value"] > max(irs["nulls"]["rotated"])


def test_what_a_factor_causes_may_move_and_what_causes_it_may_not():
    graph = {"shadow": ["sun", "rod"], "mood": ["shadow"]}
    assert intervene.related(graph, "sun") == (set(), {"shadow", "mood"})
    assert intervene.related(graph, "mood") == ({"shadow", "sun", "rod"}, set())
    moved = {"sun": {"sun": 0.5, "shadow": 0.5, "mood": 0.4, "rod": 0.05}}
    assert intervene.ratios(moved, graph)["sun"] == pytest.approx(0.1)
    assert intervene.ratios(moved, {})["sun"] == pytest.approx(1.0)


def test_effects_of_the_pendulum_are_cut_off_from_their_causes():
    """A code of the shadow alone moves under do(shadow_length), though no angle changed."""
    data = load_data("pendulum").subset(np.arange(0, 7308, 12))
    world = load_data("pendulum")

    def encode(images):
        ground = images[:, :, -6:].mean(axis=(1, 2))  # the shadow lies at the bottom
        return np.stack([ground.mean(axis=1), images[:, :, :30].mean(axis=(1, 2, 3))], axis=1)

    model = wrap(encode, world, name="shadow")
    settings = intervene.Settings(rows=120, pairs=40, nulls=1)
    found = intervene.apply(model, settings).numbers
    moved = found["in_the_world"]
    assert moved["shadow_length"]["z0"] > 5 * moved["shadow_length"]["z1"]
    assert moved["light_angle"]["z1"] > 0.05
    assert found["graph"]["shadow_length"] == ("pendulum_angle", "light_angle")
    assert len(data) > 0


def test_groups_are_rows_of_a_few_values_spread_over_the_range():
    column = np.repeat(np.arange(5), 10)
    numbers = do_groups(column, 3)
    assert {int(v) for v in np.unique(column[numbers >= 0])} == {0, 2, 4}
    smooth = np.linspace(0, 1, 1000)
    numbers = do_groups(smooth, 3)
    spread = [np.ptp(smooth[numbers == n]) for n in range(3)]
    assert max(spread) < 0.1


def test_the_command_writes_tables_and_figure(tiny_run, tmp_path, capsys):
    words = ["apply", "intervene", str(tiny_run("vae").path), "--out", str(tmp_path)]
    assert main([*words, "--rows", "100", "--pairs", "10", "--nulls", "1"]) == 0
    assert "do() in the world" in capsys.readouterr().out
    content = json.loads((tmp_path / "intervene.json").read_text())
    assert set(content["numbers"]["in_the_world"]) == {"x", "y", "side"}
    with pytest.raises(ConfigError, match="10 pairs"):
        intervene.apply(tiny_run("vae"), intervene.Settings(pairs=1))
