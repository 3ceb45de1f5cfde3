"""Who learns what in Elastic-InfoGAN, and how the prior of the categories is drawn and moved."""

import math

import pytest
import torch

from unweave.batches import AugmentedBatch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.elastic_info_gan import ElasticInfoGAN
from unweave.methods.info_gan import InfoGAN
from unweave.networks.mlp64 import MLP64

SMALL = {"latent_dim": 1, "categories": (3,), "noise_dim": 2, "discriminator_width": 8}
METHOD = ElasticInfoGAN(**SMALL)
GENERATOR = torch.Generator().manual_seed(0)
BATCH = AugmentedBatch(
    torch.rand(8, 1, 4, 4, generator=GENERATOR),
    100,
    first=torch.rand(8, 1, 4, 4, generator=GENERATOR),
    second=torch.rand(8, 1, 4, 4, generator=GENERATOR),
)


def networks(method=METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), DataSummary((1, 4, 4), 16, {}))


def losses(method=METHOD, nets=None):
    torch.manual_seed(1)
    moves = method.turns(nets or networks(method), BATCH, 0)
    return {turn.player: turn.loss for turn in moves}


def gradients(loss, module):
    found = torch.autograd.grad(loss, list(module.parameters()), allow_unused=True)
    return [gradient for gradient in found if gradient is not None]


def test_without_contrast_and_with_equal_categories_the_losses_are_infogans():
    """All but the reading of codes in the discriminator's loss, which is not in its authors'."""
    plain = ElasticInfoGAN(**SMALL, view_weight=0, prior_rate=0, gumbel_temperature=1e-3)
    nets = networks(plain)
    torch.manual_seed(1)
    noise, codes = plain.drawn(nets, BATCH)
    twin = InfoGAN(**SMALL)
    fakes = plain.render(nets, noise, codes)
    torch.testing.assert_close(
        plain.fooling(nets, fakes, codes, 0).total, twin.fooling(nets, fakes, codes, 0).total
    )
    hard = plain.certain(codes)
    torch.testing.assert_close(hard, codes, atol=1e-4, rtol=0)
    judged, reading = (m.judging(nets, BATCH.images, fakes, codes, 0) for m in (plain, twin))
    torch.testing.assert_close(judged.total, reading.terms["judging"])


def test_the_prior_sums_to_1_and_its_gradient_to_0_and_comes_through_images_alone():
    nets = networks()
    assert nets.class_prior.chances.sum().item() == pytest.approx(1)
    total = losses(nets=nets)["generator"].total
    (gradient,) = gradients(total, nets.class_prior)
    assert gradient.abs().max() > 0
    assert gradient.sum().item() == pytest.approx(0, abs=1e-6)
    nets.generator.register_forward_hook(lambda _, __, output: output.detach().requires_grad_())
    for cut in gradients(losses(nets=nets)["generator"].total, nets.class_prior):
        assert cut.abs().max() == 0


def test_categories_are_drawn_as_often_as_the_prior_says():
    nets = networks()
    with torch.no_grad():
        nets.class_prior.logits.copy_(torch.tensor([0.7, 0.2, 0.1]).log() + 5)
    torch.manual_seed(0)
    drawn = METHOD.prior_codes(nets, 20_000)[:, :3]
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    torch.testing.assert_close(drawn.mean(0), torch.tensor([0.7, 0.2, 0.1]), atol=0.015, rtol=0)
    soft = nets.class_prior.draw_soft(20_000, 0.1)
    torch.testing.assert_close(soft.sum(1), torch.ones(20_000))
    shares = torch.bincount(soft.argmax(1), minlength=3) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.7, 0.2, 0.1]), atol=0.015, rtol=0)
    entropy = -sum(p * math.log(p) for p in (0.7, 0.2, 0.1))
    assert METHOD.entropies(nets) == [pytest.approx(entropy, rel=1e-5)]


def test_the_trunk_learns_from_the_contrast_only_if_it_is_told_to():
    for reaches in (False, True):
        method = ElasticInfoGAN(**SMALL, contrast_reaches_trunk=reaches)
        found = losses(method)
        assert "contrast" in found["generator"].terms
        assert ("contrast" in found["discriminator"].terms) == reaches
    assert method.players["discriminator"].owns == ("trunk", "judge")
    assert "code_head" in method.players["generator"].owns


def test_the_contrast_is_of_real_images_and_reaches_all_of_the_head_but_its_last_layer():
    nets = networks()
    contrast = METHOD.contrast(nets, BATCH)
    assert gradients(contrast, nets.code_head[0])
    assert not gradients(METHOD.contrast(nets, BATCH), nets.code_head[-1])
    assert not gradients(METHOD.contrast(nets, BATCH), nets.generator)


def test_views_that_show_the_same_everywhere_are_guessed_at():
    nets = networks()
    same = torch.ones(8, 1, 4, 4)
    batch = AugmentedBatch(same, 100, first=same, second=same)
    assert METHOD.contrast(nets, batch).item() == pytest.approx(math.log(15), rel=1e-5)


def test_the_prior_has_a_rate_of_its_own():
    player = METHOD.players["generator"]
    rate = player.speed["class_prior"] * player.optimizer.learning_rate
    assert rate == pytest.approx(5e-3)


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="give it one"):
        ElasticInfoGAN(categories=())
    with pytest.raises(ConfigError, match="gumbel_temperature must be above 0"):
        ElasticInfoGAN(gumbel_temperature=0)
    with pytest.raises(ConfigError, match="zoom must lie in"):
        ElasticInfoGAN(zoom=1)
