"""Networks that see and draw blocks of pixels."""

import numpy as np
import pytest
import torch

from unweave.data import load_data
from unweave.errors import ConfigError
from unweave.methods.vae import VAE
from unweave.networks import BlockDecoder, block_means
from unweave.networks._glances import TwoGlances, cosines_of, through
from unweave.networks.patches_any import PatchesAny
from unweave.networks.posed import POSE, Posed
from unweave.networks.what_where import WhatWhere, taps
from unweave.probability.likelihood import negative_log_likelihood


@pytest.mark.parametrize("block", [1, 2, 4])
def test_block_means_are_means_of_blocks(block):
    images = torch.rand(3, 2, 8, 12)
    means = block_means(images, block)
    assert means.shape == (3, 2, 8 // block, 12 // block)
    expected = images[1, 0, :block, block : 2 * block].mean()
    torch.testing.assert_close(means[1, 0, 0, 1], expected)


def test_a_block_that_the_border_cuts_is_the_mean_of_what_there_is():
    images = torch.rand(1, 1, 5, 5)
    torch.testing.assert_close(block_means(images, 2)[0, 0, 2, 2], images[0, 0, 4, 4])


@pytest.mark.parametrize("kind", [WhatWhere, PatchesAny, Posed])
@pytest.mark.parametrize("side", [64, 63])
def test_the_likelihood_of_blocks_is_that_of_their_pixels(kind, side):
    """Value and gradients, where blocks fill the image and where they do not."""
    torch.manual_seed(0)
    decoder = kind(hidden=16).decoder(6, (1, side, side))
    assert isinstance(decoder, BlockDecoder)
    nets = torch.nn.Module()
    nets.decoder = decoder
    z, images = torch.randn(4, 6), (torch.rand(4, 1, side, side) > 0.7).float()
    parameters = list(decoder.parameters())
    short = VAE().reconstruction(nets, z, images)
    long = negative_log_likelihood("bernoulli", decoder(z), images, 0.1)
    torch.testing.assert_close(short, long)
    for one, other in zip(
        torch.autograd.grad(short, parameters), torch.autograd.grad(long, parameters), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)


def test_the_spectrum_does_not_see_where_an_object_is_and_the_cosines_do():
    glances = TwoGlances((1, 32, 32), cosines=16, frequencies=12, hidden=8)
    images = torch.zeros(3, 1, 32, 32)
    images[0, 0, 4:9, 6:10] = 1
    images[1, 0, 20:25, 15:19] = 1  # the same moved
    images[2, 0, 4:8, 6:11] = 1  # another shape
    first, moved, other = glances.amplitudes(images)
    torch.testing.assert_close(first, moved, rtol=1e-3, atol=2e-3)
    assert (first - other).abs().max() > 0.05
    seen = through(images, glances.rows, glances.columns)
    assert (seen[0] - seen[1]).abs().max() > 0.5


def test_an_image_looked_at_through_rows_and_columns_is_a_product_of_matrices():
    images, rows, columns = torch.randn(2, 3, 6, 5), torch.randn(6, 4), torch.randn(5, 2)
    expected = torch.einsum("bchw,hr,wk->bcrk", images, rows, columns)
    torch.testing.assert_close(through(images, rows, columns), expected)
    table = cosines_of(16, 9)
    torch.testing.assert_close(table.t() @ table, torch.eye(9), atol=1e-5, rtol=0)


def test_an_object_is_drawn_where_rows_and_columns_say():
    drawing = WhatWhere().decoder(3, (1, 64, 64)).coarse[-1]
    said = torch.zeros(1, drawing.inputs)
    kernels = said[:, drawing.places :].view(1, -1)
    length, depth = taps(32), drawing.kernels
    middle = (length // 2) * depth
    kernels[0, middle] = 1.0  # the first kernel of rows: one pixel
    kernels[0, length * depth + middle] = 1.0  # and of columns
    for row, column in ((5, 20), (30, 2)):
        placed = said.clone()
        placed[0, row] = placed[0, 32 + column] = 30.0
        logits = drawing(placed)[0, 0]
        assert divmod(int(logits.argmax()), 32) == (row, column)
        assert logits.max() - logits.min() > 60  # 8 · 8, and nothing elsewhere


def test_the_first_codes_of_posed_place_size_and_turn_what_the_others_draw():
    torch.manual_seed(0)
    decoder = Posed().decoder(POSE + 2, (1, 64, 64))
    decoder.coarse.per_code.data.fill_(1.0)

    def moments(**pose: float) -> tuple[np.ndarray, np.ndarray]:
        """Return centre, in half sides across and down, and covariance of what is drawn."""
        codes = torch.zeros(1, POSE + 2)
        for name, value in pose.items():
            codes[0, ["x", "y", "log_size", "angle"].index(name)] = value
        with torch.no_grad():
            drawn = (decoder(codes) - decoder.coarse.ground)[0, 0].double().numpy()
        at = (2 * np.arange(64) + 1) / 64 - 1
        points = np.stack(np.meshgrid(at, at)).reshape(2, -1)
        return points @ drawn.ravel() / drawn.sum(), np.cov(points, aweights=drawn.ravel())

    centre, spread = moments()
    np.testing.assert_allclose(centre, 0, atol=0.01)
    np.testing.assert_allclose(spread, spread[0, 0] * np.eye(2), atol=1e-4)  # round at first
    down = (2 * torch.arange(16) + 1) / 16 - 1
    decoder.coarse.drawn[-2].bias.data.view(16, 16).mul_(torch.exp(-5 * down[:, None] ** 2))
    centre, spread = moments()
    moved, same = moments(x=0.4, y=-0.3)
    np.testing.assert_allclose(moved, np.add(centre, [0.4, -0.3]), atol=0.01)
    np.testing.assert_allclose(same, spread, rtol=0.05, atol=1e-4)
    np.testing.assert_allclose(moments(log_size=0.3)[1], spread * np.exp(0.6), rtol=0.1, atol=1e-3)
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    np.testing.assert_allclose(moments(angle=0.7)[1], turn @ spread @ turn.T, rtol=0.1, atol=1e-3)
    assert spread[0, 0] > 2 * spread[1, 1], "or a turn would not show"


def test_the_codes_that_posed_draws_from_do_not_say_where_the_object_lies():
    torch.manual_seed(0)
    laid = Posed(hidden=16).decoder(POSE + 3, (3, 64, 64)).coarse
    codes = torch.randn(2, POSE + 3, requires_grad=True)
    assert laid(codes).shape == (2, 3, 32, 32)
    laid.drawn(codes[:, POSE:]).sum().backward()
    assert (codes.grad[:, :POSE] == 0).all()
    assert (codes.grad[:, POSE:] != 0).all()


def test_few_codes_lay_one_drawing_and_wrong_settings_are_refused():
    laid = Posed().decoder(2, (1, 64, 64)).coarse
    drawn = laid(torch.tensor([[0.0, 0.0], [1.0, 0.0]])).detach()
    assert (laid.drawn(torch.zeros(2, 0))[0] == laid.drawn(torch.zeros(2, 0))[1]).all()
    columns = drawn.sum((1, 2)) @ torch.arange(32.0) / drawn.sum((1, 2, 3))
    assert columns[0] != columns[1], "the first code moves it across"
    with pytest.raises(ConfigError, match="frame must be 2 or more, found 1"):
        Posed(frame=1)


@pytest.mark.parametrize("kind", [WhatWhere, Posed])
def test_networks_for_one_object_code_what_they_saw(kind):
    """A few steps lower the error of images by far more than their mean could."""
    data = load_data("toy_xys")
    torch.manual_seed(0)
    method = VAE(latent_dim=5)
    nets = method.networks(kind(hidden=64), data.summary)
    optimizer = torch.optim.Adam(nets.parameters(), 2e-3)
    rng = np.random.default_rng(0)
    held_out = torch.from_numpy(data.images(np.arange(0, len(data), 7)[:64]))
    mean = held_out.mean(0).clamp(1e-3, 1 - 1e-3)
    least = negative_log_likelihood(
        "bernoulli", mean.logit().expand_as(held_out), held_out, 0.1
    ).item()
    for step in range(150):
        batch = method.supervision.draw(data, 32, rng)
        optimizer.zero_grad()
        method.loss(nets, batch, step).total.backward()
        optimizer.step()
    with torch.no_grad():
        error = method.reconstruction(nets, method.encode(nets, held_out), held_out).item()
    assert error < 0.5 * least
