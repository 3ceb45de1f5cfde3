"""ICA: the directions in which images vary independently; a baseline.

A. Hyvärinen, "Fast and Robust Fixed-Point Algorithms for Independent Component
Analysis", 1999, doi:10.1109/72.761722; a baseline of the β-VAE paper,
openreview:Sy2fzU9gl. With y the whitened principal components of an image and W
the rotation whose outputs are least Gaussian,

    z = W y,    decoded through the transpose, cut to [0, 1]

Fitted once; there are no steps.

Use it as a baseline that costs seconds, and for signals that are mixed linearly. Not for images
in which things move, which no linear map follows.
"""

from dataclasses import dataclass

import numpy as np

from unweave.data import FactorImages
from unweave.errors import ConfigError
from unweave.methods._baseline import LinearBaseline
from unweave.networks import Networks


@dataclass(frozen=True, kw_only=True)
class ICA(LinearBaseline):
    iterations: int = 500
    """Most iterations of the fixed point; it warns if it has not converged by then."""

    main_knob = "latent_dim"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations < 1:
            raise ConfigError(f"iterations must be 1 or more, found {self.iterations}")

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        from sklearn.decomposition import FastICA

        pixels, mean, axes, deviations = self.principal_axes(data, seed)
        whitened = (pixels - mean) @ (axes / deviations[:, None]).T  # (row, latent)
        found = FastICA(whiten=False, max_iter=self.iterations, random_state=seed).fit(whitened)
        rotation = found.components_
        encoding = rotation @ (axes / deviations[:, None])
        decoding = (axes.T * deviations) @ np.linalg.inv(rotation)
        nets.code.set(mean, encoding, decoding)
