"""The distance of supports on codes whose answer is known."""

import itertools

import pytest
import torch

from unweave.batches import Batch
from unweave.errors import ConfigError
from unweave.methods import hfs
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.hfs import HFS, distance_of_supports
from unweave.runs.config import Train
from unweave.training import loop

BOTH = torch.tensor([[0, 1]])


def by_definition(codes: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
    """Compute the sum over pairs with all distances at once."""
    total = torch.zeros(())
    for a, b in pairs.tolist():
        seen = codes[:, [a, b]]
        box = torch.stack(
            [codes[:, a].repeat_interleave(len(codes)), codes[:, b].repeat(len(codes))]
        )
        total = total + (box.T[:, None] - seen).square().sum(2).min(1).values.max()
    return total


def test_codes_on_a_grid_lack_nothing_and_codes_on_a_line_do():
    grid = torch.tensor(list(itertools.product([0.0, 1.0, 2.0], [0.0, 5.0])))
    assert distance_of_supports(grid, BOTH) == 0
    line = torch.arange(4.0)[:, None].expand(4, 2)
    # (0, 3) is furthest: (1, 1) and (2, 2) are at 1 + 4, nearer than the ends at 9.
    assert distance_of_supports(line, BOTH) == 5


@pytest.mark.parametrize("together", [1, 100, 1_000_000])
def test_it_is_the_hausdorff_distance_however_it_is_cut_up(together, monkeypatch):
    monkeypatch.setattr(hfs, "TOGETHER", together)
    codes = torch.randn(9, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    pairs = torch.tensor([[0, 1], [2, 3], [0, 3]])
    found, exact = distance_of_supports(codes, pairs), by_definition(codes, pairs)
    torch.testing.assert_close(found, exact)
    (gradient,) = torch.autograd.grad(found, codes)
    (wanted,) = torch.autograd.grad(exact, codes)
    torch.testing.assert_close(gradient, wanted)


def test_the_order_of_images_does_not_matter():
    codes = torch.randn(8, 3)
    pairs = torch.tensor([[0, 1], [1, 2]])
    torch.testing.assert_close(
        distance_of_supports(codes.flip(0), pairs), distance_of_supports(codes, pairs)
    )


def test_gradients_bring_the_code_and_what_is_missing_together():
    line = torch.tensor([[0.0, 0.0], [1.0, 1.0]], requires_grad=True)
    distance_of_supports(line, BOTH).backward()
    step = (line - 0.1 * line.grad).detach()
    assert distance_of_supports(step, BOTH) < distance_of_supports(line, BOTH)
    # The recombination lends from one image and is nearest to another: both move.
    assert (line.grad.abs().sum(1) > 0).all()


def test_pairs_are_of_different_dimensions_and_none_comes_twice():
    torch.manual_seed(0)
    few = HFS(latent_dim=6, pairs=4).draw_pairs()
    assert few.shape == (4, 2)
    assert (few[:, 0] < few[:, 1]).all()
    every = {tuple(pair) for pair in HFS(latent_dim=4).draw_pairs().tolist()}
    assert every == set(itertools.combinations(range(4), 2))
    assert not torch.equal(few, HFS(latent_dim=6, pairs=4).draw_pairs())


def test_without_gamma_it_is_the_beta_vae_and_gamma_weighs_what_is_missing(toy):
    batch = Batch(torch.from_numpy(toy.images(range(16))), len(toy))
    nets = loop.make_networks(Train(method=HFS(latent_dim=3), data="toy_xys"), toy)

    def loss(method):
        torch.manual_seed(7)
        return method.loss(nets, batch, 0)

    plain = loss(BetaVAE(latent_dim=3, beta=2))
    assert torch.equal(loss(HFS(latent_dim=3, gamma=0, beta=2)).total, plain.total)
    found = loss(HFS(latent_dim=3, gamma=10, beta=2))
    missing = by_definition(nets.encoder(batch.images).mean, torch.tensor([[0, 1], [0, 2], [1, 2]]))
    torch.testing.assert_close(found.terms["missing_support"], missing)
    torch.testing.assert_close(found.total, plain.total + 10 * missing)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match="pairs must be 1 or more, found 0"):
        HFS(pairs=0)
    with pytest.raises(ConfigError, match="latent_dim must be 2 or more, found 1"):
        HFS(latent_dim=1)
