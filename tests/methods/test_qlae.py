"""Latent quantization: values forward, gradients straight through."""

import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.qlae import QLAE, Codebook, straight_through
from unweave.networks.mlp64 import MLP64

METHOD = QLAE(latent_dim=3, values=4)
BATCH = Batch(torch.rand(10, 1, 4, 4, generator=torch.Generator().manual_seed(0)), 100)


def networks():
    torch.manual_seed(0)
    return METHOD.networks(MLP64(hidden=16), DataSummary((1, 4, 4), 16, {}))


@pytest.fixture
def codebook():
    torch.manual_seed(0)
    book = Codebook(3, 4)
    torch.nn.init.normal_(book.values)
    return book


def test_each_dimension_takes_its_own_nearest_value(codebook):
    encoded = torch.randn(20, 3)
    quantized = codebook(encoded)
    for row in range(20):
        for latent in range(3):
            values = codebook.values[latent]
            nearest = min(values.tolist(), key=lambda v: abs(v - encoded[row, latent].item()))
            assert quantized[row, latent].item() == pytest.approx(nearest)


def test_quantizing_twice_is_quantizing_once(codebook):
    once = codebook(torch.randn(20, 3))
    assert torch.equal(codebook(once), once)


def test_the_value_is_quantized_and_the_gradient_passes_straight_through(codebook):
    encoded = torch.randn(5, 3, requires_grad=True)
    z = straight_through(encoded, codebook(encoded))
    torch.testing.assert_close(z, codebook(encoded))
    slopes = torch.randn(5, 3)
    (z * slopes).sum().backward()
    assert torch.equal(encoded.grad, slopes)
    assert codebook.values.grad is None


def test_outputs_on_values_cost_nothing(monkeypatch):
    nets = networks()
    on_values = nets.codebook(torch.randn(10, 3)).detach()
    monkeypatch.setattr(nets.encoder, "forward", lambda images: on_values)
    autoencoder, codebook = (turn.loss for turn in METHOD.turns(nets, BATCH, 0))
    assert autoencoder.terms["commitment"].item() == 0
    assert codebook.total.item() == 0


def test_the_codebook_learns_from_its_own_loss_alone():
    nets = networks()
    autoencoder, codebook = (turn.loss for turn in METHOD.turns(nets, BATCH, 0))
    autoencoder.total.backward()
    assert nets.codebook.values.grad is None
    before = [p.grad.clone() for p in nets.encoder.parameters()]
    codebook.total.backward()
    assert nets.codebook.values.grad.abs().max() > 0
    assert all(
        torch.equal(p.grad, g) for p, g in zip(nets.encoder.parameters(), before, strict=True)
    )


def test_pixels_are_averaged():
    nets = networks()
    loss = next(METHOD.turns(nets, BATCH, 0)).loss
    expected = loss.terms["reconstruction"] / 16 + 0.01 * loss.terms["commitment"]
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-6)


def test_the_values_do_not_decay():
    players = METHOD.players
    assert players["autoencoder"].optimizer.weight_decay > 0
    assert players["codebook"].optimizer.weight_decay == 0


def test_codes_and_samples_are_values():
    nets = networks()
    for codes in (METHOD.encode(nets, BATCH.images), METHOD.sample_prior(nets, 50)):
        known = (codes[:, :, None] == nets.codebook.values).any(2)
        assert known.all()
    assert len(METHOD.sample_prior(nets, 50)[:, 0].unique()) == 4


def test_decoding_rounds_to_values():
    nets = networks()
    codes = torch.randn(6, 3)
    assert torch.equal(METHOD.decode(nets, codes), METHOD.decode(nets, nets.codebook(codes)))


def test_a_single_value_is_refused():
    with pytest.raises(ConfigError, match="values must be 2"):
        QLAE(values=1)
