"""A run continued on other images."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import known_models
from unweave.applications import transfer
from unweave.cli import main
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError
from unweave.runs.wrapped import wrap

FEW = {"steps": 3, "rows": 100, "batch_size": 8}


def test_networks_that_are_continued_leave_the_runs_own_alone(tiny_run, toy):
    run = tiny_run("vae")
    before = {name: tensor.clone() for name, tensor in run.nets.state_dict().items()}
    state = torch.random.get_rng_state()
    settings = transfer.Settings(**FEW)
    after = transfer.continued(run, run.nets, toy, settings, 1e-2)
    assert all(torch.equal(tensor, before[name]) for name, tensor in run.nets.state_dict().items())
    assert any(not torch.equal(t, before[n]) for n, t in after.nets.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), state)
    again = transfer.continued(run, run.nets, toy, settings, 1e-2)
    assert np.array_equal(after.encode(toy.images([3])), again.encode(toy.images([3])))


def test_training_on_new_images_learns_to_decode_them(tiny_run, toy):
    """Inverted squares: a decoder of white squares on black is of no use until it is trained on."""
    run = tiny_run("vae")
    inverted = from_arrays(1 - toy.images(np.arange(0, 1024, 4))[:, 0], name="inverted")
    settings = transfer.Settings(steps=25, batch_size=16, rows=50)
    before = transfer._on_target(run, inverted, settings)
    after = transfer.continued(run, run.nets, inverted, settings, 3e-3)
    found = transfer._on_target(after, inverted, settings)
    assert before["explained"] < 0
    assert found["explained"] > before["explained"] + 0.5


def test_the_command_compares_before_after_and_alone(tiny_run, toy, tmp_path, capsys):
    for row in range(0, 1024, 30):
        pixels = (toy.images([row])[0, 0] * 255).astype(np.uint8)
        Image.fromarray(pixels).resize((48, 48)).save(tmp_path / f"{row:04d}.png")
    words = ["apply", "transfer", str(tiny_run("vae").path), "--target", str(tmp_path)]
    few = ["--steps", "2", "--rows", "60", "--batch-size", "8", "--out", str(tmp_path / "found")]
    assert main([*words, *few]) == 0
    assert "trained on the new images alone" in capsys.readouterr().out
    content = json.loads((tmp_path / "found/transfer.json").read_text())
    assert set(content["numbers"]["on_the_target"]) == {
        "before",
        "after",
        "trained on the new images alone",
    }
    assert any("no factors" in caveat for caveat in content["caveats"])


def test_factors_of_the_new_images_are_read_where_they_are_known(tiny_run):
    found = transfer.apply(tiny_run("vae"), transfer.Settings(target="toy_xys", **FEW))
    assert found.numbers["pixels"] > 0.5
    assert found.numbers["same_latents"].shape == (4,)
    assert found.numbers["on_the_target"]["after"]["r2"] is not None


def test_a_model_that_cannot_be_trained_on_is_judged_as_it_is(toy):
    model = known_models.separated(toy)
    found = transfer.apply(model, transfer.Settings(target="toy_xys", rows=200))
    assert list(found.numbers["on_the_target"]) == ["as it is"]
    assert found.numbers["on_the_target"]["as it is"]["r2"] > 0.99
    assert found.numbers["codes_of_other_images"] < 0.1
    assert "same_latents" not in found.numbers
    assert "was not trained on toy_xys" in found.paragraph
    assert any("not known" in caveat for caveat in found.caveats)


def test_an_encoder_without_decoder_needs_factors_to_be_judged_by(toy, tmp_path):
    bare = wrap(known_models.standard, toy, takes="arrays", name="mine")
    told = transfer.apply(bare, transfer.Settings(target="toy_xys", rows=200))
    assert told.numbers["on_the_target"]["as it is"]["explained"] is None
    assert told.figure is not None
    np.save(tmp_path / "new.npy", toy.images(np.arange(40))[:, 0])
    with pytest.raises(DataError, match="no factors with an order and mine no decoder"):
        transfer.apply(bare, transfer.Settings(target=str(tmp_path / "new.npy")))


def test_what_cannot_be_judged_on_other_images_is_refused(tiny_run):
    with pytest.raises(ConfigError, match="to which images"):
        transfer.apply(tiny_run("vae"))
    with pytest.raises(DataError, match=r"takes \(1, 32, 32\)"):
        transfer.apply(tiny_run("vae"), transfer.Settings(target="pendulum"))
