"""Pictures of a run: reconstructions, samples of the prior, latent traversals."""

from typing import Any

import numpy as np
from PIL import Image

from unweave.data import FactorImages
from unweave.figures.pictures import tile
from unweave.runs import Run


def reconstructions(run: Run, count: int = 10, seed: int = 0) -> Image.Image:
    """Show images above what is decoded from their codes."""
    images = _some_images(run.data, count, seed)
    return tile(
        np.stack([images, run.reconstruct(images)]),
        row_labels=["image", "decoded"],
        title=f"reconstructions at step {run.step:,}",
    )


def prior_samples(run: Run, count: int = 32, seed: int = 0) -> Image.Image:
    """Show images decoded from the prior."""
    images = run.sample(count, seed).reshape(-1, 8, *run.image_shape)
    return tile(images, title=f"decoded from the prior at step {run.step:,}")


def traversals(
    run: Run, start: Any = None, *, reach: float = 2.0, steps: int = 10, seed: int = 0
) -> Image.Image:
    """Show what each dimension does, those with most KL first.

    Starts from one image of the data set unless a code or an image is given.
    """
    images = _some_images(run.data, 256, seed)
    if start is None:
        start = images[0]
    kl = dimension_kl(run, images)
    order = list(range(run.latent_dim)) if kl is None else [int(d) for d in np.argsort(-kl)]
    labels = [f"z{d}" if kl is None else f"z{d}  {kl[d]:.2f} nats" for d in order]
    grid = run.traverse(start, dimensions=order, low=-reach, high=reach, steps=steps)
    values = [f"{v:+.1f}" for v in np.linspace(-reach, reach, steps)]
    return tile(
        grid,
        row_labels=labels,
        column_labels=values,
        title=f"each line varies one dimension of the code; step {run.step:,}",
    )


def dimension_kl(run: Run, images: np.ndarray) -> np.ndarray | None:
    """Return the mean KL of each dimension to the prior, if the method has a posterior."""
    posterior = run.posterior(images)
    if posterior is None:
        return None
    mean, logvar = posterior
    kl: np.ndarray = 0.5 * (mean**2 + np.exp(logvar) - 1 - logvar).mean(axis=0)
    return kl


def _some_images(data: FactorImages, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng((seed, 0xF16))
    return data.images(data.sample_rows(count, rng), rng)
