"""PCA: the directions in which images vary most; a baseline.

K. Pearson, "On lines and planes of closest fit to systems of points in space",
1901, doi:10.1080/14786440109462720; a baseline of the β-VAE paper,
openreview:Sy2fzU9gl. With V the first eigenvectors of the pixels' covariance and
s² their eigenvalues,

    z = Vᵀ(x - mean) / s,    decoded as mean + V s z, cut to [0, 1]

Fitted once; there are no steps.

Use it as a baseline that costs seconds: what a method gains should be seen beside it. Not for
axes of what moves in an image.
"""

from dataclasses import dataclass

from unweave.data import FactorImages
from unweave.methods._baseline import LinearBaseline
from unweave.networks import Networks


@dataclass(frozen=True, kw_only=True)
class PCA(LinearBaseline):
    whiten: bool = True
    """Whether each dimension of the code is scaled to variance 1."""

    main_knob = "latent_dim"

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        _, mean, axes, deviations = self.principal_axes(data, seed)
        scale = deviations if self.whiten else deviations * 0 + 1
        nets.code.set(mean, axes / scale[:, None], axes.T * scale)
