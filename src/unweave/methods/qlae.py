"""QLAE: each dimension of the code takes one of few learnt values.

K. Hsu et al., "Disentanglement via Latent Quantization", NeurIPS 2023,
arXiv:2305.18378. With e the encoder's output, v_j the values of dimension j and
q_j the one nearest to e_j,

    autoencoder   mean_pixels[-log p(x|q)] + λ_c mean_j (e_j - sg q_j)²
    codebook      λ_q mean_j (sg e_j - q_j)²

The decoder sees q; its gradient passes straight through to e. Strong weight
decay is part of the method: with learning rate r and decay w, weights that get no
gradient are gone after some 1/(r w) steps, a twentieth of the paper's 200,000.
Set w against the steps of a shorter run.

Its pixels are averaged, unlike those of every other method here, since weight
decay is set against that scale; the recorded reconstruction is the sum.

Gradients are cut entry by entry before Adam sees them; its updates are not cut. The
authors' code cuts those of weights alone; here those of biases are cut as well.

Differs from the paper: the networks are those of `--architecture`, which have no
instance normalisation.

Use it for axes from images alone where factors take few values each. Not for fine amounts, which
few values cannot tell, and not if a density of codes is needed: there is no prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.batches import Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._method import Loss, Player, Turn
from unweave.networks import Architecture, Networks
from unweave.settings.optimizers import Adam, Optimizer
from unweave.tensors import Images, Latents


class Codebook(nn.Module):
    """The values of each dimension, (latent, value)."""

    def __init__(self, latent_dim: int, count: int):
        super().__init__()
        self.values = nn.Parameter(torch.linspace(-0.5, 0.5, count).repeat(latent_dim, 1))

    def forward(self, encoded: Latents) -> Latents:
        """Return the nearest values; gradients reach the values, not the input."""
        distances = (encoded.detach()[:, :, None] - self.values.detach()).abs()
        nearest = distances.argmin(2, keepdim=True)  # (batch, latent, 1)
        values: Tensor = self.values.expand(encoded.shape[0], -1, -1)
        return values.gather(2, nearest)[:, :, 0]


@dataclass(frozen=True, kw_only=True)
class QLAE(Autoencoder):
    latent_dim: int = 10
    """Number of dimensions of the code. Paper: twice as many as there are factors."""
    values: int = 10
    """How many values each dimension can take. Paper: 10."""
    lambda_quantization: float = 0.01
    """λ_q, weight of moving values to the encoder's outputs. Paper: 0.01; the authors' fixed
    settings for dSprites: 0.001."""
    lambda_commitment: float = 0.01
    """λ_c, weight of keeping the encoder's outputs at values. Paper: 0.01; the authors' fixed
    settings for dSprites: 0.001."""
    optimizer: Optimizer = Adam(1e-3, weight_decay=0.1, decay_biases=False, clip_value=1.0)
    """How encoder and decoder are updated. Paper: 1e-3, weight decay 0.1 (0.001 on MPI3D)
    of weights but not of biases, gradients of weights cut at 1."""
    codebook_optimizer: Optimizer = Adam(1e-3)
    """How the values are updated; they do not decay. Paper: 1e-3, gradients not cut."""

    main_knob = "values"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values < 2:
            raise ConfigError(f"values must be 2 or more, found {self.values}")
        self.refuse_negative("lambda_quantization", "lambda_commitment")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = Networks()
        nets.encoder = architecture.encoder(data.image_shape, self.latent_dim)
        nets.decoder = architecture.decoder(self.latent_dim, data.image_shape)
        nets.codebook = Codebook(self.latent_dim, self.values)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        return {
            "autoencoder": Player(("encoder", "decoder"), self.optimizer),
            "codebook": Player(("codebook",), self.codebook_optimizer),
        }

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        encoded = nets.encoder(batch.images).float()
        quantized = nets.codebook(encoded)
        z = straight_through(encoded, quantized)
        reconstruction = self.reconstruction(nets, z, batch.images)
        commitment = (encoded - quantized.detach()).square().mean()
        quantization = (encoded.detach() - quantized).square().mean()
        pixels = batch.images[0].numel()
        total = reconstruction / pixels + self.lambda_commitment * commitment
        yield Turn("autoencoder", Loss(total, reconstruction=reconstruction, commitment=commitment))
        yield Turn("codebook", Loss(self.lambda_quantization * quantization))

    def encode(self, nets: Networks, images: Images) -> Latents:
        encoded = nets.encoder(images).float()
        # Adding 0 leaves the values as they are and passes gradients on to the encoder.
        quantized: Latents = nets.codebook(encoded) + (encoded - encoded.detach())
        return quantized

    def decode(self, nets: Networks, codes: Latents) -> Images:
        """Decode the nearest values: the decoder has seen no others."""
        return super().decode(nets, nets.codebook(codes))

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        drawn = torch.randint(self.values, (self.latent_dim, count))
        samples: Latents = nets.codebook.values.detach().cpu().gather(1, drawn).T
        return samples


def straight_through(encoded: Latents, quantized: Latents) -> Latents:
    """Return the quantized code with the gradient of the one before quantization."""
    return encoded + (quantized - encoded).detach()
