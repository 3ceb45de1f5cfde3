"""What methods share that find, pair by pair, which dimensions two images have in common."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from unweave.batches import PairBatch, Pairs
from unweave.errors import ConfigError
from unweave.methods._gaussian_vae import GaussianAutoencoder
from unweave.methods._method import Loss, Turn
from unweave.networks import Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True, kw_only=True)
class AdaptiveVAE(GaussianAutoencoder):
    """A β-VAE on pairs; what a pair shares is encoded by a common posterior."""

    beta: Schedule = constant(1.0)
    """Weight of the KL term. Paper: 1, 2, 4, 6, 8 or 16."""
    changed: int = 1
    """In how many factors a pair drawn from factors differs; 0 draws the number for each pair.
    Paper: 1, or drawn."""
    told: Literal["nothing", "count", "factors"] = "nothing"
    """What is known of a pair: nothing, in how many factors it differs, or in which; then
    dimension i is for factor i. Paper: nothing."""
    distance: Literal["symmetric", "forward"] = "symmetric"
    """How far the posteriors of a dimension are apart: half the sum of both KLs, or KL(q₁ ‖ q₂).
    Paper: forward."""

    main_knob = "beta"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.changed < 0:
            raise ConfigError(f"changed must be 0 or more, found {self.changed}")

    @property
    def supervision(self) -> Pairs:
        uncounted = self.told == "count" and self.changed == 0
        return Pairs(self.changed, factors_known=uncounted or self.told == "factors")

    @abstractmethod
    def pool(self, q: DiagonalGaussian) -> DiagonalGaussian:
        """Return the common posterior of (pair, 2, latent)."""

    def turns(self, nets: Networks, batch: PairBatch, step: int) -> Iterator[Turn]:
        yield Turn("autoencoder", self.loss(nets, batch, step))

    def loss(self, nets: Networks, batch: PairBatch, step: int) -> Loss:
        """Return what the autoencoder lowers."""
        images = batch.both
        q = self.posterior(nets, images)
        one, two = q.halves()
        shared = ~self.kept(one, two, batch.changed)
        q = self.share(one, two, shared)
        reconstruction = self.reconstruction(nets, q.sample(), images)
        kl = self.kl_to_prior(q).sum(1).mean()
        return Loss(
            reconstruction + self.beta.at(step) * kl,
            reconstruction=reconstruction,
            kl=kl,
            shared_dimensions=shared.float().sum(1).mean(),
        )

    def share(
        self, one: DiagonalGaussian, two: DiagonalGaussian, shared: Tensor
    ) -> DiagonalGaussian:
        """Return the posteriors of first images and partners, common where pairs share."""
        mean = torch.stack([one.mean, two.mean], dim=1)
        logvar = torch.stack([one.logvar, two.logvar], dim=1)
        common = self.pool(DiagonalGaussian(mean, logvar))
        mean = torch.where(shared[:, None], common.mean[:, None], mean)
        logvar = torch.where(shared[:, None], common.logvar[:, None], logvar)
        return DiagonalGaussian(torch.cat(mean.unbind(1)), torch.cat(logvar.unbind(1)))

    def kept(self, one: DiagonalGaussian, two: DiagonalGaussian, changed: Tensor | None) -> Tensor:
        """Return which dimensions (pair, latent) each image keeps for itself; no gradients."""
        if self.told == "factors":
            return self._of_factors(one.mean, changed)
        with torch.no_grad():
            distance = one.kl_to(two)
            if self.distance == "symmetric":
                distance = (distance + two.kl_to(one)) / 2
        if self.told == "count":
            rank = distance.argsort(dim=1, descending=True).argsort(dim=1)
            return rank < self._count(changed)
        threshold = (distance.amax(1, keepdim=True) + distance.amin(1, keepdim=True)) / 2
        return distance >= threshold

    def _count(self, changed: Tensor | None) -> Tensor | int:
        return self.changed if changed is None else changed.sum(1, keepdim=True)

    def _of_factors(self, mean: Tensor, changed: Tensor | None) -> Tensor:
        assert changed is not None, "asked for by the supervision"
        if changed.shape[1] > self.latent_dim:
            raise ConfigError(
                f"told=factors needs a dimension for each of the {changed.shape[1]} factors, "
                f"found latent_dim {self.latent_dim}"
            )
        kept = torch.zeros_like(mean, dtype=torch.bool)
        kept[:, : changed.shape[1]] = changed
        return kept
