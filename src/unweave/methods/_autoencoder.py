"""What methods with a decoder to pixels share."""

from dataclasses import dataclass, replace
from typing import Self

import torch

from unweave.data import FactorImages
from unweave.errors import ConfigError
from unweave.methods._method import Method
from unweave.networks import BlockDecoder, Networks, block_means
from unweave.probability.likelihood import Likelihood, negative_log_likelihood
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class Autoencoder(Method):
    """A decoder from codes to logits of pixels; encoder and players are the paper's."""

    likelihood: Likelihood = "auto"
    """How pixels are distributed around the decoder's output. auto is bernoulli, as papers have
    it for black and white and for the known sets in colour, but calibrated for images of your
    own that are not black and white: a Gaussian whose deviation is learnt."""
    pixel_scale: float = 0.1
    """Standard deviation (gaussian) or mean absolute deviation (laplace) of a pixel. A plain
    squared error, as in many papers, is gaussian with 0.71."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pixel_scale <= 0:
            raise ConfigError(f"pixel_scale must be above 0, found {self.pixel_scale}")

    def settled(self, steps: int, data: FactorImages) -> Self:
        """Decide the likelihood by the images.

        Where it comes to bernoulli nothing is written, so that runs keep the names they had.
        """
        settled = super().settled(steps, data)
        if settled.likelihood != "auto" or data.known or data.is_black_and_white:
            return settled
        return replace(settled, likelihood="calibrated")

    def reconstruction(self, nets: Networks, z: Latents, images: Images) -> Scalar:
        """Return −log p(x|z), summed over pixels, averaged over the batch."""
        likelihood, decoder = self.likelihood, nets.decoder
        in_blocks = isinstance(decoder, BlockDecoder) and decoder.has_whole_blocks
        if likelihood in ("auto", "bernoulli") and in_blocks:
            # The pixels of a block share a logit, so their mean says all: fewer terms, one sum.
            means = block_means(images, decoder.block)
            return decoder.block**2 * negative_log_likelihood(
                likelihood, decoder.coarse(z), means, self.pixel_scale
            )
        return negative_log_likelihood(likelihood, decoder(z), images, self.pixel_scale)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return torch.sigmoid(nets.decoder(codes))

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return how well images are decoded from their codes."""
        return {"reconstruction": self.reconstruction(nets, self.encode(nets, images), images)}
