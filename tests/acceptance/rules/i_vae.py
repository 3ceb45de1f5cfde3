"""iVAE: segments make sources identifiable that linear ICA cannot find."""

from functools import cache

import numpy as np

from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import judged_on, shuffled_columns, train
from unweave.data import Column, Factor, FactorImages
from unweave.data._pixels import FloatPixels
from unweave.methods import Method
from unweave.methods.i_vae import IVAE
from unweave.methods.vae import VAE
from unweave.metrics import mcc
from unweave.networks.mlp64 import MLP64
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 8000
SOURCES, SEGMENTS, POINTS = 5, 40, 1000
SETTINGS = {"latent_dim": 5, "pixel_scale": 0.01, "optimizer": Adam(3e-3, decay_steps=STEPS)}
# With relu it depends more on the seed.
LEAKY = MLP64(hidden=64, encoder_activation="leaky_relu", decoder_activation="leaky_relu")


@cache
def points() -> FactorImages:
    """Draw sources as `segments` does, but mix them by rotation, asinh and rotation.

    Its own mixing, by leaky ReLUs, is so nearly linear that linear ICA undoes most of it.
    """
    rng = np.random.default_rng(0)
    deviations = rng.uniform(0.5, 3.0, (SEGMENTS, 1, SOURCES))
    sources = deviations * rng.standard_normal((SEGMENTS, POINTS, SOURCES))
    sources = sources.reshape(-1, SOURCES)
    first, second = (np.linalg.qr(rng.standard_normal((SOURCES, SOURCES)))[0] for _ in range(2))
    mixed = np.arcsinh(sources @ first) @ second
    least, largest = mixed.min(axis=0), mixed.max(axis=0)
    pixels = FloatPixels(((mixed - least) / (largest - least)).astype(np.float32)[:, None, None])
    segment = Column(Factor("segment", SEGMENTS), np.repeat(np.arange(SEGMENTS), POINTS))
    factors = [Factor(f"source_{i}", 0) for i in range(SOURCES)]
    return FactorImages("bent segments", pixels, factors, sources, columns=[segment])


def without_segments() -> FactorImages:
    """Return the same points, with one segment for all."""
    data = points()
    segment = Column(Factor("segment", 1), np.zeros(len(data), dtype=np.int64))
    return FactorImages(data.name, data.pixels, data.factor_list, data.factors(), columns=[segment])


def some_rows() -> np.ndarray:
    return np.random.default_rng(0).choice(len(points()), size=5000, replace=False)


def finding(codes: np.ndarray) -> Finding:
    sources = points().factors(some_rows())
    found = float(mcc(codes, sources).value)
    correlation = np.abs(np.corrcoef(codes.T, sources.T)[:5, 5:])
    best = correlation.argmax(0)[0]
    return Finding(
        {"MCC": found},
        {"points": np.column_stack([sources[:, 0], codes[:, best]]), "color": np.zeros(5000)},
    )


def trained(method: Method, data: FactorImages | None = None) -> Measure:
    def measure(seed: int) -> Finding:
        chosen = points() if data is None else data
        run: Run = train(method, data=chosen, network=LEAKY, steps=STEPS, batch_size=128, seed=seed)
        return finding(judged_on(run, points()).encode(points().images(some_rows())))

    return measure


def by_ica(seed: int) -> Finding:
    from sklearn.decomposition import FastICA

    flat = points().images(some_rows()).reshape(5000, -1)
    model = FastICA(whiten="unit-variance", random_state=seed, max_iter=500)
    return finding(model.fit_transform(flat))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    middle = np.median(own["MCC"])
    rivals = max(np.median(columns["MCC"]) for columns in others.values())
    return {
        "median MCC > 0.8": bool(middle > 0.8),
        "median MCC > VAE's and linear ICA's + 0.1": bool(middle > rivals + 0.1),
    }


RULE = Rule(
    covers=("i_vae",),
    claim="40 segments of 5 sources mixed by rotation, asinh and rotation, medians of the seeds: "
    "MCC of codes from points alone > 0.8, above that of a VAE and of linear ICA by 0.1 or more",
    method=trained(IVAE(**SETTINGS)),
    saboteurs={
        "one segment for all": lambda seed: trained(IVAE(**SETTINGS), without_segments())(seed),
        "segments shuffled": lambda seed: trained(
            IVAE(**SETTINGS), shuffled_columns(points(), seed)
        )(seed),
    },
    references={"VAE": trained(VAE(likelihood="gaussian", **SETTINGS)), "linear ICA": by_ica},
    checks=checks,
    picture="The first source across, the dimension that is most correlated with it upwards.",
)
