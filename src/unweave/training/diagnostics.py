"""What tells a healthy code from a collapsed one, at evaluation."""

from typing import Any

import numpy as np

from unweave.data import FactorImages
from unweave.runs.run import Run

ROWS = 1024


def diagnostic_images(data: FactorImages, seed: int) -> np.ndarray:
    """Choose the images that every evaluation of a run looks at."""
    rng = np.random.default_rng((seed, 0xD1A6))
    rows = rng.choice(len(data), size=min(ROWS, len(data)), replace=False)
    return data.images(np.sort(rows), rng)


def diagnose(run: Run, images: np.ndarray) -> dict[str, Any]:
    """Measure the code on these images.

    A dead dimension has no KL, means that do not vary and variances of 1; an
    over-fitted one has variances near 0 and means that vary far beyond 1.
    """
    figures: dict[str, Any] = run.terms(images)
    if run.code.source != "images":
        return figures
    posterior = run.posterior(images)
    if posterior is None:
        figures["code_variance"] = run.encode(images).var(axis=0).tolist()
        return figures
    mean, logvar = posterior
    variance = np.exp(logvar)
    prior = run.code_prior
    kl = prior.kl(mean, logvar, variance).mean(axis=0)
    if prior.least_kl:
        figures["least_kl"] = prior.least_kl
    return figures | {
        "kl_per_dimension": kl.tolist(),
        "mean_variance": mean.var(axis=0).tolist(),
        "posterior_variance": variance.mean(axis=0).tolist(),
        "active_dimensions": int(prior.is_active(kl).sum()),
    }
