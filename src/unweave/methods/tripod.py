"""Tripod: codes of few values, told apart from each other, that a decoder uses one by one.

K. Hsu et al., "Tripod: Three Complementary Inductive Biases for Disentangled
Representation Learning", ICML 2024, arXiv:2404.10282. With e the encoder's output,
c = tanh(e) and z the nearest of v values at equal distances in [-1, 1],

    mean_pixels[-log p(x|z)] + λ_m E[log q(z) - Σ_j log q(z_j)] + λ_h mean_layers ratio

Gradients pass straight through from z to c. q is a density of Gaussian kernels around the codes
of the batch. The ratio, of the activations a of a layer of the decoder, is

    Var_r[a(z + h r) - 2 a(z) + a(z - h r)] / Var_g[the same with g for r]

with directions r of signs and g of normal numbers, and steps h of ε deviations of each latent;
both deviations and kernels follow the codes, so that neither term gains by smaller ones. The
ratio estimates how much of the Hessian of a is off the diagonal: 0 where latents add up, 1 where
they only act together. It cannot be lowered by small activations.

Its pixels are averaged, as in `qlae`, since the weights are set against that scale; the
recorded reconstruction is the sum.

The encoder ends as the paper's does: features that are normalised, then one linear layer, without
which the first steps would drive e to where tanh has no slope.

Differs from the paper: joint and marginal densities have kernels of the same width, so that
the information of independent codes is near 0; the ratio is that of sums over a batch, where the
authors' code has the mean of an image's ratios, each of two directions; the networks are those of
`--architecture`, and the layers all hidden ones of its decoder but the last, where the paper has
all stages of its own but the last.

Use it if `qlae` works and its axes should be cleaner: three pressures at once. Not if time is
short, since its Hessian costs several decodings a step, nor for fine amounts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import LEAK, Architecture, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.probability.total_correlation import pairwise_log_density
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

LEAST_DEVIATION = 1e-3  # of a latent: one that does not vary still gets a kernel and a step
ACTIVATIONS = (nn.ReLU, nn.LeakyReLU, nn.Tanh, nn.GELU, nn.SiLU)


@dataclass(frozen=True, kw_only=True)
class Tripod(Autoencoder):
    latent_dim: int = 10
    """Number of dimensions of the code. Paper: twice as many as there are factors."""
    values: int = 12
    """How many values each dimension can take. Paper: 12."""
    lambda_information: Schedule = constant(1e-4)
    """λ_m, weight of the information that dimensions have about each other. Paper: 1e-4 on
    3D Shapes, 1e-8 on MPI3D."""
    lambda_hessian: Schedule = constant(1e-2)
    """λ_h, weight of using latents together. Paper: 1e-2 on 3D Shapes, 1e-4 on MPI3D."""
    directions: int = 2
    """Directions of each kind in which the decoder is bent. Paper: 2."""
    step: float = 0.1
    """ε, how many deviations of a latent the decoder is bent by. Paper: 0.1."""
    width: int = 256
    """Features of an image that are normalised before the last layer. Paper: 512."""
    optimizer: Optimizer = Adam(2e-4, clip_value=1.0)
    """How the networks are updated. Paper: Adam, 2e-4, gradients cut at 1."""

    main_knob = "lambda_hessian"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("values", "directions"):
            if getattr(self, name) < 2:
                raise ConfigError(f"{name} must be 2 or more, found {getattr(self, name)}")
        if self.width < 1:
            raise ConfigError(f"width must be 1 or more, found {self.width}")
        if self.step <= 0:
            raise ConfigError(f"step must be above 0, found {self.step}")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = nn.Sequential(
            architecture.encoder(data.image_shape, self.width),
            nn.LayerNorm(self.width),
            nn.LeakyReLU(LEAK),
            nn.Linear(self.width, self.latent_dim),
        )
        nets.decoder = architecture.decoder(self.latent_dim, data.image_shape)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {"autoencoder": Player(("encoder", "decoder"), self.optimizer)}

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        bounded = nets.encoder(batch.images).float().tanh()
        z = nearest_value(bounded, self.values)
        spread = bounded.std(0, correction=0).clamp_min(LEAST_DEVIATION)
        reconstruction = self.reconstruction(nets, z, batch.images)
        information = shared_information(z, spread)
        ratio = hessian_ratio(nets.decoder, z, self.step * spread, self.directions)
        yield Turn(
            "autoencoder",
            Loss(
                reconstruction / batch.images[0].numel()
                + self.lambda_information.at(step) * information
                + self.lambda_hessian.at(step) * ratio,
                reconstruction=reconstruction,
                shared_information=information,
                hessian_ratio=ratio,
            ),
        )

    def encode(self, nets: Networks, images: Images) -> Latents:
        return nearest_value(nets.encoder(images).float().tanh(), self.values)

    def decode(self, nets: Networks, codes: Latents) -> Images:
        """Decode the nearest values: the decoder has seen no others."""
        return super().decode(nets, nearest_value(codes.clamp(-1, 1), self.values))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        drawn = torch.randint(self.values, (count, self.latent_dim))
        return 2 * drawn / (self.values - 1) - 1


def nearest_value(codes: Latents, values: int) -> Latents:
    """Return the nearest of so many values in [-1, 1]; gradients pass as if nothing happened."""
    steps = (values - 1) / 2
    quantized = ((codes + 1) * steps).round() / steps - 1
    return codes + (quantized - codes).detach()


def shared_information(z: Latents, spread: Tensor) -> Scalar:
    """Return E[log q(z) − Σ_j log q(z_j)] in nats, by kernels around the codes of the batch."""
    count, size = z.shape
    # Silverman's rule for as many dimensions.
    width = (4 / ((size + 2) * count)) ** (1 / (size + 4))
    kernels = DiagonalGaussian(z, (2 * (width * spread).log()).expand_as(z))
    log_pairs = pairwise_log_density(z, kernels)  # (code, kernel, latent)
    joint = log_pairs.sum(2).logsumexp(1) - math.log(count)
    marginals = (log_pairs.logsumexp(1) - math.log(count)).sum(1)
    return (joint - marginals).mean()


def hessian_ratio(decoder: nn.Module, z: Latents, steps: Tensor, directions: int) -> Scalar:
    """Return the share of the Hessian off its diagonal, the mean over the decoder's layers."""
    signs = torch.randint(0, 2, (directions, *z.shape), device=z.device) * 2.0 - 1
    normals = torch.randn(directions, *z.shape, device=z.device, dtype=z.dtype)
    moves = steps * torch.cat([signs.to(z), normals])  # (direction, image, latent)
    points = torch.cat([z[None], z + moves, z - moves])
    ratios = []
    for values in activations(decoder, points.flatten(0, 1)):
        here, ahead, back = values.unflatten(0, points.shape[:2]).split([1, *[2 * directions] * 2])
        of_signs, of_normals = (ahead - 2 * here + back).chunk(2)
        least = torch.finfo(z.dtype).tiny
        ratios.append(total_variance(of_signs) / total_variance(of_normals).clamp_min(least))
    return torch.stack(ratios).mean()


def total_variance(values: Tensor) -> Scalar:
    """Return the sum of the variances over the first dimension.

    PyTorch's own takes ten times as long over two values that lie far apart in memory.
    """
    return (values - values.mean(0)).square().sum() / (len(values) - 1)


def activations(decoder: nn.Module, z: Latents) -> list[Tensor]:
    """Return what the hidden layers of a decoder put out, but for the last of several.

    The last one is where latents meet that act together on a pixel. Of a decoder in one piece it
    is its output.
    """
    found = []
    if isinstance(decoder, nn.Sequential):
        layers = list(decoder)
        places = [i for i, layer in enumerate(layers) if isinstance(layer, ACTIVATIONS)]
        judged = places[:-1] or places
        for layer in layers[: judged[-1] + 1 if judged else 0]:
            z = layer(z)
            if isinstance(layer, ACTIVATIONS):
                found.append(z)
    return found or [decoder(z)]
