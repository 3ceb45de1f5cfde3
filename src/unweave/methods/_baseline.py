"""What baselines share: nobody plays, so that there are no steps, only a fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unweave.batches import draw_rows
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError, DataError
from unweave.methods._method import Method, Player, Turn
from unweave.networks import Architecture, ImageShape, Networks
from unweave.tensors import Images, Latents

CHUNK = 1000  # images read at once


@dataclass(frozen=True, kw_only=True)
class Baseline(Method):
    """A method that learns nothing by steps."""

    @property
    def players(self) -> dict[str, Player]:
        return {}

    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Turn]:
        return iter(())


class LinearCode(nn.Module):
    """Codes linear in pixels: z = E (x − mean), x = mean + D z."""

    mean: Tensor
    encoding: Tensor
    decoding: Tensor

    def __init__(self, latent_dim: int, image_shape: ImageShape):
        super().__init__()
        pixels = prod(image_shape)
        self.image_shape = image_shape
        self.register_buffer("mean", torch.zeros(pixels))
        self.register_buffer("encoding", torch.zeros(latent_dim, pixels))
        self.register_buffer("decoding", torch.zeros(pixels, latent_dim))

    def set(self, mean: np.ndarray, encoding: np.ndarray, decoding: np.ndarray) -> None:
        """Keep what was fitted."""
        for buffer, value in (
            (self.mean, mean),
            (self.encoding, encoding),
            (self.decoding, decoding),
        ):
            buffer.copy_(torch.from_numpy(np.ascontiguousarray(value)))


@dataclass(frozen=True, kw_only=True)
class LinearBaseline(Baseline):
    """A code linear in pixels, fitted once to images; a paper writes `fit`."""

    fit_rows: int = 10_000
    """Images to fit to, drawn at random; all of them if there are fewer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fit_rows < 2:
            raise ConfigError(f"fit_rows must be 2 or more, found {self.fit_rows}")

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        if self.latent_dim > prod(data.image_shape):
            raise ConfigError(
                f"latent_dim {self.latent_dim} is more than the {prod(data.image_shape)} pixels"
            )
        nets = Networks()
        nets.code = LinearCode(self.latent_dim, data.image_shape)
        return nets

    def encode(self, nets: Networks, images: Images) -> Latents:
        codes: Latents = (images.flatten(1) - nets.code.mean) @ nets.code.encoding.T
        return codes

    def decode(self, nets: Networks, codes: Latents) -> Images:
        pixels = nets.code.mean + codes @ nets.code.decoding.T
        return pixels.clamp(0, 1).reshape(codes.shape[0], *nets.code.image_shape)

    def principal_axes(
        self, data: FactorImages, seed: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return pixels that were drawn, their mean, axes (latent, pixel) and deviations."""
        rng = np.random.default_rng((seed, 0xF17))
        rows = np.sort(draw_rows(data, min(self.fit_rows, len(data)), rng))
        if len(rows) <= self.latent_dim:
            raise DataError(
                f"{len(rows)} images are too few to fit {self.latent_dim} dimensions to"
            )
        pixels = np.empty((len(rows), prod(data.image_shape)), dtype=np.float32)
        for start in range(0, len(rows), CHUNK):
            part = data.images(rows[start : start + CHUNK], rng)
            pixels[start : start + len(part)] = part.reshape(len(part), -1)
        from sklearn.decomposition import PCA

        found = PCA(self.latent_dim, random_state=seed).fit(pixels)
        # The sign of an axis is free; its largest entry positive makes it one of a kind.
        axes = found.components_
        axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(1)])[:, None]
        deviations = np.sqrt(np.maximum(found.explained_variance_, 1e-12))
        return pixels, found.mean_, axes, deviations
