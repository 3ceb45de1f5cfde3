"""Heads of clusters: where they put codes, and how they repel each other."""

import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.methods.aae_reduction import AAEReduction, repulsion
from unweave.networks.mlp64 import MLP64

METHOD = AAEReduction(latent_dim=2, clusters=3, discriminator_width=16)


def networks():
    torch.manual_seed(0)
    return METHOD.networks(MLP64(hidden=16), DataSummary((1, 4, 4), 16, {}))


def test_heads_far_enough_apart_leave_each_other_alone():
    heads = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]], requires_grad=True)
    loss = repulsion(heads, 2.9)
    loss.backward()
    assert loss.item() == 0
    assert heads.grad.abs().max() == 0


def test_coincident_heads_cost_the_whole_distance_and_have_a_gradient():
    heads = torch.ones(2, 2, requires_grad=True)
    loss = repulsion(heads, 3.0)
    loss.backward()
    assert loss.item() == pytest.approx(3, abs=1e-3)
    assert torch.isfinite(heads.grad).all()


def test_the_cost_is_linear_in_the_missing_distance():
    costs = [repulsion(torch.tensor([[0.0, 0.0], [d, 0.0]]), 3.0).item() for d in (1, 2, 2.5)]
    assert costs == pytest.approx([2, 1, 0.5], abs=1e-6)


def test_lowering_the_repulsion_drives_close_heads_apart():
    torch.manual_seed(0)
    heads = (0.1 * torch.randn(6, 2)).requires_grad_()
    optimizer = torch.optim.Adam([heads], lr=0.05)
    for _ in range(500):
        optimizer.zero_grad()
        repulsion(heads, 2.0).backward()
        optimizer.step()
    assert torch.pdist(heads).min() > 1.95


def test_a_sure_cluster_without_style_is_at_its_head():
    nets = networks()
    heads = nets.heads.weight.T
    joined = METHOD.join(nets, torch.eye(3), torch.zeros(3, 2))
    torch.testing.assert_close(joined, heads)
    style = torch.tensor([[0.5, -1.0]])
    torch.testing.assert_close(METHOD.join(nets, torch.eye(3)[1:2], style)[0], heads[1] + style[0])


def test_the_repulsion_reaches_the_heads_alone_and_is_in_the_loss():
    nets = networks()
    with torch.no_grad():
        nets.heads.weight *= 0.1
    batch = Batch(torch.rand(10, 1, 4, 4), 100)
    loss = next(METHOD.turns(nets, batch, 0)).loss
    loss.terms["repulsion"].backward(retain_graph=True)
    assert nets.heads.weight.grad.abs().max() > 0
    assert all(p.grad is None for p in nets.encoder.parameters())
    rest = loss.terms["reconstruction"] + 5 * (
        loss.terms["fooling_cluster"] + loss.terms["fooling_style"]
    )
    added = 10 * loss.terms["repulsion"] - 3 * loss.terms["information"]
    assert (loss.total - rest).item() == pytest.approx(added.item(), rel=1e-4)


def test_codes_and_swaps_have_one_head_each_and_no_blend():
    nets = networks()
    images = torch.rand(8, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        logits, z = METHOD.split(nets, images)
        heads = nets.heads.weight.T[logits.argmax(1)]
        torch.testing.assert_close(METHOD.encode(nets, images), heads + z)
        swapped = METHOD.swap(nets, images, images.flip(0))
        torch.testing.assert_close(swapped, METHOD.decode(nets, heads + z.flip(0)))
    # Labels could still teach the encoder which cluster an image is of.
    logits, _ = METHOD.split(nets, images)
    (gradient,) = torch.autograd.grad(METHOD.likeliest_cluster(logits)[:, 0].sum(), logits)
    assert gradient.abs().min() > 0
