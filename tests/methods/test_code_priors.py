"""The prior of a code is a setting of every method with a Gaussian posterior and a KL."""

import numpy as np
import pytest
import torch

from unweave import catalog, views, workflows
from unweave.code_prior import PRIORS
from unweave.data import load_data
from unweave.methods import method_named
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Machine, Train, from_json, to_json
from unweave.training import loop

NAMES = [
    name
    for name in catalog.names("unweave.methods")
    if issubclass(method_named(name), GaussianAutoencoder)
]
TRAINED = [name for name in NAMES if method_named(name)().players]


@pytest.fixture(scope="module")
def toys():
    return load_data("toy_xys")


@pytest.mark.parametrize("name", TRAINED)
def test_the_kl_in_the_loss_is_that_to_the_prior(name, toys):
    """Weights and noise being equal, losses differ by the prior alone."""
    losses = {}
    for prior in PRIORS:
        method = method_named(name)(prior=prior).settled(100, toys)
        torch.manual_seed(0)
        nets = method.networks(ConvAny(channels=(4,), hidden=8), toys.summary)
        batch = method.supervision.draw(toys, 16, np.random.default_rng(0))
        turn = next(iter(method.turns(nets, batch, 0)))
        turn.loss.total.backward()
        assert all(p.grad.isfinite().all() for p in nets.encoder.parameters())
        losses[prior] = [t.item() for k, t in turn.loss.terms.items() if k.startswith("kl")]
    for gaussian, flat, steep in zip(*losses.values(), strict=True):
        assert gaussian < flat < steep  # a code near 0 is dearer the flatter the prior


@pytest.mark.parametrize("name", NAMES)
def test_codes_are_drawn_from_the_prior(name, toys):
    method = method_named(name)(prior="uniform_like")
    nets = method.networks(ConvAny(channels=(4,), hidden=8), toys.summary)
    torch.manual_seed(0)
    codes = method.sample_prior(nets, 5000)
    assert codes.shape == (5000, method.code(nets, toys.summary).size)
    assert codes.abs().max() < 2.3  # where a Gaussian would have hundreds beyond
    assert codes.var(0).mean().item() == pytest.approx(1, abs=0.02)


def test_the_evidence_bound_counts_the_kl_to_the_prior(toys):
    images = torch.from_numpy(toys.images(np.arange(32)))
    for prior in PRIORS:
        method = method_named("vae")(prior=prior)
        torch.manual_seed(0)
        nets = method.networks(ConvAny(channels=(4,), hidden=8), toys.summary)
        q = method.posterior(nets, images)
        expected = PRIORS[prior].kl(q.mean, q.logvar, q.variance).sum(1).mean()
        found = method.diagnose(nets, images)
        torch.testing.assert_close(found["kl"], expected)
        torch.testing.assert_close(found["elbo"], -(found["reconstruction"] + expected))


def test_scores_diagnostics_and_views_of_a_run_know_its_prior(toys, tmp_path):
    config = Train(
        method=method_named("vae")(latent_dim=3, prior="flat"),
        data="toy_xys",
        architecture=ConvAny(channels=(4,), hidden=8),
        steps=2,
        batch_size=8,
    )
    run = loop.start(config, toys, tmp_path / "run", Machine(evaluations=1))
    prior = PRIORS["flat"]
    details = workflows.evaluate(run, "kl_decomposition", preset="fast")["kl_decomposition"].details
    assert details["prior"] == "flat"
    assert details["kl_per_code"].min() >= prior.least_kl
    line = next(line for line in run.folder.record() if "kl_per_dimension" in line)
    assert line["least_kl"] == prior.least_kl
    assert min(line["kl_per_dimension"]) >= prior.least_kl
    codes = views.sample_codes(run, 200)
    mean, logvar = (part.astype(np.float64) for part in codes.posterior)
    assert codes.kl() == pytest.approx(prior.kl(mean, logvar, np.exp(logvar)).mean(0))
    last = views.traversals(run, codes=codes).values
    assert np.abs(last).max() == pytest.approx(prior.reach)


def test_the_default_prior_leaves_names_of_runs_as_they_were():
    config = Train(method=method_named("beta_vae")(beta=4), data="dsprites")
    assert config.run_name == "beta_vae-dsprites-65e71ab2-s0"
    flat = Train(method=method_named("beta_vae")(beta=4, prior="flat"), data="dsprites")
    assert flat.run_name != config.run_name
    assert from_json(to_json(flat)) == flat
