"""Something that each entry must do whatever its details are."""

import numpy as np
import pytest
import torch
from unweave_template.largest_correlation import largest_correlation
from unweave_template.ordered_vae import OrderedVAE
from unweave_template.two_layers import TwoLayers

import unweave as uw
from unweave.batches import Batch


@pytest.fixture
def batch() -> Batch:
    data = uw.load_data("rings")
    return Batch(torch.from_numpy(data.images([0, 100, 300])), population=len(data))


@pytest.fixture
def nets():
    return OrderedVAE(latent_dim=3).networks(TwoLayers(), uw.load_data("rings").summary)


def total(method, nets, batch):
    torch.manual_seed(0)
    return method.loss(nets, batch, step=0).total


def test_without_a_slope_the_method_is_the_vae(nets, batch):
    ours = total(OrderedVAE(latent_dim=3, slope=0), nets, batch)
    torch.testing.assert_close(ours, total(uw.VAE(latent_dim=3), nets, batch))


def test_later_dimensions_cost_more(nets, batch):
    kl = OrderedVAE(latent_dim=3).posterior(nets, batch.images).kl_to_prior().mean(0)
    flat, steep = (total(OrderedVAE(latent_dim=3, slope=s), nets, batch) for s in (0.0, 1000.0))
    torch.testing.assert_close(steep - flat, 1000 * (kl[1] + 2 * kl[2]), rtol=1e-3, atol=1e-3)


def test_codes_that_are_the_factors_score_1_and_noise_nearly_0():
    factors = np.random.default_rng(0).integers(5, size=(4000, 2))
    assert largest_correlation(3 - 2.0 * factors, factors).value == pytest.approx(1)
    noise = np.random.default_rng(1).normal(size=(4000, 2))
    assert largest_correlation(noise, factors).value < 0.1


def test_every_ring_is_a_combination_of_its_factors_and_unlike_the_others():
    data = uw.load_data("rings")
    assert data.factor_names == ("x", "y", "radius")
    assert len(data) == 8 * 8 * 8
    images = data.images(np.arange(len(data)))
    assert len(np.unique(images.reshape(len(data), -1), axis=0)) == len(data)


def test_the_architecture_maps_images_to_codes_and_back():
    images = torch.rand(2, 3, 20, 27)
    codes = TwoLayers().encoder((3, 20, 27), 5)(images)
    assert codes.shape == (2, 5)
    assert TwoLayers().decoder(5, (3, 20, 27))(codes).shape == images.shape
