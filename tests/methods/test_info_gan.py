"""What InfoGAN's bound says, and who learns from which images."""

import math

import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.info_gan import InfoGAN
from unweave.networks.conv_any import ConvAny
from unweave.networks.mlp64 import MLP64

METHOD = InfoGAN(latent_dim=2, categories=(3, 4), noise_dim=5, discriminator_width=8)
BATCH = Batch(torch.rand(12, 1, 4, 4, generator=torch.Generator().manual_seed(0)), 100)


SUMMARY = DataSummary((1, 4, 4), 16, {})


def networks(method=METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), SUMMARY)


def losses(method=METHOD, nets=None, batch=BATCH):
    nets = nets or networks(method)
    torch.manual_seed(1)
    return [turn.loss for turn in method.turns(nets, batch, 0)]


def test_without_information_it_is_a_plain_gan():
    judge, generator = losses(
        InfoGAN(categories=(3,), information_weight=0, noise_dim=5, discriminator_width=8)
    )
    assert judge.total.item() == judge.terms["judging"].item()
    assert generator.total.item() == generator.terms["fooling"].item()


def test_the_weight_counts_information_in_both_losses():
    one, two = losses(), losses(InfoGAN(**{**vars(METHOD), "information_weight": 3.0}))
    for plain, strong, rest in zip(one, two, ("judging", "fooling"), strict=True):
        gained = plain.terms[rest] - plain.total
        assert (strong.terms[rest] - strong.total).item() == pytest.approx(
            3 * gained.item(), rel=1e-4
        )


def test_information_is_0_if_nothing_is_read_and_the_entropy_if_all_is():
    torch.manual_seed(0)
    nets = networks()
    codes = METHOD.prior_codes(nets, 1000)
    blind, _ = METHOD.information(nets, torch.zeros_like(codes), codes)
    assert blind.item() == pytest.approx(0, abs=1e-5)
    certain, continuous = METHOD.information(
        nets, torch.cat([100 * codes[:, :7], codes[:, 7:]], 1), codes
    )
    assert certain.item() == pytest.approx(math.log(3) + math.log(4), rel=1e-5)
    assert continuous.item() == pytest.approx(2 * (math.log(2) - 0.5 * math.log(2 * math.pi)))
    wrong, worse = METHOD.information(nets, torch.randn_like(codes), codes)
    assert wrong < blind
    assert worse < continuous


def test_what_the_head_reads_reaches_the_generator_through_its_images():
    method = InfoGAN(**{**vars(METHOD), "information_weight": 1.0})
    nets = networks(method)
    *_, generator = losses(method, nets)
    information = (
        generator.terms["categorical_information"] + generator.terms["continuous_information"]
    )
    information.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in nets.code_head.parameters())
    first = nets.generator[0].weight.grad
    assert first is not None
    assert first.abs().sum() > 0


def test_the_discriminators_loss_has_no_path_to_the_generator():
    nets = networks()
    losses(nets=nets)[0].total.backward()
    assert all(p.grad is None for p in nets.generator.parameters())
    assert nets.judge.weight.grad is not None


def test_the_code_head_learns_from_generated_images_only():
    """Other real images change what is judged, not what is read."""
    gradients = []
    for images in (BATCH.images, 1 - BATCH.images):
        nets = networks()
        losses(nets=nets, batch=Batch(images, 100))[0].total.backward()
        gradients.append((nets.code_head[0].weight.grad, nets.judge.weight.grad))
    (reads, judges), (other_reads, other_judges) = gradients
    torch.testing.assert_close(reads, other_reads)
    assert not torch.allclose(judges, other_judges)


def test_a_code_is_probabilities_then_means():
    nets = networks().eval()
    codes = METHOD.encode(nets, BATCH.images)
    code = METHOD.code(nets, SUMMARY)
    assert codes.shape == (12, code.size) == (12, 9)
    assert [unit.label for unit in code.units] == ["z0–z2", "z3–z6", "z7", "z8"]
    for part in codes[:, :7].split([3, 4], dim=1):
        torch.testing.assert_close(part.sum(1), torch.ones(12))


def test_images_of_a_code_differ_by_noise_only_when_drawn():
    nets = networks().eval()
    codes = METHOD.sample_prior(nets, 1).repeat(3, 1)
    decoded, drawn = METHOD.decode(nets, codes), METHOD.draw_images(nets, codes)
    torch.testing.assert_close(decoded[0], decoded[1])
    assert not torch.allclose(drawn[0], drawn[1])
    unsure = codes.clone()
    unsure[:, :7] *= 0.4  # the likeliest value stays
    torch.testing.assert_close(METHOD.decode(nets, unsure), decoded)


def test_recovery_is_certain_where_the_generator_writes_the_code_into_the_image():
    """A generator whose pixels are the codes and a head that copies them."""
    method = InfoGAN(latent_dim=2, categories=(3,), noise_dim=1, discriminator_width=8)
    nets = networks(method)

    class Write(torch.nn.Module):
        def forward(self, inputs):
            codes = torch.cat([inputs[:, 1:4], (inputs[:, 4:] + 1) / 2], dim=1)
            pixels = torch.nn.functional.pad(codes, (0, 11))
            return torch.logit(pixels.reshape(-1, 1, 4, 4), eps=1e-6)

    class Read(torch.nn.Module):
        def forward(self, images):
            return images.flatten(1)[:, :8]

    class Tell(torch.nn.Module):
        def forward(self, features):
            return torch.cat([50 * features[:, :3], 2 * features[:, 3:5] - 1], dim=1)

    nets.generator, nets.trunk, nets.code_head = Write(), Read(), Tell()
    torch.manual_seed(0)
    figures = method.diagnose(nets, BATCH.images)
    assert figures["code_0_accuracy"] == 1
    assert figures["continuous_r2"] > 0.999


def test_a_category_needs_two_values():
    with pytest.raises(ConfigError, match="2 values or more"):
        InfoGAN(categories=(1,))


def test_a_batch_of_one_is_refused():
    with pytest.raises(ConfigError, match="batch_size must be 2 or more"):
        losses(batch=Batch(BATCH.images[:1], 100))


def changed(**settings):
    return InfoGAN(**{**vars(METHOD), **settings})


def test_r1_is_half_the_squared_slope_of_the_judge_at_real_images():
    method = changed(gradient_penalty=3.0, discriminator_width=16)
    nets = networks(method)
    nets.trunk = torch.nn.Flatten()  # then the judge's slope is its weights
    loss, features = method.judged(nets, BATCH.images, 1 - BATCH.images, 0)
    squared = nets.judge.weight.square().sum()
    torch.testing.assert_close(loss.terms["squared_slope"], squared)
    torch.testing.assert_close(loss.total, loss.terms["judging"] + 1.5 * squared)
    torch.testing.assert_close(features, (1 - BATCH.images).flatten(1))


def test_noise_is_on_all_that_the_discriminator_sees_in_training_and_on_nothing_else():
    method = changed(input_noise=0.5)
    nets = networks(method).eval()
    seen = []
    nets.trunk.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    for _ in method.turns(nets, BATCH, 0):
        pass
    judged, read = seen
    noise = judged[:12] - BATCH.images
    assert 0.45 < noise.std() < 0.55
    assert judged.min() < 0
    assert read.min() < 0
    method.encode(nets, BATCH.images)
    assert seen[-1] is BATCH.images


def test_the_generator_may_play_twice_with_the_same_codes():
    method = changed(generator_updates=2)
    nets = networks(method)
    inputs = []
    nets.generator.register_forward_hook(lambda _, given, __: inputs.append(given[0]))
    players = [turn.player for turn in method.turns(nets, BATCH, 0)]
    assert players == ["discriminator", "generator", "generator"]
    assert torch.equal(*inputs)


def test_continuous_codes_count_as_much_as_they_are_told_to():
    *_, generator = losses(changed(continuous_weight=0.25))
    terms = generator.terms
    read = terms["categorical_information"] + 0.25 * terms["continuous_information"]
    torch.testing.assert_close(generator.total, terms["fooling"] - read)


def test_what_makes_and_reads_images_is_averaged_on_wish():
    assert not any(player.average for player in METHOD.players.values())
    averaged = changed(average_images=500).players
    assert {name: set(player.average) for name, player in averaged.items()} == {
        "discriminator": {"trunk", "judge", "code_head"},
        "generator": {"generator"},
    }


def test_heads_are_normalised_on_wish():
    from torch.nn.utils.parametrize import is_parametrized

    for wished in (False, True):
        nets = networks(changed(normalized_heads=wished))
        layers = [nets.judge, nets.code_head[0], nets.code_head[2]]
        assert [is_parametrized(layer) for layer in layers] == 3 * [wished]


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match="generator_updates must be 1 or more"):
        InfoGAN(generator_updates=0)
    with pytest.raises(ConfigError, match="input_noise must be 0 or more"):
        InfoGAN(input_noise=-1)


def test_a_judge_that_sees_the_spread_tells_a_batch_of_one_image_from_one_of_many():
    method = changed(sees_spread=True)
    nets = networks(method)
    with torch.no_grad():
        nets.judge.weight.zero_()
        nets.judge.bias.zero_()
        nets.judge.weight[0, -1] = 1
    features = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        method.verdict(nets, features), torch.ones(500, 1), atol=0.05, rtol=0
    )
    alike = features[:1].expand(500, -1).clone().requires_grad_()
    judged = method.verdict(nets, alike)
    assert judged.abs().max() < 1e-3
    judged.sum().backward()
    assert torch.isfinite(alike.grad).all()


@pytest.mark.parametrize("network", [MLP64(hidden=16), ConvAny(channels=(4, 4), hidden=8)])
def test_the_generator_begins_as_bright_as_the_data(network, toy):
    method = changed(activation_first=True)
    torch.manual_seed(0)
    nets = method.networks(network, toy.summary)
    method.fit(nets, toy, 0)
    made = method.draw_images(nets, method.sample_prior(nets, 200))
    assert made.mean().item() == pytest.approx(toy.images(range(len(toy))).mean(), rel=0.3)
