"""SlowVAE: sources that move little and seldom end on the axes of the code."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from rules._points import NETWORK, SETTINGS, SOURCES, STEPS, bent, by_ica, finding, some_rows
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import judged_on, train
from unweave.data import Column, Factor, FactorImages
from unweave.methods import Method
from unweave.methods.slow_vae import SlowVAE
from unweave.methods.vae import VAE
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Scalar

PAIRS = 20_000
RATE = 6.0


@cache
def pairs() -> FactorImages:
    """Draw normal sources and where each moves by a Laplace distribution, all bent alike.

    Of one frame alone the sources are normal, so any rotation of them is as good.
    """
    rng = np.random.default_rng(0)
    past = rng.standard_normal((PAIRS, SOURCES))
    future = past + rng.laplace(scale=1 / RATE, size=past.shape)
    return bent("bent pairs", 2 * np.concatenate([past, future]), [column_of(numbers())], rng)


def numbers() -> np.ndarray:
    return np.tile(np.arange(PAIRS), 2)


def column_of(pair: np.ndarray) -> Column:
    return Column(Factor("pair", PAIRS), pair)


def strangers(seed: int) -> FactorImages:
    """Return the same points in pairs that have nothing to do with each other."""
    data = pairs()
    order = np.random.default_rng((seed, 0x5AB)).permutation(len(data))
    column = column_of(numbers()[order])
    return FactorImages(data.name, data.pixels, data.factor_list, data.factors(), columns=[column])


@dataclass(frozen=True, kw_only=True)
class NormalTransitions(SlowVAE):
    """Holds frames together by a normal distribution, which has no axes."""

    catalog_name = "slow_vae"

    def slowness(self, one: DiagonalGaussian, two: DiagonalGaussian) -> Scalar:
        variance = 2 / self.rate**2
        moved = (one.mean - two.mean) ** 2
        of_both = [
            (moved + q.std**2) / variance - 1 - (q.std**2 / variance).log() for q in (one, two)
        ]
        return (sum(of_both) / 2).sum(1).mean()


def trained(method: Method) -> Measure:
    return lambda seed: of_pairs(method, pairs(), seed)


def of_pairs(method: Method, data: FactorImages, seed: int) -> Finding:
    run = train(method, data=data, network=NETWORK, steps=STEPS, batch_size=128, seed=seed)
    images = pairs().images(some_rows(len(pairs())))
    return finding(judged_on(run, pairs()).encode(images), pairs())


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    best = max(columns["MCC"].max() for columns in others.values())
    return {
        "MCC > 0.88": bool(own["MCC"].min() > 0.88),
        "MCC > VAE's and linear ICA's best + 0.05": bool(own["MCC"].min() > best + 0.05),
    }


METHOD = {"likelihood": "gaussian", "rate": RATE, **SETTINGS}
RULE = Rule(
    covers=("slow_vae",),
    claim="5 normal sources that move by a Laplace distribution, mixed by rotation, asinh and "
    "rotation, the paper's γ, rate and β: MCC of each seed > 0.88, above the best of a VAE and of "
    "linear ICA by 0.05 or more",
    method=trained(SlowVAE(**METHOD)),
    saboteurs={
        "no slowness (γ = 0)": trained(SlowVAE(**METHOD | {"gamma": 0})),
        "frames that share nothing": lambda seed: of_pairs(
            SlowVAE(**METHOD), strangers(seed), seed
        ),
        "normal transitions": trained(NormalTransitions(**METHOD)),
    },
    references={
        "VAE": trained(VAE(likelihood="gaussian", **SETTINGS)),
        "linear ICA": lambda seed: by_ica(pairs(), seed),
    },
    checks=checks,
    picture="The first source across, the dimension that is most correlated with it upwards.",
)
