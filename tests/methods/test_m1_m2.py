"""M1+M2: which stage learns what, of draws and of means."""

import math

import numpy as np
import pytest
import torch

from unweave.batches import Batch, LabelledBatch
from unweave.data import DataSummary, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.m1_m2 import M1M2, Scale
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.training import loop

METHOD = M1M2(latent_dim=2, code_dim=4, hidden=8, first_stage_steps=3)
SUMMARY = DataSummary((1, 8, 8), 50, {"kind": 3})
IMAGES = torch.rand(12, 1, 8, 8, generator=torch.Generator().manual_seed(0))
BATCH = LabelledBatch(
    IMAGES[:6],
    50,
    labels=torch.tensor([0.0, 1, 2, 0, 1, 2])[:, None],
    labelled=10,
    unlabelled=Batch(IMAGES[6:], 50),
)


@pytest.fixture
def nets():
    torch.manual_seed(0)
    nets = METHOD.networks(MLP64(hidden=16), SUMMARY)
    for p in nets.encoder.parameters():
        p.data.mul_(4)  # so that its means differ from image to image
    return nets


def turn(nets, step: int):
    torch.manual_seed(1)
    (found,) = METHOD.turns(nets, BATCH, step)
    return found


def test_the_first_stage_is_a_vae_of_all_images(nets):
    found = turn(nets, 2)
    assert found.player == "m1"
    vae = VAE(latent_dim=4)
    torch.manual_seed(1)
    expected = vae.loss(nets, BATCH.unlabelled, 2)
    torch.testing.assert_close(found.loss.total, expected.total)


def test_the_second_stage_teaches_the_first_nothing(nets):
    turn(nets, 2)
    found = turn(nets, 3)
    assert found.player == "m2"
    found.loss.total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())
    assert all(p.grad is None for p in nets.decoder.parameters())
    for name in METHOD.players["m2"].owns:
        assert any(p.grad.abs().sum() > 0 for p in getattr(nets, name).parameters())


def test_the_second_stage_is_the_bound_of_m2_of_codes(nets):
    turn(nets, 2)
    t = turn(nets, 3).loss.terms
    expected = 0.8 * t["unlabelled_bound"] + 0.2 * t["labelled_bound"] + t["classification"]
    torch.testing.assert_close(turn(nets, 3).loss.total, expected)
    codes = METHOD.codes(nets, IMAGES)
    log_q, bounds = METHOD.every_class(nets, codes)
    # U ≥ -log Σ_y exp(-L), with equality where q is the posterior.
    q = (-bounds).softmax(1)
    torch.testing.assert_close((q * (bounds + q.log())).sum(1), -(-bounds).logsumexp(1))
    assert ((log_q.exp() * (bounds + log_q)).sum(1) >= -(-bounds).logsumexp(1) - 1e-4).all()


def test_draws_teach_and_means_are_encoded(nets):
    for step in range(3):
        turn(nets, step)
    torch.manual_seed(1)
    one, two = (METHOD.codes(nets, IMAGES, drawn=True) for _ in range(2))
    assert not torch.equal(one, two)
    assert torch.equal(METHOD.encode(nets, IMAGES), METHOD.encode(nets, IMAGES))
    means = nets.scale(nets.encoder(IMAGES).mean)
    y, style = METHOD.class_and_style(nets, means)
    torch.testing.assert_close(METHOD.encode(nets, IMAGES), torch.cat([y, style.mean], dim=1))


def test_the_scale_is_that_of_the_means_and_silent_numbers_are_left_out():
    torch.manual_seed(0)
    scale = Scale(3)
    wide = torch.tensor([2.0, 0.5, 0.05])
    for _ in range(100):
        scale.follow(torch.tensor([1.0, -3.0, 0.5]) + wide * torch.randn(64, 3))
    torch.testing.assert_close(scale.mean, torch.tensor([1.0, -3.0, 0.5]), atol=0.05, rtol=0)
    torch.testing.assert_close(scale.variance.sqrt(), wide, atol=0.05, rtol=0.05)
    assert scale.kept.tolist() == [1, 1, 0]
    codes = torch.tensor([1.0, -3.0, 0.5]) + wide * torch.randn(1000, 3)
    scaled = scale(codes)
    torch.testing.assert_close(scaled[:, :2].std(0), torch.ones(2), atol=0.1, rtol=0)
    assert (scaled[:, 2] == 0).all()
    back = scale.back(scaled)
    torch.testing.assert_close(back[:, :2], codes[:, :2])
    assert (back[:, 2] == scale.mean[2]).all()
    scale.variance.fill_(1e-4)
    assert scale.kept.tolist() == [1, 1, 1], "where none says anything, there is no choice"


def test_few_batches_are_scaled_by_all_of_them():
    torch.manual_seed(0)
    codes = torch.randn(5, 8, 2) * 3 + torch.randn(5, 1, 2)
    scale = Scale(2)
    for batch in codes:
        scale.follow(batch)
    every = codes.reshape(-1, 2)
    torch.testing.assert_close(scale.mean, every.mean(0))
    torch.testing.assert_close(scale.variance, every.var(0, correction=0))


def test_numbers_that_are_left_out_cost_nothing(nets):
    for step in range(3):
        turn(nets, step)
    nets.scale.variance.copy_(torch.tensor([1.0, 1.0, 1e-4, 1e-4]))
    codes, y = METHOD.codes(nets, IMAGES), torch.eye(3)[torch.arange(12) % 3]
    torch.manual_seed(1)
    before = METHOD.bounds(nets, codes, y)
    nets.code_decoder[-1].bias.data[2:4] += 5  # the means of what is left out
    torch.manual_seed(1)
    torch.testing.assert_close(METHOD.bounds(nets, codes, y), before)
    nets.code_decoder[-1].bias.data[:2] += 5
    torch.manual_seed(1)
    assert (METHOD.bounds(nets, codes, y) - before).abs().min() > 0.1


def test_one_class_leaves_a_vae_of_codes():
    """With a single class -log p(y) is 0, and U is the bound of that class."""
    torch.manual_seed(0)
    nets = METHOD.networks(MLP64(hidden=16), DataSummary((1, 8, 8), 50, {"kind": 1}))
    codes = torch.randn(5, 4)
    torch.manual_seed(1)
    log_q, bounds = METHOD.every_class(nets, codes)
    assert torch.equal(log_q, torch.zeros(5, 1))
    torch.manual_seed(1)
    torch.testing.assert_close(bounds[:, 0], METHOD.bounds(nets, codes, torch.ones(5, 1)))
    assert math.log(nets.classes.probabilities.item()) == 0


def test_images_are_decoded_through_both_models(nets):
    turn(nets, 0)
    codes = METHOD.encode(nets, IMAGES)
    inner = nets.scale.back(METHOD.made_of(nets, codes).mean)
    torch.testing.assert_close(METHOD.decode(nets, codes), nets.decoder(inner).sigmoid())
    torch.manual_seed(0)
    assert not torch.equal(METHOD.draw_images(nets, codes), METHOD.decode(nets, codes))


def test_half_of_a_run_is_the_first_stage_unless_said(toy, tmp_path):
    assert M1M2().settled(100, toy).first_stage_steps == 50
    assert METHOD.settled(100, toy).first_stage_steps == 3
    data = from_arrays(np.zeros((9, 8, 8), dtype=np.uint8))
    config = Train(method=METHOD, data="arrays", steps=2)
    with pytest.raises(DataError, match=r"[^\n]*\n    file,label\n    001.png,cat"):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    with pytest.raises(ConfigError, match="code_dim must be 1 or more, found 0"):
        M1M2(code_dim=0)
    with pytest.raises(ConfigError, match="first_stage_steps must be above 0, found 0"):
        M1M2(first_stage_steps=0)
