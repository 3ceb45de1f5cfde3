"""The likelihood is chosen by the images, said, and kept in the run."""

import json

import numpy as np
import pytest
import torch

import unweave as uw
from unweave import catalog
from unweave.data import from_arrays, load_data
from unweave.methods import method_named
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.i_vae import IVAE
from unweave.networks.patches_any import PatchesAny
from unweave.runs.config import Machine, Train
from unweave.training.loop import resolved

LIKELIHOODS = ("auto", "bernoulli", "calibrated")
QUIET = {"machine": Machine(threads=1, evaluations=0), "evaluate": False}


def own_images(kind: str):
    rng = np.random.default_rng(0)
    if kind == "colour":
        return from_arrays(rng.integers(0, 256, (40, 16, 16, 3), dtype=np.uint8))
    if kind == "grey":
        return from_arrays(rng.random((40, 16, 16)).astype(np.float32))
    black_and_white = (rng.random((40, 16, 16)) > 0.5).astype(np.uint8)
    return from_arrays(black_and_white if kind == "black and white" else black_and_white * 255)


@pytest.mark.parametrize(
    ("kind", "likelihood"),
    [
        ("colour", "calibrated"),
        ("grey", "calibrated"),
        ("black and white", "auto"),
        ("0 and 255", "auto"),
    ],
)
def test_own_images_decide_by_their_greys(kind, likelihood):
    method = BetaVAE().settled(10, own_images(kind))
    assert method.likelihood == likelihood


@pytest.mark.parametrize("name", ["dsprites", "color_dsprites", "glyphs", "faces"])
def test_known_sets_keep_what_papers_use(name):
    assert BetaVAE().settled(10, load_data(name)).likelihood == "auto"


AUTOENCODERS = [
    name
    for name in catalog.names("unweave.methods")
    if getattr(method_named(name)(), "likelihood", "") == "auto"
]


@pytest.mark.parametrize("name", AUTOENCODERS)
def test_every_method_that_leaves_it_open_decides_by_the_images(name):
    rng = np.random.default_rng(0)
    columns = {"label": np.tile(["a", "b"], 20), "segment": np.repeat([0, 1], 20)}
    images = rng.integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)
    assert (
        method_named(name)().settled(100, from_arrays(images, columns)).likelihood == "calibrated"
    )


def test_most_methods_are_looked_at():
    assert {"vae", "beta_vae", "cooled_tcvae", "m2", "aae", "ada_gvae"} <= set(AUTOENCODERS)


def test_what_is_undecided_takes_the_same_steps_as_bernoulli(toy):
    """Blocks of pixels included, of which bernoulli needs the means alone."""
    images = torch.from_numpy(toy.images(np.arange(8)))
    torch.manual_seed(0)
    nets = BetaVAE().networks(PatchesAny(), toy.summary)
    z = torch.randn(8, 10)
    sums = [BetaVAE(likelihood=name).reconstruction(nets, z, images) for name in LIKELIHOODS]
    assert torch.equal(sums[0], sums[1])
    assert not torch.equal(sums[0], sums[2])


def test_a_choice_of_ones_own_stays():
    colour = own_images("colour")
    for likelihood in ("bernoulli", "gaussian", "laplace"):
        assert BetaVAE(likelihood=likelihood).settled(10, colour).likelihood == likelihood
    assert IVAE().settled(10, colour).likelihood == "gaussian"


def test_digits_with_grey_edges_count_as_black_and_white():
    glyphs = load_data("glyphs")
    assert from_arrays(glyphs.images(np.arange(0, 100_000, 500))).is_black_and_white
    assert not from_arrays(load_data("faces").images(np.arange(0, 17_000, 90))).is_black_and_white


def test_runs_on_black_and_white_images_keep_their_names():
    """The names that studies give to folders, made before there was a choice."""
    data = load_data("toy_xys")
    config = Train(method=BetaVAE(), data="toy_xys")
    assert resolved(config, data).run_name == "beta_vae-toy_xys-3c047a32-s0"
    assert config.run_name == "beta_vae-toy_xys-eb44254c-s0"


def test_the_run_says_what_was_chosen(tmp_path, capsys):
    run = uw.train(
        BetaVAE(latent_dim=2), own_images("colour"), steps=1, batch_size=4, out=tmp_path / "run",
        progress=True, **QUIET,
    )  # fmt: skip
    kept = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["method"]
    assert kept["likelihood"] == "calibrated"
    assert (
        "likelihood calibrated, as these images are not black and white" in capsys.readouterr().err
    )
    again = uw.load(tmp_path / "run", data=run.data)
    assert again.config.method.likelihood == "calibrated"


def test_nothing_is_said_where_nothing_was_chosen(tmp_path, capsys):
    uw.train(
        BetaVAE(latent_dim=2), "toy_xys", steps=1, batch_size=4, out=tmp_path / "run",
        progress=True, **QUIET,
    )  # fmt: skip
    assert "likelihood" not in capsys.readouterr().err


def test_a_rendering_is_named_as_one_when_it_is_trained_on(tmp_path, capsys):
    uw.train(
        BetaVAE(latent_dim=2), "shapes3d", steps=1, batch_size=4, out=tmp_path / "run",
        progress=True, **QUIET,
    )  # fmt: skip
    assert "shapes3d: rendered here in the manner of 3D Shapes" in capsys.readouterr().err
