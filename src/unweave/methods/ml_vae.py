"""ML-VAE: a group's content is the product of what its images say of it.

D. Bouchacourt, R. Tomioka & S. Nowozin, "Multi-Level Variational Autoencoder:
Learning Disentangled Representations from Grouped Observations", AAAI 2018,
arXiv:1705.08841. The images of a group G share a content c; each has a style s_i:

    q(c|G) ∝ Π_i q(c|x_i)

    Σ_i E[-log p(x_i|c, s_i)] + β Σ_i KL(q(s_i|x_i) ‖ p(s)) + β KL(q(c|G) ‖ p(c))

divided by the images of the group, so that it compares with other methods. The more
images are seen, the narrower q(c|G): `accumulate` gives it for any number of them.

Differs from the paper: groups are drawn as such, all of one size, instead of forming
by chance in a batch.

Use it as `gvae`, if large groups should make content surer the more images there are. Not if
content will later be read off single images: it is less sure there than training made it.
"""

from dataclasses import dataclass
from typing import Literal

from unweave.methods._content_style import ContentStyleVAE
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.pooling import pool


@dataclass(frozen=True, kw_only=True)
class MLVAE(ContentStyleVAE):
    content_noise: Literal["group", "image"] = "image"
    """Whether the content is drawn from its posterior once for a group, or for each image.
    The authors' code: image."""

    def pool(self, q: DiagonalGaussian) -> DiagonalGaussian:
        return pool(q, "product")
