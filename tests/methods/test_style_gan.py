"""What the layers of a style-based generator promise, and what its directions are."""

import dataclasses
import math

import pytest
import torch
from torch.nn.functional import conv2d, conv_transpose2d

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._style_networks import (
    GROUP,
    Mapping,
    ModulatedConv,
    StyledLayer,
    enlarged,
    map_sizes,
    with_deviation,
)
from unweave.methods.style_gan import (
    StyleGAN,
    answered_directions,
    mixed,
    principal_directions,
    regress,
    squared_slope,
)
from unweave.networks.conv_any import ConvAny

METHOD = StyleGAN(
    latent_dim=3, width=6, generator_channels=(5, 4), discriminator_width=7, head_images=16
)
IMAGES = torch.rand(8, 1, 16, 16, generator=torch.Generator().manual_seed(0))
SUMMARY = DataSummary((1, 16, 16), 16, {})
LAYERS = 3


def networks(method=METHOD):
    torch.manual_seed(0)
    return method.networks(ConvAny(), SUMMARY)


def changed(**settings):
    return dataclasses.replace(METHOD, **settings)


def losses(method, nets, step):
    torch.manual_seed(1)
    return [turn.loss for turn in method.turns(nets, Batch(IMAGES, 100), step)]


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return ModulatedConv(inputs=4, outputs=5, width=6)


def weights_of_each_image(layer, w):
    """Return the weights that a style stands for, (image, output, input, 3, 3)."""
    weights = layer.weight * layer.style(w)[:, None, :, None, None]
    return weights / weights.square().sum((2, 3, 4), keepdim=True).sqrt()


@pytest.mark.parametrize("size", [(4, 3), (8, 6)])
def test_a_modulated_convolution_is_one_with_weights_of_its_own_for_each_image(layer, size):
    x, w = torch.randn(3, 4, 4, 3), torch.randn(3, 6)
    maps, factor = layer(x, w, size)
    grouped = conv2d(
        enlarged(x, size).reshape(1, 12, *size),
        weights_of_each_image(layer, w).flatten(0, 1),
        padding=1,
        groups=3,
    )
    torch.testing.assert_close(
        maps * factor[:, :, None, None], grouped.view(3, 5, *size), rtol=1e-5, atol=1e-5
    )


def test_the_factor_of_an_output_makes_its_weights_one_long(layer):
    w = torch.randn(3, 6)
    _, factor = layer(torch.randn(3, 4, 4, 4), w, (4, 4))
    weights = layer.weight * layer.style(w)[:, None, :, None, None] * factor[:, :, None, None, None]
    torch.testing.assert_close(weights.square().sum((2, 3, 4)), torch.ones(3, 5))


def test_a_style_that_is_longer_alike_in_every_channel_changes_nothing(layer):
    x, w = torch.randn(3, 4, 4, 4), torch.randn(3, 6)
    maps, factor = layer(x, w, (4, 4))
    before = maps * factor[:, :, None, None]
    with torch.no_grad():
        layer.style.free *= 7
        layer.style.bias *= 7
    maps, factor = layer(x, w, (4, 4))
    torch.testing.assert_close(maps * factor[:, :, None, None], before, rtol=1e-4, atol=1e-5)


def test_styles_begin_around_1_and_noise_begins_unheard():
    torch.manual_seed(0)
    layer = StyledLayer(4, 5, 6, 2)
    for style in (layer.convolution.style, layer.to_pixels.style):
        torch.testing.assert_close(
            style(torch.zeros(1, 6)), torch.ones_like(style(torch.zeros(6)))[None]
        )
    x, w, noise = torch.randn(2, 4, 4, 4), torch.randn(2, 6), torch.randn(2, 1, 4, 4)
    quiet = layer(x, w, noise)
    assert all(map(torch.equal, quiet, layer(x, w, 0 * noise)))
    with torch.no_grad():
        layer.noise_weight += 1
    assert not torch.equal(layer(x, w, noise)[0], quiet[0])


def test_a_layer_keeps_the_size_of_what_passes_it():
    torch.manual_seed(0)
    layer = StyledLayer(64, 64, 32, 1)
    maps, _ = layer(torch.randn(32, 64, 8, 8), torch.randn(32, 32), torch.randn(32, 1, 8, 8))
    inner = maps[:, :, 1:-1, 1:-1]
    assert inner.square().mean().item() == pytest.approx(1, abs=0.1)


def test_pixels_of_a_layer_are_weighed_by_the_style_and_by_no_length():
    torch.manual_seed(0)
    layer = StyledLayer(4, 5, 6, 2)
    x, w, noise = torch.randn(2, 4, 4, 3), torch.randn(2, 6), torch.zeros(2, 1, 8, 6)
    maps, pixels = layer(x, w, noise)
    scaled = maps * layer.to_pixels.style(w)[:, :, None, None]
    expected = torch.einsum("nihw,ci->nchw", scaled, layer.to_pixels.free / math.sqrt(5))
    torch.testing.assert_close(pixels, expected, rtol=1e-5, atol=1e-5)


def test_maps_are_doubled_by_the_filter_1_3_3_1():
    maps = torch.randn(1, 1, 6, 6)
    taps = torch.tensor([1.0, 3.0, 3.0, 1.0]) / 4
    filtered = conv_transpose2d(maps, torch.outer(taps, taps)[None, None], stride=2, padding=1)
    torch.testing.assert_close(enlarged(maps, (12, 12))[..., 1:-1, 1:-1], filtered[..., 1:-1, 1:-1])


def test_the_mapping_sees_directions_of_noise_only():
    torch.manual_seed(0)
    mapping, z = Mapping(16, 2), torch.randn(4, 16)
    torch.testing.assert_close(mapping(z), mapping(3 * z), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ((1, 32, 32), [(4, 4), (8, 8), (16, 16), (32, 32)]),
        ((3, 20, 27), [(5, 6), (10, 13), (20, 27)]),
        ((1, 6, 40), [(6, 5), (6, 10), (6, 20), (6, 40)]),
    ],
)
def test_maps_halve_images_of_any_size(shape, sizes):
    assert map_sizes(shape) == sizes
    nets = METHOD.networks(ConvAny(), DataSummary(shape, 16, {}))
    drawn = METHOD.decode(nets, torch.zeros(2, 3))
    assert drawn.shape == (2, *shape)
    assert nets.judge(drawn).shape == (2, 1)


def test_the_judge_sees_how_much_the_images_of_a_group_differ():
    count = 2 * GROUP
    x = torch.randn(count, 3, 4, 4)
    x[::2] = x[0]  # every second image is of one group
    channel = with_deviation(x)[:, 3]
    assert channel.flatten(1).std(1).max() == 0
    assert channel[::2].max() < 1e-3
    deviation = x[1::2].std(0, correction=0).mean()
    torch.testing.assert_close(channel[1::2, 0, 0], deviation.expand(GROUP))
    assert with_deviation(x[:7]).shape == (7, 4, 4, 4), "seven images are one by one"


def test_a_style_from_the_last_layer_on_is_no_mixing():
    first, second = torch.randn(2, 4, 6)
    styles = mixed(first, second, torch.tensor([1, 2, 3, 3]), layers=3)
    assert torch.equal(styles[2:], first[2:, None].expand(-1, 3, -1))
    assert torch.equal(styles[0], torch.stack([first[0], second[0], second[0]]))
    assert torch.equal(styles[1], torch.stack([first[1], first[1], second[1]]))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_so_many_images_have_two_styles(share):
    torch.manual_seed(0)
    styles = changed(mixing=share).mixed_styles(networks(), 2_000)
    assert styles.shape == (2_000, LAYERS, 6)
    two = (styles[:, 0] != styles[:, -1]).any(1).float().mean().item()
    assert two == pytest.approx(share, abs=0.04)


def test_r1_of_a_linear_judge_is_the_length_of_its_weights_squared():
    slopes = torch.randn(256, requires_grad=True)
    images = IMAGES.clone().requires_grad_()
    found = squared_slope(images.flatten(1) @ slopes, images)
    torch.testing.assert_close(found, slopes.square().sum())
    found.backward()
    torch.testing.assert_close(slopes.grad, 2 * slopes.detach())


def test_r1_is_taken_in_one_step_of_several_and_weighs_as_many_times_more():
    method, nets = changed(lazy=4, r1_weight=3.0), networks()
    lazy, _ = losses(method, nets, step=8)
    other, _ = losses(method, nets, step=9)
    assert "squared_slope" not in other.terms
    assert other.total.item() == other.terms["judging"].item()
    expected = lazy.terms["judging"] + 4 * 3.0 / 2 * lazy.terms["squared_slope"]
    torch.testing.assert_close(lazy.total, expected)


def test_neither_player_learns_from_the_others_loss():
    nets = networks()
    judging, fooling = losses(METHOD, nets, step=0)
    judging.total.backward()
    assert all(
        p.grad is None
        for name in ("mapping", "synthesis")
        for p in getattr(nets, name).parameters()
    )
    fooling.total.backward()
    assert all(p.grad.abs().sum() > 0 for p in nets.mapping.parameters())
    assert METHOD.players["generator"].average.keys() == {"mapping", "synthesis"}


def found(method=METHOD):
    nets = networks(method)
    torch.manual_seed(2)
    method.find_directions(nets)
    return nets


@pytest.mark.parametrize("directions", ["ganspace", "sefa"])
def test_directions_are_orthogonal_and_codes_along_them_have_variance_1(directions):
    method = changed(directions=directions, blocks=(1,))
    nets = found(method)
    for along in nets.directions.along:
        torch.testing.assert_close(along @ along.T, torch.eye(3), rtol=1e-5, atol=1e-5)
    torch.manual_seed(3)
    codes = method.sample_prior(nets, 20_000)
    assert codes.shape == (20_000, 6)
    torch.testing.assert_close(codes.mean(0), torch.zeros(6), rtol=0, atol=0.05)
    torch.testing.assert_close(codes.std(0), torch.ones(6), rtol=0, atol=0.05)


def test_principal_directions_are_those_of_most_variance():
    torch.manual_seed(0)
    turn = torch.linalg.qr(torch.randn(4, 4))[0]
    styles = torch.randn(50_000, 4) * torch.tensor([1.0, 4.0, 2.0, 0.5]) @ turn.T
    along = principal_directions(styles - styles.mean(0))
    for line, column in enumerate([1, 2, 0, 3]):
        assert abs(along[line] @ turn[:, column]).item() == pytest.approx(1, abs=1e-3)


def test_answered_directions_are_sorted_by_how_much_modulations_answer():
    torch.manual_seed(0)
    turn = torch.linalg.qr(torch.randn(4, 4))[0]
    strength = torch.tensor([0.5, 3.0, 1.0, 2.0])
    answers = torch.linalg.qr(torch.randn(9, 4))[0] * strength @ turn.T
    along = answered_directions(answers, by_channel=False)
    torch.testing.assert_close((answers @ along.T).norm(dim=0), strength.sort(descending=True)[0])
    alike = answered_directions(torch.diag(torch.tensor([1.0, 5.0, 9.0, 2.0])))
    torch.testing.assert_close(alike @ alike.T, torch.eye(4))


@pytest.mark.parametrize("by_channel", [True, False])
def test_orthonormal_modulations_answer_to_every_direction_alike(by_channel):
    torch.manual_seed(0)
    answers = torch.linalg.qr(torch.randn(6, 6))[0]
    along = answered_directions(answers, by_channel=by_channel)
    torch.testing.assert_close((answers @ along.T).norm(dim=0), torch.ones(6))


def test_signs_of_directions_are_settled():
    torch.manual_seed(0)
    centred = torch.randn(100, 5)
    along = principal_directions(centred)
    assert (along.gather(1, along.abs().argmax(1, keepdim=True)) > 0).all()


def test_without_psi_every_draw_is_one_image():
    method = changed(truncation=0.0)
    nets = found(method)
    drawn = method.decode(nets, method.sample_prior(nets, 5))
    # To the last bits: kernels round the rows of a batch differently.
    torch.testing.assert_close(drawn, drawn[:1].expand_as(drawn), rtol=0, atol=1e-6)
    mean = nets.directions.mean.expand(1, LAYERS, -1)
    torch.testing.assert_close(drawn[:1], method.render(nets, mean, nets.synthesis.no_noise()))
    one, other = METHOD.decode(nets, METHOD.sample_prior(nets, 2))
    assert (one - other).abs().max() > 0.01


@pytest.mark.parametrize("directions", ["ganspace", "sefa"])
def test_as_many_directions_as_a_style_has_numbers_say_all_of_it(directions):
    method = changed(directions=directions, latent_dim=6)
    nets = found(method)
    styles = method.draw_styles(nets, 4)
    codes = nets.directions.codes(styles[:, None])
    expected = method.render(
        nets, styles[:, None].expand(-1, LAYERS, -1), nets.synthesis.no_noise()
    )
    torch.testing.assert_close(method.decode(nets, codes), expected, rtol=1e-4, atol=1e-4)


def test_what_a_code_leaves_open_is_drawn_and_does_not_touch_the_code():
    nets = found()
    styles = METHOD.draw_styles(nets, 4)[:, None]
    codes = nets.directions.codes(styles)
    beside = styles - nets.directions.styles(codes)
    torch.testing.assert_close(
        nets.directions.codes(nets.directions.mean + beside), 0 * codes, rtol=0, atol=1e-4
    )
    torch.manual_seed(4)
    same = torch.zeros(2, 3)
    one, other = METHOD.draw_images(nets, same)
    assert (one - other).abs().max() > 1e-3
    one, other = METHOD.decode(nets, same)
    assert (one - other).abs().max() < 1e-6


def test_a_latent_of_a_block_moves_the_styles_of_its_layers_alone():
    method = changed(blocks=(1,))
    nets = found(method)
    code = torch.zeros(1, 6)
    fine = code.clone()
    fine[0, 4] = 2
    moved = [method.per_layer(nets, nets.directions.styles(c)) for c in (code, fine)]
    assert torch.equal(moved[0][:, :1], moved[1][:, :1])
    assert not torch.equal(moved[0][:, 1:], moved[1][:, 1:])
    assert [unit.role for unit in method.code(nets, SUMMARY).units] == ["content"] * 3 + [
        "style"
    ] * 3


def test_a_swap_mixes_the_coarse_styles_of_one_image_with_the_fine_ones_of_another():
    method = changed(blocks=(2,))
    nets = found(method)
    one, other = method.encode(nets, IMAGES[:4]), method.encode(nets, IMAGES[4:])
    codes = torch.cat([one[:, :3], other[:, 3:]], dim=1)
    assert torch.equal(method.swap(nets, IMAGES[:4], IMAGES[4:]), method.decode(nets, codes))
    nets = found()
    torch.testing.assert_close(
        METHOD.swap(nets, IMAGES, IMAGES), METHOD.decode(nets, METHOD.encode(nets, IMAGES))
    )


def test_the_head_reads_codes_back_from_images_it_was_not_regressed_on():
    method = changed(head_images=1_024, latent_dim=2)
    nets = found(method)
    with torch.no_grad():
        for layer in nets.synthesis.layers:
            layer.to_pixels.free *= 3  # so that styles of untrained networks change images
    torch.manual_seed(5)
    method.finish(nets, None, 0)
    r2 = method.diagnose(nets, IMAGES.repeat(16, 1, 1, 1))["codes_read_r2"].item()
    assert r2 > 0.5
    codes = method.sample_prior(nets, 256)
    shuffled = codes[torch.randperm(256)]
    with torch.no_grad():
        read = method.encode(nets, method.decode(nets, codes))
    assert (read - shuffled).square().mean() > 3 * (read - codes).square().mean()


def test_regression_begins_afresh_so_that_it_does_not_depend_on_what_was():
    torch.manual_seed(0)
    features, codes = torch.randn(64, 5), torch.randn(64, 2)
    heads = [torch.nn.Sequential(torch.nn.Linear(5, 2)) for _ in range(2)]
    for head in heads:
        torch.manual_seed(1)
        regress(head, features, codes)
    assert torch.equal(heads[0][0].weight, heads[1][0].weight)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"latent_dim": 7}, "latent_dim must be at most the width of a style, 6, found 7"),
        ({"mixing": 1.5}, "mixing is a share from 0 to 1, found 1.5"),
        ({"mapping_speed": 0.0}, "mapping_speed must be above 0, found 0"),
        ({"lazy": 0}, "lazy must be 1 or more, found 0"),
        ({"generator_channels": ()}, "generator_channels must be 1 or more each"),
        ({"truncation": -1.0}, "truncation must be 0 or more, found -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        changed(**settings)


@pytest.mark.parametrize("blocks", [(0,), (3,), (2, 1), (1, 1)])
def test_blocks_begin_at_rising_layers(blocks):
    with pytest.raises(ConfigError, match="blocks are rising numbers from 1 to 2"):
        networks(changed(blocks=blocks))


def test_images_too_small_for_two_sizes_are_refused():
    with pytest.raises(ConfigError, match="needs images of 8 pixels or more, found 5×7"):
        METHOD.networks(ConvAny(), DataSummary((1, 5, 7), 16, {}))
