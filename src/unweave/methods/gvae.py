"""GVAE: a group's content is the average of what its images say of it.

H. Hosoya, "Group-based Learning of Disentangled Representations with Generalizability
for Novel Contents", IJCAI 2019, arXiv:1809.02383. As `ml_vae`, with

    q(c|G) = N(1/K Σ_i μ_i, 1/K Σ_i σ_i²)

over the K images of a group, and one draw of c for all of them. Unlike a product,
the average is as wide as what it averages: one image alone is no special case.

Use it if images come in groups that share a content, such as a person or a thing, and it is
wanted apart from the rest. Not for groups of one image, nor for axes within content or style.
"""

from dataclasses import dataclass

from unweave.methods._content_style import ContentStyleVAE
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.pooling import pool


@dataclass(frozen=True, kw_only=True)
class GVAE(ContentStyleVAE):
    def pool(self, q: DiagonalGaussian) -> DiagonalGaussian:
        return pool(q, "arithmetic")
