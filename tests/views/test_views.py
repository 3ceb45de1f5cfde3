"""Views say what is known of models whose codes are known."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import known_models
from unweave import views
from unweave.data import Factor, FactorImages, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.aae_clustering import AAEClustering
from unweave.methods.aae_semi_supervised import AAESemiSupervised
from unweave.methods.m2 import M2
from unweave.runs.config import Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run, load
from unweave.runs.wrapped import wrap
from unweave.training import loop
from unweave.views.responses import position_pair


def as_json(view):
    """Return what a reader of the JSON gets; fails on what JSON has no word for."""
    return json.loads(json.dumps(view.to_json(), allow_nan=False))


def test_lines_are_ordered_by_kl_and_dead_latents_come_last(toy):
    def hardly_dead(images):
        codes = known_models.standard(images)
        codes[:, 3] = 1e-3 * codes[:, 0]
        return codes

    def posterior(images):
        return hardly_dead(images), known_models.posterior(images)[1]

    def decode(codes):
        return known_models.draw(toy, codes)

    model = wrap(hardly_dead, toy, decode=decode, posterior=posterior)
    view = views.traversals(model, codes=views.sample_codes(model, 200))
    assert view.labels[-1] == "z3"
    assert (np.diff(view.kl) <= 0).all()
    assert view.kl[-1] == pytest.approx(0, abs=1e-5)


def test_the_middle_of_a_traversal_around_the_start_is_the_start(separated, toy):
    start = toy.images([300])[0]
    view = views.traversals(separated, start, ranges="around", steps=7)
    np.testing.assert_array_equal(view.start, separated.encode(start[None])[0])
    for line in range(3):
        np.testing.assert_array_equal(view.images[line, 3], view.start_image)
    assert (view.nearest == 3).all()


def test_a_latent_that_is_the_same_for_every_image_is_shown_only_if_asked_for(separated, codes):
    assert sorted(views.traversals(separated, codes=codes).latents) == [0, 1, 2]
    assert views.traversals(separated, codes=codes, latents=[3]).latents.tolist() == [3]


def test_a_line_changes_its_own_factor_only(separated, toy):
    view = views.traversals(separated, toy.images([300])[0], latents=[1], steps=9)
    found = known_models.read_factors(view.images[0])
    assert len(np.unique(found[:, 0])) == 1
    assert len(np.unique(found[:, 2])) == 1
    assert (np.diff(found[:, 1]) >= 0).all()
    assert len(np.unique(found[:, 1])) > 5


def test_ranges_are_where_they_say(separated, codes):
    fixed = views.traversals(separated, "prior", reach=1.5, steps=4)
    np.testing.assert_allclose(fixed.values[0], [-1.5, -0.5, 0.5, 1.5])
    prior = views.traversals(separated, "prior", ranges="prior", steps=3, codes=codes)
    np.testing.assert_allclose(prior.values, np.tile([-1.645, 0, 1.645], (3, 1)), atol=0.05)
    data = views.traversals(
        separated, "prior", ranges="posterior", quantiles=(0, 1), steps=2, latents=[2], codes=codes
    )
    # The side's codes lie within ±1.5, drawn with a deviation of e^-1.
    assert -3.5 < data.values[0, 0] < -1.5 < 1.5 < data.values[0, 1] < 3.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"ranges": "priors"},
        {"steps": 1},
        {"reach": -1.0},
        {"quantiles": (0.9, 0.1)},
        {"latents": [7]},
        {"start": np.zeros(9)},
        {"start": "posterior"},
        {"start": np.full(4, np.nan)},
    ],
)
def test_impossible_traversals_are_refused(separated, codes, wrong):
    with pytest.raises((ConfigError, DataError)):
        views.traversals(separated, codes=codes, **wrong)


def test_kl_is_that_of_the_posterior(separated, codes):
    view = views.kl_per_dimension(separated, codes)
    mean, logvar = known_models.posterior(separated.data.images(codes.rows))
    expected = 0.5 * (mean**2 + np.exp(logvar) - 1 - logvar).mean(0)
    np.testing.assert_allclose(view.kl, expected, rtol=1e-4)
    assert view.active.tolist() == [True, True, True, False]
    assert view.order[-1] == 3


@pytest.mark.parametrize("kind", ["mi", "dci"])
def test_heat_maps_pair_each_factor_with_its_latent(separated, codes, kind):
    view = views.heat_map(separated, kind, codes)
    assert view.factors == ["x", "y", "side"]
    assert view.values.shape == (3, 4)
    assert view.values.argmax(1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(view.values.max(1), 1, atol=0.02)
    assert view.values[:, 3].max() < 0.01


def test_a_heat_map_is_that_of_the_stored_score(separated, monkeypatch):
    details = {
        "factor_names": ["x", "y"],
        "mutual_information": [[1.0, 0.0], [0.5, 2.0], [0.0, 0.0], [2.0, 1.0]],
        "factor_entropy": [2.0, 4.0],
    }
    stored = {"mig": {"value": 0.5, "protocol": "p", "details": details}}
    monkeypatch.setattr(separated, "_scores", stored)
    view = views.heat_map(separated)
    np.testing.assert_allclose(view.values, [[0.5, 0.25, 0.0, 1.0], [0.0, 0.5, 0.0, 0.25]])
    assert (view.protocol, view.factors) == ("p", ["x", "y"])


def test_latents_respond_to_their_own_factor_on_a_grid(separated):
    view = views.latent_response(separated)
    assert (view.position.across, view.position.down) == ("x", "y")
    x_map, y_map = view.position.means[0], view.position.means[1]
    assert np.ptp(x_map, axis=0).max() < 1e-6 < np.ptp(x_map, axis=1).min()
    assert np.ptp(y_map, axis=1).max() < 1e-6 < np.ptp(y_map, axis=0).min()
    (side,) = view.lines
    assert side.factor == "side"
    assert side.value_labels == ["5", "8", "11", "14"]
    np.testing.assert_allclose(side.means[2, 0], [-1.5, -0.5, 0.5, 1.5], atol=1e-6)
    assert side.spread[2].max() < 1e-6 < side.spread[0].min()


def test_latents_respond_to_the_rows_of_a_table(toy):
    rng = np.random.default_rng(0)
    rows = rng.choice(len(toy), 600, replace=False)
    loose = toy.subset(rows)
    view = views.latent_response(known_models.separated(loose))
    means = view.position.means[0]
    assert means.shape == (16, 16)
    filled = np.isfinite(means)
    columns = np.broadcast_to((np.arange(16) - 7.5) / 4, (16, 16))
    np.testing.assert_allclose(means[filled], columns[filled], atol=1e-6)
    assert as_json(view)["position"]["means"]


def test_lines_are_split_by_the_categorical_factor():
    factors = (Factor("kind", 2, ("a", "b"), categorical=True), Factor("level", 5))
    images = np.arange(10, dtype=np.uint8).reshape(10, 1, 1).repeat(8, 1).repeat(8, 2) * 20
    own = from_arrays(images)
    data = FactorImages("own", own.pixels, factors)
    model = wrap(lambda part: part[:, 0, :1, 0] * 255 / 20, data)
    (level,) = views.latent_response(model).lines
    assert level.classes == ["a", "b"]
    np.testing.assert_allclose(level.means[0], [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], atol=1e-4)


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (("shape", "x", "y"), (1, 2)),
        (("pos_y", "pos_x"), (1, 0)),
        (("positionX", "hue", "positionY"), (0, 2)),
        (("horizontal", "vertical"), (0, 1)),
        (("x", "pos_y"), None),
        (("scale", "hue"), None),
    ],
)
def test_positions_are_known_by_their_names(names, pair):
    data = SimpleNamespace(factor_names=names, factor_list=[Factor(name, 4) for name in names])
    assert position_pair(data) == pair


def test_a_scatter_has_the_factor_and_the_code_of_the_same_image(separated, codes):
    view = views.scatter(separated, 0, "x", codes, points=100)
    assert len(view.values) == 100
    np.testing.assert_allclose(view.codes, (view.values - 7.5) / 4, atol=1e-6)
    with pytest.raises(ConfigError, match="side"):
        views.scatter(separated, 0, "sides", codes)


def test_swaps_take_content_by_line_and_style_by_column(separated, toy):
    view = views.swap_grid(separated, 3, 4)
    assert view.images.shape == (3, 4, 1, 32, 32)
    content = known_models.read_factors(view.content_images)
    style = known_models.read_factors(view.style_images)
    for i in range(3):
        for j in range(4):
            expected = [content[i, 0], content[i, 1], style[j, 2]]
            assert known_models.read_factors(view.images[i, j : j + 1])[0].tolist() == expected


@pytest.mark.parametrize(
    "method",
    [
        AAEClustering(latent_dim=2, clusters=4, discriminator_width=8),
        AAESemiSupervised(latent_dim=2, label="side", discriminator_width=8),
        M2(latent_dim=2, label="side", hidden=8),
    ],
    ids=["clusters", "aae_semi_supervised", "m2"],
)
def test_a_method_with_a_class_or_cluster_and_a_style_swaps_them(method, toy):
    config = Train(method=method, data="toy_xys", steps=1)
    run = Run(config, toy.summary, loop.make_networks(config, toy), step=0, data=toy)
    images = toy.images([0, 500])
    codes = run.encode(images)
    if isinstance(method, AAEClustering):  # whose decoder has never seen a blend of clusters
        codes[:, :4] = np.eye(4)[codes[:, :4].argmax(1)]
    np.testing.assert_allclose(run.swap(images, images), run.decode(codes), atol=1e-6)
    content, style = codes[:1], codes[1:]
    mixed = np.concatenate([content[:, :4], style[:, 4:]], axis=1)
    np.testing.assert_allclose(run.swap(images[:1], images[1:]), run.decode(mixed), atol=1e-6)
    view = views.swap_grid(run, content_images=images[:1], style_images=images)
    np.testing.assert_allclose(view.images[0, 1:], run.decode(mixed), atol=1e-6)


@pytest.mark.parametrize("count", [3, 4, 6])
def test_contents_are_of_as_many_classes_as_there_are(toy, count):
    config = Train(method=M2(latent_dim=2, label="side", hidden=8), data="toy_xys", steps=1)
    run = Run(config, toy.summary, loop.make_networks(config, toy), step=0, data=toy)
    shown = views.swap_grid(run, count, 2)
    sides = known_models.read_factors(shown.content_images)[:, 2]
    assert sides.tolist() == sorted(sides)
    assert (
        sorted(np.unique(sides, return_counts=True)[1])[::-1]
        == {
            3: [1, 1, 1],
            4: [1, 1, 1, 1],
            6: [2, 2, 1, 1],
        }[count]
    )
    again, other = views.swap_grid(run, count, 2), views.swap_grid(run, count, 2, seed=1)
    np.testing.assert_array_equal(shown.content_images, again.content_images)
    assert not np.array_equal(shown.content_images, other.content_images)


def test_what_tells_no_content_from_style_has_no_swaps(toy):
    with pytest.raises(ConfigError, match="content"):
        views.swap_grid(known_models.separated(toy, swap=None))


def test_mixes_take_content_by_line_and_style_by_column_of_codes_of_the_prior(toy, tiny_run):
    run = tiny_run("ml_vae")
    view = views.mixing_grid(run, 2, 3)
    codes = run.prior_codes(5)
    np.testing.assert_array_equal(view.content_images, run.decode(codes)[:2])
    np.testing.assert_array_equal(view.style_images, run.decode(codes)[2:])
    content, style = run.code.roles["content"], run.code.roles["style"]
    code = np.zeros(run.code.size)
    code[content], code[style] = codes[1, content], codes[4, style]
    np.testing.assert_allclose(view.images[1, 2], run.decode(code[None])[0], atol=1e-6)
    again, other = views.mixing_grid(run, 2, 3), views.mixing_grid(run, 2, 3, seed=1)
    np.testing.assert_array_equal(view.images, again.images)
    assert not np.array_equal(view.images, other.images)


def test_what_has_no_dimensions_of_style_has_no_mixes(separated):
    with pytest.raises(ConfigError, match="separated has no dimensions of style"):
        views.mixing_grid(separated)


def test_curves_hold_every_term_of_every_player(run):
    view = views.curves(run.folder.record())
    names = {(curve.player, curve.name) for curve in view.curves}
    assert {("autoencoder", n) for n in ("loss", "reconstruction", "kl", "capacity_gap")} < names
    assert ("evaluation", "elbo") in names
    assert view.named("loss").steps.tolist() == [1, 2, 3, 4]
    assert view.named("elbo").steps.tolist() == [2, 4]
    over_time = views.kl_over_time(run.folder.record())
    assert over_time.kl.shape == (2, 3)


def test_long_curves_are_averaged_not_cut():
    record = [{"step": step, "player": "p", "loss": float(step)} for step in range(1000)]
    curve = views.curves(record, points=10).named("loss")
    assert len(curve.steps) == 10
    np.testing.assert_allclose(curve.values, np.arange(10) * 100 + 49.5)
    assert views.kl_over_time(record).kl.size == 0


def test_rates_of_layers_come_from_evaluations_top_layer_first():
    rates = {f"rate_{i}_of_{2**i}x{2**i}": float(i) for i in (10, 0, 2, 1)}
    record = [
        {"step": 0, "player": "p"} | rates,
        {"step": 1, "kind": "diagnostics", "kl": 9.0} | rates,
        {"step": 3, "kind": "diagnostics"} | {name: 2 * rate for name, rate in rates.items()},
    ]
    view = views.layer_rates(record)
    assert view.layers == ["1x1", "2x2", "4x4", "1024x1024"]
    assert view.steps.tolist() == [2, 4]
    np.testing.assert_array_equal(view.rates, [[0, 1, 2, 10], [0, 2, 4, 20]])
    assert as_json(view)["layers"] == view.layers
    assert views.layer_rates(record[:1]).rates.size == 0


def test_names_are_kept_in_the_run_folder_and_shown(run):
    run.name_latent(1, " x position ")
    again = load(run.path)
    assert again.latent_names == {1: "x position"}
    assert views.latent_names(again).labels == ["z0", "z1 x position", "z2"]
    assert "z1 x position" in views.traversals(again, steps=2).labels
    again.name_latent(1, "")
    assert load(run.path).latent_names == {}


@pytest.mark.parametrize(("latent", "name"), [(3, "a"), (-1, "a"), (0, "a\nb"), (0, "a" * 61)])
def test_impossible_names_are_refused(run, latent, name):
    with pytest.raises(ConfigError):
        run.name_latent(latent, name)


@pytest.mark.parametrize("content", ['["a"]', '{"x": "a"}', '{"0": 3}', "{"])
def test_a_damaged_file_of_names_is_refused(tmp_path, content):
    folder = RunFolder(tmp_path)
    folder.latent_names_file.write_text(content, encoding="utf-8")
    with pytest.raises((ConfigError, DataError)):
        folder.latent_names()


def test_every_view_is_json(separated, codes, run):
    record = list(run.folder.record())
    for view in (
        views.reconstructions(separated, 2),
        views.prior_samples(separated, 2),
        views.traversals(separated, steps=2, codes=codes),
        views.swap_grid(separated, 2, 2),
        views.heat_map(separated, codes=codes),
        views.kl_per_dimension(separated, codes),
        views.kl_per_dimension(known_models.separated(separated.data, posterior=None)),
        views.latent_response(separated, settings=1),
        views.scatter(separated, 0, "x", codes),
        views.warnings(separated, codes),
        views.curves(record),
        views.kl_over_time(record),
        views.latent_names(separated),
    ):
        assert as_json(view)
    pictures = as_json(views.traversals(separated, steps=2, codes=codes))["images"]
    assert (len(pictures), len(pictures[0])) == (3, 2)
    assert pictures[0][0].startswith("data:image/png;base64,")


def test_views_of_an_own_run_and_of_a_run_without_codes_of_images(run, toy):
    assert views.warnings(run).warnings is not None
    assert views.latent_response(run, settings=1).position is not None
    from unweave.methods.ground_truth import GroundTruth

    config = Train(method=GroundTruth(), data="toy_xys", steps=1)
    nets = loop.make_networks(config, toy)
    truth = Run(config, toy.summary, nets, step=0, data=toy)
    config.method.fit(nets, toy, 0)
    assert views.heat_map(truth).values.max() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_functions_that_return_something_else_are_named(toy, shape):
    with pytest.raises(DataError, match="for 4 images; expected codes"):
        wrap(lambda images: np.zeros((len(images), *shape)), toy)
