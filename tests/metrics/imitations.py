"""What public implementations compute where they go wrong, to compare with what they gave.

None of this is a property of a representation, so the library computes none of it. That
these numbers follow shows that nothing else differs: a fault is understood, not guessed.

disentanglement_lib draws from numpy's legacy generator, whose stream never changes.
With its seeds 0, 1, 2 and its order of draws its values come out to the last digit,
unless a representation has noise of its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from representations import SIZES, SMALL_SIZES, codes_of, posterior

from unweave.metrics._information import top_two
from unweave.metrics.mig_sampled import axis_alignment
from unweave.tables import bin_equal_width

SEEDS = (0, 1, 2)
DEVIATION = {"post_perfect": 0.05, "post_noisy": 0.5}


def study_factors(rows: int, random: np.random.RandomState) -> NDArray[np.int64]:
    """Draw factors one after the other, as disentanglement_lib does."""
    return np.stack([random.randint(size, size=rows) for size in SIZES], axis=1)


def study_table(name: str, seed: int, rows: int = 10_000, batch: int = 16) -> Any:
    """Draw codes and factors in batches, as disentanglement_lib does."""
    random = np.random.RandomState(seed)
    pieces = [study_factors(min(batch, rows - i), random) for i in range(0, rows, batch)]
    factors = np.concatenate(pieces)
    codes = codes_of(name, factors, SIZES, np.random.default_rng(seed))
    return codes.astype(np.float32), factors


def sum_of_codes(name: str) -> float:
    """Add up the codes that vary, where IRS means to count them."""
    sums = []
    for seed in SEEDS:
        codes, _ = study_table(name, seed)
        sums.append(float(codes[:, codes.var(axis=0) > 0].sum(dtype=np.float64)))
    return float(np.mean(sums))


def votes_for_nan(name: str, part: str) -> float:
    """Let every vote of the FactorVAE score fall on 0/0, which argmin takes for the lowest."""
    random = np.random.RandomState(0)
    noise = np.random.default_rng(0)

    def variances(factors: NDArray[np.int64]) -> NDArray[np.float64]:
        return codes_of(name, factors, SIZES, noise).var(axis=0, ddof=1)

    overall = variances(study_factors(10_000, random))
    tables = []
    for votes in (2_000, 1_000):
        table = np.zeros((len(SIZES), len(overall)))
        for _ in range(votes):
            fixed = random.randint(len(SIZES))
            factors = study_factors(64, random)
            factors[:, fixed] = factors[0, fixed]
            with np.errstate(invalid="ignore"):
                table[fixed, np.argmin(variances(factors) / overall)] += 1
        tables.append(table)
    majority, codes = tables[0].argmax(axis=0), np.arange(len(overall))
    counted = tables[part == "test"]
    return float(counted[majority, codes].sum() / counted.sum())


def modularity_of_rounding(name: str) -> float:
    """Take the rounding of scikit-learn 0.21's mutual information for information."""
    scores = []
    for seed in SEEDS:
        codes, factors = study_table(name, seed)
        squares = np.array(
            [
                [_unrounded_information(bin_equal_width(c, 20), f) ** 2 for f in factors.T]
                for c in codes.T
            ]
        )
        largest = squares.max(axis=1)
        others = (squares.sum(axis=1) - largest) / (largest * (len(SIZES) - 1))
        scores.append(float(np.mean(1 - others)))
    return float(np.mean(scores))


def _unrounded_information(binned: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Sum the terms of scikit-learn 0.21 in its order; later versions cut off below 1e-16."""
    cells = np.bincount(binned * (labels.max() + 1) + labels).astype(np.int64)
    places = np.flatnonzero(cells)
    counts, total = cells[places], len(labels)
    in_bin = np.bincount(binned)[places // (labels.max() + 1)]
    in_class = np.bincount(labels)[places % (labels.max() + 1)]
    share = counts / total
    expected = -np.log(in_class * in_bin) + np.log(total) + np.log(total)
    return float((share * (np.log(counts) - np.log(total)) + share * expected).sum())


def disentangling_vae(name: str, score: str, reshaped: bool, drawn: bool) -> float:
    """Score the posterior from the very latents that disentangling-vae drew.

    It reads them, (row, latent), as (latent, row) without moving a number (`reshaped`):
    each entropy of a latent is then that of a mixture of all latents. Unless `drawn`,
    its latents are the posterior's means, which its model gives in evaluation mode.
    With 1,000 latents both scores differ from draw to draw by more than the tolerance.
    """
    given = posterior(DEVIATION[name])
    stream = torch.Generator().manual_seed(0)
    torch.empty((), dtype=torch.int64).random_(generator=stream)  # as its loader of data does
    z = given.mean.astype(np.float64)
    if drawn:
        noise = torch.randn(z.shape, generator=stream, dtype=torch.float32).numpy()
        z = z + np.exp(0.5 * given.logvar) * noise
    samples, latents = 1_000, z.shape[1]

    def entropies(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        chosen = z[rows[torch.randperm(len(rows), generator=stream)[:samples].numpy()]]
        read = chosen.reshape(latents, samples) if reshaped else chosen.T
        return np.array(
            [_entropy(read[j], given.mean[rows, j], given.logvar[rows, j]) for j in range(latents)]
        )

    whole = entropies(np.arange(len(z)))
    mutual = np.zeros((latents, len(SMALL_SIZES)))
    for factor, size in enumerate(SMALL_SIZES):
        each = [entropies(np.flatnonzero(given.factors[:, factor] == v)) for v in range(size)]
        mutual[:, factor] = np.maximum(whole - np.mean(each, axis=0), 0.0)
    if score == "aam":
        return float(axis_alignment(mutual).mean())
    best, second = top_two(mutual, axis=0)
    return float(((best - second) / np.log(SMALL_SIZES)).mean())


def _entropy(z: NDArray[Any], mean: NDArray[Any], logvar: NDArray[Any]) -> float:
    """Return -E log of a mixture of Gaussians of equal width; on a grid few of them differ."""
    assert (logvar == logvar[0]).all()
    centres, counts = np.unique(mean.astype(np.float64), return_counts=True)
    width = float(logvar[0])
    exponents = -0.5 * ((z[:, None] - centres) ** 2 * np.exp(-width) + width + np.log(2 * np.pi))
    return -float(np.logaddexp.reduce(exponents + np.log(counts / counts.sum()), axis=1).mean())


IMITATIONS: dict[str, Callable[..., float]] = {
    "sum_of_codes": sum_of_codes,
    "votes_for_nan": votes_for_nan,
    "modularity_of_rounding": modularity_of_rounding,
    "disentangling_vae": disentangling_vae,
}
