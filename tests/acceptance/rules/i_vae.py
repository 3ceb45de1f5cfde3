"""iVAE: segments make sources identifiable that linear ICA cannot find."""

from functools import cache

import numpy as np

from rules._points import NETWORK, SETTINGS, SOURCES, STEPS, bent, by_ica, finding, some_rows
from rules._rule import FRESH_SEEDS, Checks, Columns, Finding, Measure, Rule
from rules._training import judged_on, shuffled_columns, train
from unweave.data import Column, Factor, FactorImages
from unweave.methods import Method
from unweave.methods.i_vae import IVAE
from unweave.methods.vae import VAE

SEGMENTS, POINTS = 40, 1000


@cache
def points() -> FactorImages:
    """Draw sources as `segments` does, and bend them."""
    rng = np.random.default_rng(0)
    deviations = rng.uniform(0.5, 3.0, (SEGMENTS, 1, SOURCES))
    sources = deviations * rng.standard_normal((SEGMENTS, POINTS, SOURCES))
    segment = Column(Factor("segment", SEGMENTS), np.repeat(np.arange(SEGMENTS), POINTS))
    return bent("bent segments", sources.reshape(-1, SOURCES), [segment], rng)


def without_segments() -> FactorImages:
    """Return the same points, with one segment for all."""
    data = points()
    segment = Column(Factor("segment", 1), np.zeros(len(data), dtype=np.int64))
    return FactorImages(data.name, data.pixels, data.factor_list, data.factors(), columns=[segment])


def trained(method: Method, data: FactorImages | None = None) -> Measure:
    def measure(seed: int) -> Finding:
        chosen = points() if data is None else data
        run = train(method, data=chosen, network=NETWORK, steps=STEPS, batch_size=128, seed=seed)
        images = points().images(some_rows(len(points())))
        return finding(judged_on(run, points()).encode(images), points())

    return measure


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    middle = np.median(own["MCC"])
    rivals = max(np.median(columns["MCC"]) for columns in others.values())
    return {
        "median MCC > 0.9": bool(middle > 0.9),
        "median MCC > VAE's and linear ICA's + 0.1": bool(middle > rivals + 0.1),
    }


RULE = Rule(
    covers=("i_vae",),
    claim="40 segments of 5 sources mixed by rotation, asinh and rotation, medians of the seeds: "
    "MCC of codes from points alone > 0.9, above that of a VAE and of linear ICA by 0.1 or more",
    method=trained(IVAE(**SETTINGS)),
    saboteurs={
        "one segment for all": lambda seed: trained(IVAE(**SETTINGS), without_segments())(seed),
        "segments shuffled": lambda seed: trained(
            IVAE(**SETTINGS), shuffled_columns(points(), seed)
        )(seed),
    },
    references={
        "VAE": trained(VAE(likelihood="gaussian", **SETTINGS)),
        "linear ICA": lambda seed: by_ica(points(), seed),
    },
    checks=checks,
    picture="The first source across, the dimension that is most correlated with it upwards.",
    reformed="On seeds 11 to 13 the median MCC was 0.99, and with segments shuffled 0.80, which "
    "was the bound: the saboteur failed by a hair in the difference to a VAE, and passed on two "
    "seeds of three alone. The bound has been 0.9 since.",
    seeds=FRESH_SEEDS,
)
