"""Ada-GVAE: average the posteriors of those dimensions that two images share.

F. Locatello et al., "Weakly-Supervised Disentanglement Without Compromises", ICML
2020, arXiv:2002.02886. Of a pair (x₁, x₂) each dimension i has a distance δ_i between
its posteriors. Dimensions with δ_i < τ = ½ (max_i δ_i + min_i δ_i) are shared, and
both posteriors are replaced there; if it is told that k factors differ, all but
the k largest δ_i are shared:

    q̃(z_i) = N(½ (μ₁ + μ₂), ½ (σ₁² + σ₂²))       for shared i

    ½ Σ_j E[-log p(x_j|z)] + β KL(q̃(z|x_j) ‖ p(z))       over j = 1, 2

Differs from the paper: δ is half the sum of both KLs unless `distance` says forward,
and a step of `batch_size` images holds half as many pairs.

Use it if there are pairs of images that differ in little, such as two photographs of one thing:
that is the cheapest way to axes. Not if most factors change from one image of a pair to the
other; then nothing is shared, and it is a β-VAE.
"""

from dataclasses import dataclass

from unweave.methods._adaptive import AdaptiveVAE
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.pooling import pool


@dataclass(frozen=True, kw_only=True)
class AdaGVAE(AdaptiveVAE):
    def pool(self, q: DiagonalGaussian) -> DiagonalGaussian:
        return pool(q, "arithmetic")
