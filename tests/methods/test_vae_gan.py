"""Swaps of the VAE-GAN: who lends what to whom, who judges, and who is moved by it."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from unweave.batches import TripletBatch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._seen import REMEMBERED
from unweave.methods.vae_gan import REAL, VAEGAN, towards
from unweave.networks.mlp64 import MLP64

METHOD = VAEGAN(latent_dim=3, content_dim=2, class_column="kind", discriminator_width=8)
SUMMARY = DataSummary((1, 8, 8), 10, {"kind": 4})


def triplets(*, same_as_first: bool = False) -> TripletBatch:
    first, same, others = torch.rand(3, 5, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    return TripletBatch(
        first,
        10,
        same=first if same_as_first else same,
        others=others,
        values=torch.tensor([0, 1, 2, 3, 0]),
        other_values=torch.tensor([1, 1, 0, 0, 2]),
    )


def networks(method: VAEGAN = METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), SUMMARY)


def losses(nets, batch, method: VAEGAN = METHOD):
    torch.manual_seed(7)
    return {turn.player: turn.loss for turn in method.turns(nets, batch, 0)}


class Told(nn.Module):
    """A judge that keeps what it was asked and answers 0."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def forward(self, images, classes):
        self.asked.append((images, classes))
        return images.flatten(1).sum(1) * 0


class Silent(nn.Module):
    """An encoder whose content is how bright an image is, with a style that has no noise."""

    def forward(self, images):
        level = 30 * (images.flatten(1).mean(1, keepdim=True) - 0.5)
        style = 10 * images.flatten(1)[:, :3]
        return torch.cat([level, 2 * level, style, torch.full_like(style, -20)], dim=1)


def test_contents_are_exchanged_within_a_class_and_judged_across():
    nets, batch = networks(), triplets()
    nets.encoder, nets.judge = Silent(), Told()
    loss = losses(nets, batch)["autoencoder"]
    contents, styles = [], []
    for images in (batch.images, batch.same, batch.others):
        outputs = Silent()(images)
        contents.append(outputs[:, :2])
        styles.append(outputs[:, 2:5])

    def decoded(content: int, style: int) -> torch.Tensor:
        return METHOD.render(nets, contents[content], styles[style])

    # A style of deviation e^-10 is as good as its mean.
    (fakes, said), (real, classes), (again, _) = nets.judge.asked
    torch.testing.assert_close(
        fakes, torch.cat([decoded(1, 2), decoded(2, 1)]), atol=1e-3, rtol=1e-3
    )
    assert torch.equal(again, fakes)
    assert torch.equal(said, torch.cat([batch.values, batch.other_values]))
    assert torch.equal(classes, said)
    assert torch.equal(real, torch.cat([batch.same, batch.others]))
    swapped = torch.cat([decoded(1, 0), decoded(0, 1)])
    wanted = nn.functional.binary_cross_entropy(
        swapped, torch.cat([batch.images, batch.same]), reduction="sum"
    )
    torch.testing.assert_close(loss.terms["swapped"], wanted / 10, rtol=1e-3, atol=1e-3)


def test_of_two_equal_images_the_swap_is_the_reconstruction():
    nets, batch = networks(), triplets(same_as_first=True)
    nets.encoder = Silent()
    terms = losses(nets, batch)["autoencoder"].terms
    own = METHOD.reconstruction(nets, METHOD.encode(nets, batch.images), batch.images)
    torch.testing.assert_close(terms["swapped"], own, rtol=1e-3, atol=1e-3)


def test_the_total_is_the_weighted_sum_of_its_terms():
    method = replace(METHOD, reconstruction_weight=0.25, beta=3, adversarial_weight=7)
    loss = losses(networks(method), triplets(), method)["autoencoder"]
    t = loss.terms
    expected = 0.25 * t["reconstruction"] + t["swapped"] + 3 * t["kl"] + 7 * t["fooling"]
    torch.testing.assert_close(loss.total, expected)
    assert "fooling_by_prior" not in t


def test_a_swap_with_the_prior_is_judged_by_the_class_of_its_content():
    method = replace(METHOD, prior_weight=5)
    nets, batch = networks(method), triplets()
    nets.judge = Told()
    found = losses(nets, batch, method)
    plain = losses(networks(METHOD), triplets())["autoencoder"]
    _, (drawn, said), _, (fakes, classes) = nets.judge.asked
    assert torch.equal(said, batch.values)
    assert torch.equal(classes, torch.cat([batch.values, batch.other_values, batch.values]))
    assert torch.equal(fakes[-5:], drawn)
    terms = found["autoencoder"].terms
    assert terms["fooling_by_prior"].item() == pytest.approx(0.6931, abs=1e-3)
    assert terms.keys() - plain.terms.keys() == {"fooling_by_prior"}


def test_a_judge_without_opinion_teaches_nothing_but_how_sure_it_should_be():
    logits = torch.zeros(4, requires_grad=True)
    towards(0.5, logits).backward()
    assert torch.equal(logits.grad, torch.zeros(4))
    assert towards(0.0, torch.zeros(4)).item() == pytest.approx(0.6931, abs=1e-4)
    best = torch.logit(torch.tensor([REAL]))
    assert towards(REAL, best) < towards(REAL, best + 1)
    assert towards(REAL, best) < towards(REAL, best - 1)


def test_the_judge_never_reaches_encoder_or_decoder_and_sees_the_class():
    nets = networks()
    losses(nets, triplets())["judge"].total.backward()
    assert all(p.grad is None for p in (*nets.encoder.parameters(), *nets.decoder.parameters()))
    assert all(p.grad is not None for p in nets.judge.parameters())
    images = torch.rand(1, 1, 8, 8).expand(2, -1, -1, -1)
    one, two = nets.judge(images, torch.tensor([0, 3]))
    assert one != two


def test_fooling_moves_the_decoder_with_a_class_that_is_not_the_styles():
    nets = networks()
    losses(nets, triplets())["autoencoder"].terms["fooling"].backward()
    assert any(p.grad.abs().sum() > 0 for p in nets.decoder.parameters())
    assert any(p.grad.abs().sum() > 0 for p in nets.encoder.parameters())


def test_contents_have_no_noise_and_styles_have_some():
    nets, images = networks(), triplets().images
    torch.manual_seed(1)
    one = METHOD.draw_codes(nets, images)
    two = METHOD.draw_codes(nets, images)
    assert torch.equal(one[:, :2], two[:, :2])
    assert not torch.equal(one[:, 2:], two[:, 2:])


def test_contents_to_draw_are_those_that_were_seen_last():
    nets, batch = networks(), triplets()
    losses(nets, batch)
    known = METHOD.encode(nets, torch.cat([batch.images, batch.same, batch.others]))[:, :2]
    drawn = METHOD.sample_prior(nets, 50)
    distances = torch.cdist(drawn[:, :2], known)
    assert distances.min(1).values.max() < 1e-5
    assert len(distances.argmin(1).unique()) > 5
    for _ in range(REMEMBERED // 15 + 1):
        nets.seen.remember(torch.full((15, 2), 9.0))
    assert (METHOD.sample_prior(nets, 20)[:, :2] == 9).all()


def test_the_class_is_found_in_the_data_and_must_be_there(toy):
    assert VAEGAN().settled(10, toy).class_column == "side"
    with pytest.raises(ConfigError, match="the class '' is none of the columns"):
        networks(VAEGAN())
    with pytest.raises(ConfigError, match="content_dim must be 1 or more, found 0"):
        VAEGAN(content_dim=0)
