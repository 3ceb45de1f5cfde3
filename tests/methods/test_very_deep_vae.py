"""The ladder of stochastic layers: where it starts, and what code and rates are."""

import pytest
import torch

from unweave import views
from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.very_deep_vae import VeryDeepVAE
from unweave.networks._ladder import BottomUp, ladder_sizes
from unweave.networks.conv_any import ConvAny

IMAGES = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0))
SMALL = {"latent_dim": 2, "map_latents": 3, "width": 8, "code_layers": 1}
LADDER = VeryDeepVAE(layers_at_size=(1, 2), **SMALL)


SUMMARY = DataSummary((1, 8, 8), 16, {})


def networks(method, *, trained: bool = False):
    torch.manual_seed(0)
    nets = method.networks(ConvAny(), SUMMARY)
    if trained:  # away from the zeros a prior starts with
        with torch.no_grad():
            for parameter in nets.parameters():
                parameter += 0.2 * torch.randn_like(parameter)
    return nets


def test_sizes_go_from_one_pixel_to_half_the_image():
    assert ladder_sizes((1, 32, 32)) == [(1, 1), (4, 4), (8, 8), (16, 16)]
    assert ladder_sizes((3, 20, 27)) == [(1, 1), (5, 3), (5, 6), (10, 13)]
    with pytest.raises(ConfigError, match="6 pixels or more, found 4×4"):
        ladder_sizes((1, 4, 4))


def test_every_prior_starts_at_the_standard_normal_and_changes_nothing():
    nets = networks(LADDER)
    for layer in nets.decoder.layers:
        state = torch.randn(2, 8, *layer.size)
        prior, changed = layer.prior(state)
        assert torch.equal(prior.mean, torch.zeros_like(prior.mean))
        assert torch.equal(prior.logvar, torch.zeros_like(prior.logvar))
        assert torch.equal(changed, state)


def test_every_layer_has_a_rate_of_at_least_0_and_they_add_up():
    nets = networks(LADDER, trained=True)
    (turn,) = LADDER.turns(nets, Batch(IMAGES, 16), 0)
    rates = {name: value for name, value in turn.loss.terms.items() if name.startswith("rate")}
    assert list(rates) == ["rate_0_of_1x1", "rate_1_of_4x4", "rate_2_of_4x4"]
    assert min(rates.values()) > 0
    kl, reconstruction = turn.loss.terms["kl"], turn.loss.terms["reconstruction"]
    torch.testing.assert_close(sum(rates.values()), kl)
    torch.testing.assert_close(turn.loss.total, reconstruction + kl)


def test_the_figure_of_rates_finds_them_in_the_record():
    terms = {k: v.item() for k, v in LADDER.diagnose(networks(LADDER), IMAGES).items()}
    found = views.layer_rates([{"step": 0, "kind": "diagnostics"} | terms])
    assert found.layers == ["1x1", "4x4", "4x4"]
    assert found.rates[0].sum() == pytest.approx(terms["kl"], rel=1e-4)


def test_one_layer_of_one_pixel_is_a_plain_vae():
    method = VeryDeepVAE(layers_at_size=(1, 0), **SMALL)
    nets = networks(method)
    torch.manual_seed(1)
    terms = method.evidence(nets, IMAGES)
    q = method.posterior(nets, IMAGES)
    torch.testing.assert_close(terms["kl"], q.kl_to_prior().sum(1).mean())
    torch.manual_seed(1)
    decoded = method.decode(nets, q.sample())
    plain = torch.nn.functional.binary_cross_entropy(decoded, IMAGES, reduction="sum") / 3
    torch.testing.assert_close(terms["reconstruction"], plain, rtol=1e-4, atol=1e-4)


def test_the_code_is_in_units_of_its_prior():
    nets = networks(LADDER, trained=True)
    q = LADDER.posterior(nets, IMAGES)
    rate = LADDER.evidence(nets, IMAGES)["rate_0_of_1x1"]
    torch.testing.assert_close(q.kl_to_prior().sum(1).mean(), rate, rtol=1e-4, atol=1e-5)


def test_codes_of_all_layers_decode_to_what_their_means_decode_to():
    method = VeryDeepVAE(layers_at_size=(1, 2), **SMALL | {"code_layers": 3})
    nets = networks(method, trained=True)
    codes = method.encode(nets, IMAGES)
    assert codes.shape == (3, method.code(nets, SUMMARY).size) == (3, 2 + 2 * 3 * 16)
    along_means = torch.sigmoid(method.infer(nets, IMAGES, draw=False).logits)
    torch.testing.assert_close(method.decode(nets, codes), along_means, rtol=1e-4, atol=1e-5)
    assert method.posterior(nets, IMAGES) is None, "given a layer above it is not Gaussian"


def test_drawn_codes_of_all_layers_decode_to_what_the_walk_saw():
    method = VeryDeepVAE(latent_dim=3, layers_at_size=(1, 1), code_layers=2)
    nets = networks(method, trained=True)
    with torch.no_grad():
        torch.manual_seed(0)
        seen = torch.sigmoid(method.infer(nets, IMAGES, draw=True).logits)
        torch.manual_seed(0)
        codes = method.draw_codes(nets, IMAGES)
        torch.testing.assert_close(method.decode(nets, codes), seen)
    assert not torch.allclose(codes, method.encode(nets, IMAGES), atol=0.1)


def test_temperature_0_draws_what_decode_gives():
    nets = networks(LADDER, trained=True)
    cold = VeryDeepVAE(layers_at_size=(1, 2), temperature=0.0, **SMALL)
    assert torch.equal(cold.sample_prior(nets, 4), torch.zeros(4, 2))
    codes = torch.randn(4, 2)
    assert torch.equal(cold.draw_images(nets, codes), cold.decode(nets, codes))
    assert not torch.equal(LADDER.draw_images(nets, codes), LADDER.decode(nets, codes))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"layers_at_size": (0, 2)}, "1 or more layers at the top"),
        ({"layers_at_size": ()}, "1 or more layers at the top"),
        ({"temperature": -1.0}, "temperature must be 0 or more"),
    ],
)
def test_impossible_ladders_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        VeryDeepVAE(**wrong)


def test_a_code_cannot_have_more_layers_than_there_are():
    with pytest.raises(ConfigError, match="code_layers 4 is more than the 3 layers"):
        networks(VeryDeepVAE(layers_at_size=(1, 2), **SMALL | {"code_layers": 4}))


def test_only_a_learnt_top_sees_where_things_are():
    # The sum over the map is the same, the place is not; nothing but the top is compared.
    maps = torch.zeros(2, 8, 4, 4)
    maps[0, :, 0, 0] = maps[1, :, 3, 2] = 1
    for learnt in (False, True):
        torch.manual_seed(0)
        encoder = BottomUp((1, 8, 8), 8, learnt_top=learnt)
        encoder.stem, encoder.blocks[0] = torch.nn.Identity(), torch.nn.Identity()
        top = encoder(maps)[0]
        assert top.shape == (2, 8, 1, 1)
        assert torch.allclose(top[0], top[1]) != learnt
