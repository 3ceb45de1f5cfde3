"""iVAE: a prior that depends on a further observation makes the code identifiable.

I. Khemakhem et al., "Variational Autoencoders and Nonlinear ICA: A Unifying
Framework", AISTATS 2020, arXiv:1907.04809. Equation (8), negated: with u observed of
every image, such as its segment or time,

    E[-log p(x|z)] + KL(q(z|x, u) ‖ p(z|u)),   p(z|u) = N(m(u), diag e^{l(u)})

If u takes enough values for the scales to vary freely (2 · latent_dim + 1 of them), z
is found up to order and a transformation of each dimension on its own.

Codes for metrics come from images alone, so that u, which may be a label, does not leak
into scores: a second encoder r(z|x) learns to guess the draws of q(z|x, u) by -log r(z|x),
whose gradient reaches nothing else.

Differs from the paper: a VAE's KL in closed form; the paper's code also offers weights on
the parts of the KL. p(x|z) has its mean in [0, 1], as images have here; the encoders see
what is left of an image without the mean image, at unit scale, as the paper's points are.

Use it if every image comes with a further observation, such as a time or a sensor, given which
factors are independent: the code is then identified. Not if that observation tells too little, or
only of the mean; and it cannot be made up from the images.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from unweave.batches import Auxiliary, AuxiliaryBatch, draw_rows
from unweave.data import DataSummary, FactorImages
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, ConditionalEncoder, GaussianEncoder, ImageShape, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.likelihood import Likelihood
from unweave.tensors import Images, Latents

MEASURED = 2_000  # rows by which images are centred and scaled
OBSERVED = 256  # rows of u kept with the run, to sample from the prior


class Standardization(nn.Module):
    """Images less their mean, in units of how much pixels vary on average."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, image_shape: ImageShape):
        super().__init__()
        self.register_buffer("mean", torch.zeros(image_shape))
        self.register_buffer("deviation", torch.ones(()))

    def forward(self, images: Images) -> Images:
        return (images - self.mean) / self.deviation

    def fit(self, images: Images) -> None:
        """Measure images; of images that are all the same, the scale is left as it is."""
        self.mean.copy_(images.mean(0))
        variance = images.var(0, correction=0).mean()
        self.deviation.copy_(variance.sqrt() if variance > 0 else torch.ones(()))


class ConditionalPrior(nn.Module):
    """p(z|u), and some u of the data."""

    observed: Tensor

    def __init__(self, given: int, latent_dim: int, hidden: int, *, with_mean: bool):
        super().__init__()
        self.register_buffer("observed", torch.zeros(OBSERVED, given))
        self.with_mean = with_mean
        self.net = nn.Sequential(
            nn.Linear(given, hidden),
            nn.LeakyReLU(0.1),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.1),
            nn.Linear(hidden, latent_dim * (2 if with_mean else 1)),
        )

    def forward(self, u: Tensor) -> DiagonalGaussian:
        outputs: Tensor = self.net(u)
        if not self.with_mean:
            outputs = torch.cat([torch.zeros_like(outputs), outputs], dim=1)
        return DiagonalGaussian.from_outputs(outputs)


@dataclass(frozen=True, kw_only=True)
class IVAE(Autoencoder):
    auxiliary: tuple[str, ...] = ()
    """Factors or columns that are u, one-hot where they are discrete; by default a column
    called segment or, without it, the first factor."""
    prior: Literal["scale", "mean_and_scale"] = "scale"
    """What of p(z|u) depends on u. Paper: both; its code: the scale alone, the mean is 0."""
    hidden: int = 64
    """Features of an image, units of the layer in which they meet u, and of each of the two
    layers from u to the prior. Paper: 50 to 100."""
    likelihood: Likelihood = "gaussian"
    """How pixels are distributed around the decoder's output. Paper: gaussian."""
    pixel_scale: float = 0.1
    """Standard deviation (gaussian) or mean absolute deviation (laplace) of a pixel. Paper:
    0.1 to 0.3 where values vary by about 2; 0.01 suits `segments`."""

    main_knob = "auxiliary"

    @property
    def supervision(self) -> Auxiliary:
        return Auxiliary(self.auxiliary)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        given, shape = self.supervision.width(data.column_sizes), data.image_shape
        nets = Networks()
        nets.standardization = Standardization(shape)
        nets.joint_encoder = ConditionalEncoder(
            architecture, shape, given=given, hidden=self.hidden, latent_dim=self.latent_dim
        )
        nets.decoder = architecture.decoder(self.latent_dim, shape)
        nets.prior = ConditionalPrior(
            given, self.latent_dim, self.hidden, with_mean=self.prior == "mean_and_scale"
        )
        nets.encoder = GaussianEncoder(architecture.encoder(shape, 2 * self.latent_dim))
        return nets

    @property
    def players(self) -> dict[str, Player]:
        owns = ("joint_encoder", "decoder", "prior", "encoder")
        return {"autoencoder": Player(owns, self.optimizer)}

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Measure the scale of images; keep some u, to sample from the prior without the data."""
        known = self.supervision.known_rows(data)
        rng = np.random.default_rng((seed, 0xA1))
        reached = None if data.weights is None else data.weights[known].cumsum()
        measured = min(len(known), MEASURED)
        if reached is None:
            rows = np.sort(rng.choice(known, size=measured, replace=False))
        else:
            rows = np.sort(known[draw_rows(len(known), measured, rng, reached)])
        nets.standardization.fit(torch.from_numpy(data.images(rows)))
        drawn = draw_rows(len(known), OBSERVED, np.random.default_rng((seed, 0xA0)), reached)
        u = torch.from_numpy(self.supervision.values(data, known[drawn]))
        nets.prior.observed.copy_(u)

    def turns(self, nets: Networks, batch: AuxiliaryBatch, step: int) -> Iterator[Turn]:
        seen = nets.standardization(batch.images)
        q: DiagonalGaussian = nets.joint_encoder(seen, batch.auxiliary)
        z = q.sample()
        reconstruction = self.reconstruction(nets, z, batch.images)
        kl = q.kl_to(nets.prior(batch.auxiliary)).sum(1).mean()
        guess: DiagonalGaussian = nets.encoder(seen)
        guessing = -guess.log_density(z.detach()).sum(1).mean()
        yield Turn(
            "autoencoder",
            Loss(
                reconstruction + kl + guessing,
                reconstruction=reconstruction,
                kl=kl,
                guessing=guessing,
            ),
        )

    def encode(self, nets: Networks, images: Images) -> Latents:
        mean: Latents = nets.encoder(nets.standardization(images)).mean
        return mean

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        drawn: Latents = nets.encoder(nets.standardization(images)).sample()
        return drawn

    def encode_with(self, nets: Networks, images: Images, u: Tensor) -> Latents:
        """Return the mean of q(z|x, u), which knows u."""
        mean: Latents = nets.joint_encoder(nets.standardization(images), u).mean
        return mean

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        u = nets.prior.observed[torch.randint(OBSERVED, (count,))]
        drawn: Latents = nets.prior(u).sample()
        return drawn
