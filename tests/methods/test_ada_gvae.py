"""Which dimensions a pair shares, in Ada-GVAE and Ada-ML-VAE alike."""

import numpy as np
import pytest
import torch

from unweave.batches import PairBatch, Pairs
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.ada_gvae import AdaGVAE
from unweave.methods.ada_ml_vae import AdaMLVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.networks.mlp64 import MLP64
from unweave.probability.gaussian import DiagonalGaussian

METHODS = [AdaGVAE, AdaMLVAE]


def posteriors(pairs=50, latents=6) -> tuple[DiagonalGaussian, DiagonalGaussian]:
    torch.manual_seed(0)
    both = DiagonalGaussian(torch.randn(2 * pairs, latents), torch.randn(2 * pairs, latents))
    return both.halves()


@pytest.mark.parametrize("distance", ["symmetric", "forward"])
def test_at_least_one_dimension_is_kept_and_one_is_shared(distance):
    kept = AdaGVAE(distance=distance).kept(*posteriors(), None)
    assert kept.any(1).all()
    assert (~kept).any(1).all()


def test_dimensions_at_least_halfway_between_the_distances_are_kept():
    """With equal variances the KL of a dimension is half the square of its means' distance."""
    distance = torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 0.5, 1.0, 0.0, 5.1]])
    one = DiagonalGaussian(torch.zeros(2, 5), torch.zeros(2, 5))
    two = DiagonalGaussian((2 * distance).sqrt(), torch.zeros(2, 5))
    # 2.0 is exactly halfway; take it off the edge, where rounding would decide.
    two.mean[0, 2] += 0.01
    kept = AdaGVAE().kept(one, two, None)
    assert kept.tolist() == [[False, False, True, True, True], [True, False, False, False, True]]


def test_a_single_dimension_and_equal_images_are_never_shared():
    assert AdaGVAE(latent_dim=1).kept(*posteriors(latents=1), None).all()
    one, _ = posteriors()
    assert AdaGVAE().kept(one, one, None).all()


def test_told_how_many_factors_differ_it_keeps_so_many_of_the_largest():
    one, two = posteriors()
    method = AdaGVAE(told="count")
    changed = torch.zeros(50, 3, dtype=torch.bool)
    changed[:, 0], changed[25:, 1] = True, True
    kept = method.kept(one, two, changed)
    assert kept.sum(1).tolist() == [1] * 25 + [2] * 25
    distance = (one.kl_to(two) + two.kl_to(one)) / 2
    inf = torch.tensor(float("inf"))
    smallest_kept = distance.where(kept, inf).amin(1)
    assert (smallest_kept > distance.where(~kept, -inf).amax(1)).all()
    # Of pairs of unknown factors the number in the settings is taken.
    assert AdaGVAE(told="count", changed=4).kept(one, two, None).sum(1).tolist() == [4] * 50


def test_told_which_factors_differ_it_keeps_their_dimensions():
    changed = torch.tensor([[True, False, False]] * 25 + [[False, True, True]] * 25)
    kept = AdaGVAE(told="factors", latent_dim=6).kept(*posteriors(), changed)
    assert torch.equal(kept[:, :3], changed)
    assert not kept[:, 3:].any()
    with pytest.raises(ConfigError, match="each of the 3 factors, found latent_dim 2"):
        AdaGVAE(told="factors", latent_dim=2).kept(*posteriors(latents=2), changed)


@pytest.mark.parametrize("method", METHODS)
def test_kept_dimensions_stay_and_shared_ones_become_one(method):
    one, two = posteriors(latents=4)
    shared = torch.rand(50, 4) < 0.5
    new_one, new_two = method(latent_dim=4).share(one, two, shared).halves()
    for name in ("mean", "logvar"):
        before, after = getattr(one, name), getattr(new_one, name)
        assert torch.equal(after[~shared], before[~shared])
        assert torch.equal(getattr(new_two, name)[~shared], getattr(two, name)[~shared])
        assert torch.equal(after[shared], getattr(new_two, name)[shared])


def test_gradients_of_what_is_shared_reach_both_encoders_but_not_through_the_choice():
    one, two = posteriors(latents=4)
    for part in (one, two):
        part.mean.requires_grad_()
    shared = ~AdaGVAE(latent_dim=4).kept(one, two, None)
    assert not shared.requires_grad
    AdaGVAE(latent_dim=4).share(one, two, shared).mean[:50].sum().backward()
    assert (one.mean.grad[shared] == 0.5).all()
    assert (two.mean.grad[shared] == 0.5).all()
    assert (two.mean.grad[~shared] == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_pair_of_the_same_image_has_the_loss_of_a_beta_vae(toy, method):
    images = torch.from_numpy(toy.images(np.arange(0, 1024, 128)))
    batch = PairBatch(images, 1024, partners=images, changed=None)
    adaptive, plain = method(latent_dim=4, beta=3), BetaVAE(latent_dim=4, beta=3)
    nets = adaptive.networks(MLP64(hidden=16), toy.summary)
    torch.manual_seed(0)
    found = adaptive.loss(nets, batch, 0)
    torch.manual_seed(0)
    doubled = PairBatch(batch.both, 1024, partners=images, changed=None)
    expected = plain.loss(nets, doubled, 0)
    assert found.total.item() == pytest.approx(expected.total.item(), rel=1e-6)
    assert found.terms["shared_dimensions"].item() == 0


def test_what_it_is_told_must_be_in_the_data():
    images = np.zeros((4, 8, 8), np.uint8)
    own = from_arrays(images, {"pair": [0, 0, 1, 1]})
    AdaGVAE().supervision.check(own)
    AdaGVAE(told="count", changed=2).supervision.check(own)
    for settings in ({"told": "factors"}, {"told": "count", "changed": 0}):
        with pytest.raises(DataError, match="say in what pairs differ"):
            AdaGVAE(**settings).supervision.check(own)
    assert AdaGVAE(changed=2).supervision == Pairs(2)
    with pytest.raises(ConfigError, match="changed must be 0 or more"):
        AdaGVAE(changed=-1)
