"""The adversarial autoencoder at its known points."""

import math

import pytest
import torch

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods.aae import AAE
from unweave.networks import Networks
from unweave.networks.mlp64 import MLP64
from unweave.probability.adversarial import discriminator_loss
from unweave.probability.priors import sample_prior
from unweave.runs.config import Machine, Train
from unweave.training import loop

SMALL = {"latent_dim": 4, "discriminator_width": 32}


def networks(method: AAE, toy) -> Networks:
    return loop.make_networks(Train(method=method, data="toy_xys"), toy)


def batch_of(toy) -> Batch:
    return Batch(torch.from_numpy(toy.images(range(16))), len(toy))


def test_an_undecided_discriminator_gives_the_losses_of_the_equilibrium(toy):
    method = AAE(**SMALL)
    nets = networks(method, toy)
    for parameter in nets.discriminator.parameters():
        torch.nn.init.zeros_(parameter)
    autoencoder, discriminator = (turn.loss for turn in method.turns(nets, batch_of(toy), 0))
    assert autoencoder.terms["fooling"].item() == pytest.approx(math.log(2))
    assert discriminator.total.item() == pytest.approx(2 * math.log(2))


def test_where_codes_are_the_prior_the_discriminator_stays_undecided():
    """Trained on samples of the prior against others of it, it ends at 2 log 2."""
    method = AAE(prior="swiss_roll", **SMALL)
    torch.manual_seed(0)
    nets = method.networks(MLP64(hidden=8), DataSummary((1, 4, 4), 16, {}))
    optimizer = torch.optim.Adam(nets.discriminator.parameters(), lr=1e-3)
    for _ in range(300):
        real, fake = sample_prior("swiss_roll", 1000, 4).chunk(2)
        optimizer.zero_grad()
        discriminator_loss(nets.discriminator(real), nets.discriminator(fake)).backward()
        optimizer.step()
    with torch.no_grad():
        real, fake = sample_prior("swiss_roll", 20_000, 4).chunk(2)
        loss = discriminator_loss(nets.discriminator(real), nets.discriminator(fake))
    assert loss.item() == pytest.approx(2 * math.log(2), abs=0.02)


def test_without_weight_it_is_a_plain_autoencoder(toy, tmp_path):
    """The discriminator's setting leaves no trace in encoder and decoder."""
    machine = Machine(evaluations=0, threads=1)
    small = {"latent_dim": 4, "adversarial_weight": 0}
    runs = [
        loop.start(
            Train(
                method=AAE(discriminator_width=32, discriminator_optimizer=rate, **small),
                data="toy_xys",
                architecture=MLP64(hidden=16),
                steps=5,
            ),
            toy,
            tmp_path / str(rate.learning_rate),
            machine,
        )
        for rate in (AAE().discriminator_optimizer, AAE().optimizer.__class__(0.1))
    ]
    states = [
        {k: v for k, v in run.nets.state_dict().items() if not k.startswith("discriminator")}
        for run in runs
    ]
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    losses = [line for line in runs[0].folder.record() if line.get("player") == "autoencoder"]
    assert all(line["loss"] == line["reconstruction"] for line in losses)


def test_a_deterministic_code_is_the_same_each_time_and_a_gaussian_one_is_not(toy):
    for encoder, same in [("deterministic", True), ("gaussian", False)]:
        method = AAE(encoder=encoder, **SMALL)
        nets = networks(method, toy)
        one, two = (next(method.turns(nets, batch_of(toy), 0)).loss.total for _ in range(2))
        assert torch.equal(one, two) == same
        assert (method.posterior(nets, batch_of(toy).images) is None) == same


def test_the_discriminators_loss_has_no_path_to_the_encoder(toy):
    method = AAE(**SMALL)
    nets = networks(method, toy)
    _, discriminator = (turn.loss for turn in method.turns(nets, batch_of(toy), 0))
    discriminator.total.backward()
    assert all(p.grad is None for p in nets.encoder.parameters())


@pytest.mark.parametrize("prior", ["gaussian", "mixture", "swiss_roll"])
def test_samples_come_from_the_chosen_prior(prior, toy):
    method = AAE(prior=prior, **SMALL)
    torch.manual_seed(3)
    ours = method.sample_prior(networks(method, toy), 10)
    assert ours.shape == (10, 4)
    torch.manual_seed(4)
    ours = method.sample_prior(None, 10)
    torch.manual_seed(4)
    assert torch.equal(ours, sample_prior(prior, 10, 4))


def test_a_roll_in_one_dimension_is_refused():
    with pytest.raises(ConfigError, match="swiss_roll needs a latent_dim of 2"):
        AAE(prior="swiss_roll", latent_dim=1)
