"""Twins: any method, its code held to a few labels."""

import json
import math

import numpy as np
import pytest
import torch

import unweave as uw
from unweave import catalog
from unweave.batches import Corruption
from unweave.data import DataSummary, load_data
from unweave.errors import ConfigError
from unweave.methods import method_named
from unweave.methods._label_losses import HEADS, LEARNING
from unweave.methods.aae_clustering import AAEClustering
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.pca import PCA
from unweave.methods.qlae import QLAE
from unweave.methods.semi_supervised import SemiSupervised
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train, from_json, to_json
from unweave.training import loop

QUIET = Machine(evaluations=0)
NAN = math.nan
METHODS = {
    "beta_vae": BetaVAE(latent_dim=4),
    "factor_vae": FactorVAE(latent_dim=4, discriminator_width=16, discriminator_depth=1),
    "qlae": QLAE(latent_dim=4),
}


def trained(method, data, folder, steps=3):
    config = Train(
        method=method, data="toy_xys", architecture=MLP64(hidden=16), steps=steps, batch_size=16
    )
    return loop.start(config, data, folder, QUIET)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_without_weight_a_twin_is_the_method_to_the_last_bit(method, toy, tmp_path):
    alone = trained(method, toy, tmp_path / "alone").nets.state_dict()
    twin = SemiSupervised(method, label_weight=0)
    with_labels = trained(twin, toy, tmp_path / "twin").nets.state_dict()
    assert set(alone) == set(with_labels)
    for name, weights in alone.items():
        assert torch.equal(weights, with_labels[name]), name


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_first_dimensions_learn_the_labels(method, toy, tmp_path):
    twin = SemiSupervised(method, labels=16, label_columns=("side", "x"))
    run = trained(twin, toy, tmp_path / "run", steps=60)
    losses = [line["labels"] for line in run.folder.record() if "labels" in line]
    assert len(losses) == 60, "once a step, in one player's turn"
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.02


def test_labels_join_after_their_first_step(toy, tmp_path):
    twin = SemiSupervised(
        BetaVAE(latent_dim=4), label_loss="l2", label_start=2, label_weight="0:100:2"
    )
    run = trained(twin, toy, tmp_path / "run", steps=5)
    lines = [line for line in run.folder.record() if "player" in line]
    assert ["labels" in line for line in lines] == [False, False, True, True, True]
    weights = [
        (line["loss"] - line["reconstruction"] - 4 * line["kl"]) / line["labels"]
        for line in lines[2:]
    ]
    assert weights == pytest.approx([0, 50, 100], abs=0.1)


def test_cross_entropy_is_least_at_the_logit_of_the_label():
    labels = torch.tensor([[0.0, 3.0], [2.0, 1.0], [1.0, 7.0]])
    head = HEADS["xent"]((4, 8))
    share = labels / torch.tensor([4.0, 8.0])
    codes = torch.logit(share, eps=1e-7)
    entropy = -(torch.xlogy(share, share) + torch.xlogy(1 - share, 1 - share))
    torch.testing.assert_close(head(codes, labels), entropy.sum() / 3, atol=1e-5, rtol=0)
    for shift in (-0.1, 0.1):
        assert head(codes + shift, labels) > head(codes, labels)


def test_scaled_l2_is_that_of_the_formula():
    head = HEADS["l2"]((4, 8))
    with torch.no_grad():
        head.scale.fill_(2.0)
    loss = head(torch.tensor([[1.0, 2.0, 9.0]]), torch.tensor([[3.0, 1.0]]))
    assert loss.item() == pytest.approx((2 - 3) ** 2 + (4 - 1) ** 2)
    sigmoid = HEADS["sigmoid_l2"]((4, 8))(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 4.0]]))
    assert sigmoid.item() == pytest.approx(0.25**2)


def test_covariance_spares_the_diagonal_alone():
    generator = torch.Generator().manual_seed(0)
    codes = torch.randn(50, 3, generator=generator)
    labels = torch.randn(50, 2, generator=generator)
    expected = np.cov(codes.T.numpy(), labels.T.numpy(), bias=True)[:3, 3:]
    np.fill_diagonal(expected, 0)
    loss = HEADS["covariance"]((4, 4))(codes, labels)
    assert loss.item() == pytest.approx((expected**2).sum(), rel=1e-5)


def test_an_embedding_prefers_the_nearest_place():
    head = HEADS["ordered_embedding"]((3, 2))  # at -1, 0, 1 and -1, 1
    torch.testing.assert_close(head.places()[0], torch.tensor([-1.0, 0.0, 1.0]))
    codes = torch.tensor([[0.1, 1.0]])
    losses = {
        (a, b): head(codes, torch.tensor([[a, b]])).item() for a in range(3) for b in range(2)
    }
    assert min(losses, key=losses.get) == (1, 1)
    logits = -torch.tensor([1.1, 0.1, 0.9]).square()
    second = -torch.tensor([2.0, 0.0]).square()
    expected = -logits.log_softmax(0)[1] - second.log_softmax(0)[1]
    assert losses[1, 1] == pytest.approx(expected.item(), rel=1e-5)
    with pytest.raises(ConfigError, match="continuous"):
        HEADS["embedding"]((3, 0))


@pytest.mark.parametrize("loss", HEADS)
def test_other_dimensions_and_missing_labels_change_nothing(loss):
    torch.manual_seed(0)
    head = HEADS[loss]((4, 8))
    codes, labels = torch.randn(6, 5), torch.randint(4, (6, 2)).float()
    if loss != "covariance":  # which looks at all dimensions
        moved = codes[:, [0, 1, 4, 2, 3]]
        assert torch.equal(head(codes, labels), head(moved, labels))
    gaps = torch.cat([labels, torch.tensor([[NAN, NAN]])])
    more = torch.cat([codes, torch.randn(1, 5)])
    share = 1 if loss == "covariance" else 6 / 7  # averaged over one image more
    torch.testing.assert_close(head(more, gaps), head(codes, labels) * share)
    assert bool(list(head.parameters())) == (loss in LEARNING)


@pytest.mark.parametrize("loss", HEADS)
def test_every_loss_trains_what_it_learns(loss, toy, tmp_path):
    twin = SemiSupervised(BetaVAE(latent_dim=4), label_loss=loss)
    run = trained(twin, toy, tmp_path / "run")
    fresh = loop.make_networks(run.config, toy)
    before = dict(fresh.label_head.named_parameters())
    for name, after in run.nets.label_head.named_parameters():
        assert not torch.equal(before[name], after), name
    assert ("label_head" in twin.players["autoencoder"].owns) == (loss in LEARNING)


def test_a_twin_is_named_built_and_stored_like_any_method():
    twin = uw.SemiSupervised(
        uw.BetaVAE(beta="0:4:10", latent_dim=7), labels=30, corruption=Corruption(noise=0.1)
    )
    assert catalog.name_of(twin) == "semi_supervised+beta_vae"
    assert type(twin) is method_named("semi_supervised+beta_vae")
    assert isinstance(twin, BetaVAE)
    assert (twin.latent_dim, twin.labels, twin.beta.steps) == (7, 30, 10)
    config = Train(method=twin, data="toy_xys")
    stored = json.loads(json.dumps(to_json(config)))
    assert stored["method"]["name"] == "semi_supervised+beta_vae"
    assert from_json(stored) == config
    assert config.run_name.startswith("semi_supervised+beta_vae-toy_xys-")


def test_a_twin_keeps_the_methods_own_defaults():
    assert method_named("semi_supervised+qlae")().optimizer == QLAE().optimizer
    assert method_named("semi_supervised")().beta == BetaVAE().beta


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: SemiSupervised(PCA()), "nobody trains an encoder"),
        (lambda: SemiSupervised(SemiSupervised(BetaVAE())), "has labels of its own"),
        (lambda: method_named("beta_vae+vae"), "semi_supervised.vae"),
        (lambda: method_named("semi_supervised+beta_va"), "Did you mean 'beta_vae'"),
        (lambda: SemiSupervised(BetaVAE(), labels=0), "labels of 1 image"),
        (lambda: SemiSupervised(BetaVAE(), label_start=-1), "label_start"),
    ],
)
def test_impossible_twins_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("twin", "message"),
    [
        (SemiSupervised(BetaVAE(latent_dim=2)), "3 labels .x, y, side. need a latent_dim of 3"),
        (SemiSupervised(AAEClustering(latent_dim=4)), "this one has 20"),
    ],
)
def test_codes_that_labels_do_not_fit_are_refused(twin, message):
    summary = DataSummary((1, 8, 8), 100, {"x": 16, "y": 16, "side": 4})
    with pytest.raises(ConfigError, match=message):
        twin.networks(MLP64(hidden=8), summary)


def test_the_command_line_trains_a_twin(tmp_path, monkeypatch):
    from unweave.cli import main

    monkeypatch.chdir(tmp_path)
    words = "train semi_supervised+factor_vae --data toy_xys --steps 2 --batch-size 8 --out run "
    words += "--method.labels 10 --method.label-columns side x --method.gamma 7 --no-evaluation "
    words += "--method.discriminator-width 16 --architecture mlp64 --architecture.hidden 16"
    assert main(words.split()) == 0
    method = uw.load("run").config.method
    assert catalog.name_of(method) == "semi_supervised+factor_vae"
    assert (method.labels, method.label_columns, method.gamma.end) == (10, ("side", "x"), 7)


def test_dimensions_of_a_twin_follow_own_labels(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((4, 8, 8), np.uint8))
    (tmp_path / "labels.csv").write_text("label_b,kind,label_a\n1,0,0.5\n,1,\n0,2,0.25\n1,0,\n")
    options = uw.DataOptions(factors=str(tmp_path / "labels.csv"))
    data = load_data(tmp_path / "images.npy", options)
    twin = SemiSupervised(BetaVAE(latent_dim=4))
    assert twin.supervision.names_among(data.summary.column_sizes) == ("label_b", "label_a")
    run = trained(twin, data, tmp_path / "run")
    assert all(math.isfinite(line["labels"]) for line in run.folder.record() if "player" in line)
