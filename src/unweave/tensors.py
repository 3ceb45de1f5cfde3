"""What the axes of tensors are, written once.

Plain aliases: they tell the reader, and the catalog-driven tests check shapes.
"""

from torch import Tensor

Images = Tensor
"""(batch, channel, height, width), in [0, 1]."""

Latents = Tensor
"""(batch, latent)."""

Scalar = Tensor
"""()."""
