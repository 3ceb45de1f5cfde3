"""Ada-GVAE, Ada-ML-VAE and SlowVAE on pairs, ML-VAE and GVAE on groups, of toy_xys."""

import numpy as np
import pytest

from unweave.evaluation.probes import accuracy_of_evidence, leakage
from unweave.methods.ada_gvae import AdaGVAE
from unweave.methods.ada_ml_vae import AdaMLVAE
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.gvae import GVAE
from unweave.methods.ml_vae import MLVAE
from unweave.methods.slow_vae import SlowVAE
from unweave.metrics import mcc, mig
from unweave.networks import Architecture
from unweave.networks.mlp64 import MLP64
from unweave.settings.optimizers import Adam

FAST = {"latent_dim": 6, "optimizer": Adam(1e-3)}
TANH = MLP64(hidden=256)
# Converges several times sooner than the default decoder, which has tanh.
RELU = MLP64(hidden=256, decoder_activation="relu")
SEEDS = range(3)


def scores(
    train, toy, method, metric, steps: int, architecture: Architecture = TANH
) -> list[float]:
    """Return a metric of all images for each seed."""
    images, factors = toy.images(np.arange(len(toy))), toy.factors()
    runs = (train(method, architecture=architecture, steps=steps, seed=seed) for seed in SEEDS)
    return [float(metric(run.encode(images), factors).value) for run in runs]


def test_adaptive_vaes(train, toy, verdict):
    """One factor of a pair differs; the methods are not told which, nor how many."""
    found = {
        name: scores(train, toy, method, mig, steps=2500, architecture=RELU)
        for name, method in (
            ("β-VAE", BetaVAE(beta=4, **FAST)),
            ("Ada-GVAE", AdaGVAE(**FAST)),
            ("Ada-ML-VAE", AdaMLVAE(**FAST)),
        )
    }
    median = {name: np.median(values) for name, values in found.items()}
    verdict(
        "ada_gvae, ada_ml_vae",
        "median MIG of 3 seeds at least that of β-VAE (β=4) + 0.2",
        {f"MIG {name}": values for name, values in found.items()},
        bool(min(median["Ada-GVAE"], median["Ada-ML-VAE"]) >= median["β-VAE"] + 0.2),
    )


def test_slow_vae(train, toy, verdict):
    """Small images ask for less weight on slowness than the paper's 10, at which the code is
    lost; at its data rate of 1 nearly every factor moves in every pair."""
    method = SlowVAE(gamma=2, data_rate=5.0, **FAST)
    slow = scores(train, toy, method, mcc, steps=3000)
    plain = scores(train, toy, BetaVAE(beta=4, **FAST), mcc, steps=3000)
    verdict(
        "slow_vae",
        "Laplace transitions of rate 5: median MCC of 3 seeds above that of β-VAE (β=4)",
        {"MCC SlowVAE (γ=2)": slow, "MCC β-VAE": plain},
        bool(np.median(slow) > np.median(plain)),
    )


@pytest.mark.parametrize("kind", [MLVAE, GVAE])
def test_content_and_style(train, verdict, kind):
    """A style with room for x and y and nothing else, groups of 5 images of one side."""
    method = kind(latent_dim=2, content_dim=2, group="side", optimizer=Adam(1e-3))
    runs = [train(method, architecture=RELU, steps=2000, seed=seed) for seed in SEEDS]
    found = [leakage(run) for run in runs]
    means = [leak.accuracy["style"] for leak in found]
    drawn = [leak.drawn["style"] for leak in found]
    linear = [leak.linear["style"] for leak in found]
    chance = found[0].chance
    content = [leak.accuracy["content"] for leak in found]
    one, five = ([accuracy_of_evidence(run, images) for run in runs] for images in (1, 5))
    verdict(
        "ml_vae" if kind is MLVAE else "gvae",
        "each of 3 seeds: a forest names the side from content in > 90 %, from style as drawn in "
        "at most chance + 10 points (as does a linear probe of its means), from its means in at "
        "most chance + 20; the content of 5 images together names it as often as that of one, "
        "or more, to within a point",
        {
            "content": content,
            "style as drawn": drawn,
            "style": means,
            "style, linear probe": linear,
            "chance": chance,
            "1 image": one,
            "5 images": five,
        },
        min(content) > 0.9
        and max(*drawn, *linear) <= chance + 0.1
        and max(means) <= chance + 0.2
        and all(more >= single - 0.01 for single, more in zip(one, five, strict=True)),
    )
