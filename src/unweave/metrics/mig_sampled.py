"""Mutual information gap of a Gaussian encoder, with the entropies of q(z|x).

R. T. Q. Chen et al., NeurIPS 2018, arXiv:1802.04942:

    I(z_j; v_k) = H(z_j) - Σ_v p(v) H(z_j | v_k = v)
    H(z_j)      = -E log 1/N Σ_n q(z_j | x_n),  over latents z drawn from q(z|x)

Unlike the histogram form it counts the encoder's own noise, and it does not
depend on a number of bins.

The authors draw the latents of every entropy apart. The noise of the difference
then looks like information, the second best code seems to know something, and
gaps come out too small: 0.985 instead of 1.000 for perfect codes of the test's
grid with 1,000 latents. The default takes the same latents for both entropies.

Narrow posteriors still seem to know what they do not: a latent lies closest to its own row's
posterior, which is one of the few of its value, and one of all rows. `chen2018_null` subtracts
what the same latents seem to know of factors whose rows were shuffled, at twice the cost.

The details also hold the axis alignment of Y. Dubois et al.'s disentangling-vae (2019):
how far the best latent is ahead of all others together, relative to what it knows,

    mean_k max(0, I_best - Σ_others I) / I_best

so a weak latent that knows its factor alone scores as well as a strong one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.metrics import _protocol
from unweave.metrics._information import measure_information, top_two
from unweave.metrics._posterior import binned_information, log_mixture, posterior_tables, sample
from unweave.metrics._score import Score
from unweave.tables import Continuous, FactorTable

PROTOCOLS = {
    "chen2018_paired": "both entropies of a difference from the same latents, drawn from q(z|x)",
    "chen2018_null": "as chen2018_paired, less the information about shuffled factors",
    "chen2018": "the authors' estimate: each entropy from latents of its own",
    "do2020": "posterior mass in 100 bins over [-4, 4], nothing drawn (arXiv:1908.09961)",
}
NEEDS = _protocol.POSTERIOR
HIGHER_IS_BETTER = True
RANGE = "0 to 1"


def mig_sampled(
    mean: Any,
    logvar: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "chen2018_paired",
    samples: int = 10_000,
    rows: int = 10_000,
    continuous: Continuous = None,
) -> Score:
    """Score the gap between the two latents that know most about each factor.

    At most `rows` rows stand for the data set; each entropy is a mean over at
    most `samples` latents.
    """
    _protocol.choose(protocol, PROTOCOLS, "mig_sampled")
    means, logvars = posterior_tables(mean, logvar)
    means, known = _protocol.read(
        means, factors, continuous=continuous, least_codes=2, missing="refuse", metric="mig_sampled"
    )
    rng = np.random.default_rng(seed)
    if len(means) > rows:
        chosen = rng.permutation(len(means))[:rows]
        means, logvars, known = means[chosen], logvars[chosen], known.rows(chosen)
    if protocol == "do2020":
        information = binned_information(means, logvars, known, bins=100, limit=4.0)
        mutual, factor_entropy = information.mutual, information.factor_entropy
    else:
        paired = protocol != "chen2018"
        mutual = _sampled_information(means, logvars, known, samples, rng, paired)
        if protocol == "chen2018_null":
            shuffled = known.rows(np.random.default_rng((seed, 1)).permutation(len(means)))
            of_chance = _sampled_information(means, logvars, shuffled, samples, rng, paired)
            mutual = np.maximum(mutual - of_chance, 0.0)
        factor_entropy = measure_information(means[:, :1], known, 2).factor_entropy
    best, second = top_two(mutual, axis=0)
    gaps = (best - second) / factor_entropy
    return Score(
        "mig_sampled",
        gaps.mean(),
        protocol,
        {
            **_protocol.named(known),
            "gap_per_factor": gaps,
            "axis_alignment_per_factor": axis_alignment(mutual),
            "best_code": mutual.argmax(axis=0),
            "mutual_information": mutual,
            "factor_entropy": factor_entropy,
        },
        notes=known.notes,
        made=_protocol.made(
            means,
            known,
            seed=seed,
            bins=100 if protocol == "do2020" else None,
            samples=0 if protocol == "do2020" else min(samples, len(means)),
        ),
    )


def axis_alignment(mutual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each factor's axis alignment; a factor that no latent knows has 0."""
    best = mutual.max(axis=0)
    ahead = np.maximum(2 * best - mutual.sum(axis=0), 0.0)
    return np.where(best > 0, ahead / np.where(best > 0, best, 1.0), 0.0)


def _sampled_information(
    mean: NDArray[np.float64],
    logvar: NDArray[np.float64],
    factors: FactorTable,
    samples: int,
    rng: np.random.Generator,
    paired: bool,
) -> NDArray[np.float64]:
    """Estimate I(z_j; v_k) = E log q(z_j | v_k) - E log q(z_j), (code, factor)."""
    drawn = rng.permutation(len(mean))[:samples]
    z = sample(mean, logvar, rng)
    groups = list(_groups(factors, drawn, samples, rng, paired))
    mutual = np.zeros((mean.shape[1], len(factors.sizes)))
    for code in range(mean.shape[1]):
        mutual[code] = -log_mixture(z[drawn, code], mean[:, code], logvar[:, code]).mean()
        for factor, alike, rows, weight in groups:
            density = log_mixture(z[rows, code], mean[alike, code], logvar[alike, code])
            mutual[code, factor] += weight * density.mean()
    return np.maximum(mutual, 0.0)


def _groups(
    factors: FactorTable,
    drawn: NDArray[np.int64],
    samples: int,
    rng: np.random.Generator,
    paired: bool,
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64], float]]:
    """Yield for each value of a factor its rows, the rows whose latents are judged, its weight."""
    for factor, size in enumerate(factors.sizes):
        labels = factors.labels[:, factor]
        for value in range(size):
            alike = np.flatnonzero(labels == value)
            if paired:
                rows = drawn[labels[drawn] == value]
                weight = len(rows) / len(drawn)
            else:
                rows = rng.permutation(alike)[:samples]
                weight = len(alike) / len(labels)
            if len(rows):
                yield factor, alike, rows, weight
