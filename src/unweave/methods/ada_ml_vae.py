"""Ada-ML-VAE: multiply the posteriors of those dimensions that two images share.

F. Locatello et al., "Weakly-Supervised Disentanglement Without Compromises", ICML
2020, arXiv:2002.02886. As `ada_gvae`, with another common posterior of the shared
dimensions, in precisions λ = 1/σ²:

    q̃(z_i) = N((λ₁ μ₁ + λ₂ μ₂) / (λ₁ + λ₂), 1 / (λ₁ + λ₂))       product
    q̃(z_i) = N((λ₁ μ₁ + λ₂ μ₂) / (λ₁ + λ₂), 2 / (λ₁ + λ₂))       geometric

Differs from the paper: geometric, which the authors' published code computes, is the
default; it leaves two equal posteriors as they are. The distance is as in `ada_gvae`.

Use it as `ada_gvae`, if the images of a pair should sharpen each other's codes. Not first:
averages did as well on our small images, and do not make codes ever surer.
"""

from dataclasses import dataclass
from typing import Literal

from unweave.methods._adaptive import AdaptiveVAE
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.pooling import pool


@dataclass(frozen=True, kw_only=True)
class AdaMLVAE(AdaptiveVAE):
    pooling: Literal["geometric", "product"] = "geometric"
    """The common posterior: normalised root of the product, or the product. Paper: product."""

    def pool(self, q: DiagonalGaussian) -> DiagonalGaussian:
        return pool(q, self.pooling)
