"""SlowVAE: from one frame to the next few dimensions move, and those little.

D. Klindt et al., "Towards Nonlinear Disentanglement in Natural Data with Temporal
Sparse Coding", ICLR 2021, arXiv:2007.10930. Of frames x₀ and x₁ each is the other's
past, which enters by its mean; λ is the rate of the Laplace distribution:

    Σ_t E[-log p(x_t|z_t)] + ½ β Σ_t KL(q(z_t|x_t) ‖ N(0, I))
        + γ Σ_t KL(q(z_t|x_t) ‖ Laplace(μ_{1-t}, 1/λ))

The KL to the normal is averaged over the two frames and the errors are summed, so
without γ this is a β-VAE of half that β.

Differs from the paper: the authors' code subtracts the entropy of q once and not for
each frame, so that its last term is no KL; `entropies` set to 1 does so too. A step
of `batch_size` images holds half as many pairs.

Use it for clips, or any images in an order in which few things change at a time. Not for images
without order, nor where everything moves at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unweave.batches import PairBatch, Pairs, Supervision, Transitions
from unweave.errors import ConfigError
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Turn
from unweave.networks import Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.laplace import cross_entropy_to_laplace
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Scalar


@dataclass(frozen=True, kw_only=True)
class SlowVAE(GaussianAutoencoder):
    beta: Schedule = constant(1.0)
    """Weight of the KL to the normal prior. Paper: 1."""
    gamma: Schedule = constant(10.0)
    """Weight of the KL to the other frame. Paper: 10."""
    rate: float = 6.0
    """Rate λ of the Laplace distribution around the other frame; larger is sparser. Paper: 6."""
    moves: Literal["laplace", "uniform"] = "laplace"
    """How factors change where pairs are drawn from factors: each ordered one by a Laplace
    distribution, or a random number of them to any other value. Paper: both."""
    data_rate: float = 1.0
    """Rate of the Laplace distribution by which factors move. Paper: 1."""
    entropies: Literal[1, 2] = 2
    """How often the entropy of q is subtracted; 2 gives the KL, 1 the authors' code."""

    main_knob = "gamma"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rate", "data_rate"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, found {getattr(self, name)}")

    @property
    def supervision(self) -> Supervision:
        return Transitions(self.data_rate) if self.moves == "laplace" else Pairs(changed=0)

    def turns(self, nets: Networks, batch: PairBatch, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    def loss(self, nets: Networks, batch: PairBatch, step: int) -> Loss:
        """Return what the autoencoder lowers."""
        images = batch.both
        q = self.posterior(nets, images)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = self.kl_to_prior(q).sum(1).mean()
        slowness = self.slowness(*q.halves())
        return Loss(
            2 * reconstruction + self.beta.at(step) * kl + self.gamma.at(step) * slowness,
            reconstruction=reconstruction,
            kl=kl,
            slowness=slowness,
        )

    def slowness(self, one: DiagonalGaussian, two: DiagonalGaussian) -> Scalar:
        """Return KL of each frame to a Laplace distribution around the other, both summed."""
        moved = one.mean - two.mean
        crossed = cross_entropy_to_laplace(moved, one.std, self.rate)
        crossed = crossed + cross_entropy_to_laplace(-moved, two.std, self.rate)
        entropy = (one.entropy() + two.entropy()) / 2
        return (crossed - self.entropies * entropy).sum(1).mean()
