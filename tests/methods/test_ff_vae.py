"""Attributes of FFVAE: told where they are known, exchanged on their own, left out at will."""

import numpy as np
import pytest
import torch

from unweave.batches import Batch, LabelledBatch
from unweave.data import DataSummary, from_arrays
from unweave.errors import DataError
from unweave.methods.ff_vae import FFVAE, Attributes, exchange_blocks
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.training import loop

SMALL = {"latent_dim": 3, "discriminator_width": 16}
METHOD = FFVAE(sensitive=("old", "tall"), **SMALL)
SUMMARY = DataSummary((1, 8, 8), 10, {"old": 2, "tall": 3})
IMAGES = torch.rand(2, 6, 1, 8, 8, generator=torch.Generator().manual_seed(0))
LABELS = torch.tensor(
    [[0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [torch.nan, 0.0], [1.0, 1.0]]
)
BATCH = LabelledBatch(IMAGES[0], 10, labels=LABELS, labelled=9, unlabelled=Batch(IMAGES[1], 10))


def networks(method: FFVAE = METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), SUMMARY)


def losses(method: FFVAE = METHOD, nets=None):
    nets = networks(method) if nets is None else nets
    torch.manual_seed(7)
    return {turn.player: turn.loss for turn in method.turns(nets, BATCH, 0)}


def test_an_attribute_is_told_from_its_own_number_and_a_gap_adds_nothing():
    b = torch.tensor([[3.0, 0.0], [-2.0, 1.0]])
    found = Attributes([2, 3])(b, torch.tensor([[1.0, torch.nan], [0.0, 2.0]]))
    by_hand = -torch.sigmoid(torch.tensor([3.0, 2.0, 1.0])).log().sum() / 2
    torch.testing.assert_close(found, by_hand)
    # Of three values the one in the middle lies halfway; a continuous one is what it is.
    half = Attributes([3, 0])(torch.zeros(1, 2), torch.tensor([[1.0, 0.5]]))
    assert half.item() == pytest.approx(2 * 0.6931, abs=1e-3)


def test_blocks_are_exchanged_whole_and_each_on_its_own():
    torch.manual_seed(0)
    rows = torch.arange(200.0)[:, None].expand(-1, 5).clone()
    moved = exchange_blocks(rows, [1, 1, 3])
    assert torch.equal(moved.sort(0).values, rows)
    assert (moved[:, 2:] == moved[:, 2:3]).all(), "z keeps its joint distribution"
    for one, two in ((0, 1), (0, 2), (1, 2)):
        assert (moved[:, one] == moved[:, two]).float().mean() < 0.1


def test_without_attributes_it_is_the_vae():
    method = FFVAE(gamma=0, **SMALL)
    nets = networks(method)
    batch = LabelledBatch(IMAGES[0], 10, torch.zeros(6, 0), 0, unlabelled=BATCH.unlabelled)
    torch.manual_seed(7)
    total = next(method.turns(nets, batch, 0)).loss.total
    torch.manual_seed(7)
    vae = VAE(latent_dim=3).loss(nets, Batch(IMAGES[0], 10), 0).total
    torch.testing.assert_close(total, vae)


def test_the_total_is_the_weighted_sum_of_its_terms():
    method = FFVAE(sensitive=("old", "tall"), alpha=4, gamma=3, **SMALL)
    nets = networks(method)
    loss = losses(method, nets)["autoencoder"]
    t = loss.terms
    expected = t["reconstruction"] + t["kl"] + 4 * t["attributes"] + 3 * t["total_correlation"]
    torch.testing.assert_close(loss.total, expected)
    torch.manual_seed(7)
    codes = nets.encoder(IMAGES[0]).sample()
    torch.testing.assert_close(t["attributes"], nets.attributes(codes[:, :2], LABELS))
    torch.testing.assert_close(t["total_correlation"], nets.discriminator(codes).mean())


def test_labels_teach_the_encoder_by_the_attributes_numbers_alone():
    nets = networks()
    losses(nets=nets)["autoencoder"].terms["attributes"].backward()
    last = nets.encoder.trunk[-1].weight.grad.abs().sum(1)
    means, widths = last[:5], last[5:]
    assert (means[:2] > 0).all()
    assert (widths[:2] > 0).all()
    assert (means[2:] == 0).all()
    assert (widths[2:] == 0).all()
    assert all(p.grad is None for p in nets.decoder.parameters())


def test_the_discriminators_loss_has_no_path_to_the_encoder():
    nets = networks()
    losses(nets=nets)["discriminator"].total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())
    assert all(p.grad is not None for p in nets.discriminator.parameters())


def test_a_code_without_an_attribute_keeps_all_else():
    nets = networks()
    codes = METHOD.encode(nets, IMAGES[0])
    units = METHOD.code(nets, SUMMARY).units
    assert [unit.factor for unit in units] == ["old", "tall", "", "", ""]
    kept = [d for unit in units if unit.factor != "old" for d in unit.dimensions]
    assert torch.equal(codes[:, kept], codes[:, 1:])


def test_attributes_of_a_table_with_gaps_train(tmp_path):
    rng = np.random.default_rng(0)
    n = np.arange(30)
    table = {"label_old": np.where(n % 3, n % 2, np.nan), "label_tall": n % 3}
    data = from_arrays(rng.integers(0, 256, (30, 8, 8), dtype=np.uint8), table)
    method = FFVAE(sensitive=("label_old", "label_tall"), **SMALL)
    config = Train(
        method=method, data="arrays", architecture=MLP64(hidden=8), steps=2, batch_size=9
    )
    run = loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert run.encode(data.images([0])).shape == (1, 5)
    drawn = method.supervision.draw(data, 30, np.random.default_rng(0))
    assert drawn.labels[:, 0].isnan().sum() == 10
    assert not drawn.labels[:, 1].isnan().any()


def test_data_without_attributes_are_refused_with_lines_of_a_table(tmp_path):
    data = from_arrays(np.zeros((9, 8, 8), dtype=np.uint8))
    config = Train(method=FFVAE(**SMALL), data="arrays", steps=2)
    with pytest.raises(
        DataError, match=r"neither a column 'label' nor factors[^\n]*\n    file,label"
    ):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
