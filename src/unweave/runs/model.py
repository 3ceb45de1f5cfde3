"""What can be looked at: a trained run, or a model of the user's own. Arrays in, arrays out.

Every ability of a method has its face here, once: `Run` computes it with networks,
`WrappedModel` with functions of the user's, and neither knows what the others are.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unweave.code_prior import GAUSSIAN, CodePrior
from unweave.data import FactorImages
from unweave.errors import ConfigError, DataError
from unweave.methods import Code, Unit
from unweave.tables import to_numpy

CHUNK = 128  # images; larger parts leave the processor's cache


class Model(ABC):
    """From images to codes, from codes to images, as far as `code` says that it can."""

    step: int
    """How many steps it was trained; 0 where that is not known."""
    image_shape: tuple[int, int, int]
    """Channels, height, width."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return what to call it."""

    @property
    def kind(self) -> str:
        """Return what messages call it: the method of a run, a model of your own by its name."""
        return self.name

    @property
    @abstractmethod
    def data(self) -> FactorImages:
        """Return the data set it is looked at with."""

    @property
    @abstractmethod
    def code(self) -> Code:
        """Return what its code is, and what can be done with it."""

    @property
    @abstractmethod
    def latent_names(self) -> dict[int, str]:
        """Return the names that latents were given, by index."""

    @property
    def scores(self) -> dict[str, Any]:
        """Return the scores by metric, as far as they are known."""
        return {}

    @property
    def kl_limit(self) -> float | None:
        """Return the KL in nats that its loss holds the code to, if it does."""
        return None

    @property
    def code_prior(self) -> CodePrior:
        """Return the prior that posteriors are compared with."""
        return GAUSSIAN

    @property
    def class_column(self) -> str:
        """Return the factor or column that was told of images as their class, if one was."""
        return ""

    @abstractmethod
    def compute(self, ability: str, *arrays: np.ndarray, seed: int | None = None) -> Any:
        """Return what an ability of the method gives, row by row, as one array.

        A Gaussian is returned as (row, 2, dimension), means and log-variances; None where
        there is none. `seed` decides what is drawn.
        """

    @property
    def latent_dim(self) -> int:
        """Return how many numbers a code has."""
        return self.code.size

    def encode(self, images: Any) -> np.ndarray:
        """Return the codes of images: float32 (row, code)."""
        self.code.require_codes_of_images(self.kind)
        codes: np.ndarray = self.compute("encode", self.checked_images(images))
        return codes

    @abstractmethod
    def encode_rows(self, rows: np.ndarray, data: FactorImages | None = None) -> np.ndarray:
        """Return the codes of rows of the data set, without holding all images at once."""

    def posterior(self, images: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Return mean and log-variance of q(z|x), or None if there is no Gaussian one."""
        if self.code.source != "images":
            return None
        found = self.compute("posterior", self.checked_images(images))
        return None if found is None else (found[:, 0], found[:, 1])

    def draw_codes(self, images: Any, seed: int = 0) -> np.ndarray:
        """Return the codes of images with the noise that training gives them, if it gives any."""
        self.code.require_codes_of_images(self.kind)
        codes: np.ndarray = self.compute("draw_codes", self.checked_images(images), seed=seed)
        return codes

    def decode(self, codes: Any) -> np.ndarray:
        """Return the images of codes: float32 (row, channel, height, width) in [0, 1]."""
        self.code.require_decoder(self.kind)
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != self.latent_dim:
            raise DataError(f"expected codes (row, {self.latent_dim}), found shape {codes.shape}")
        images: np.ndarray = self.compute("decode", codes)
        return images

    def reconstruct(self, images: Any) -> np.ndarray:
        """Return the images decoded from their codes."""
        return self.decode(self.encode(images))

    @abstractmethod
    def prior_codes(self, count: int, seed: int = 0) -> np.ndarray:
        """Return codes drawn from the prior: float32 (row, code)."""

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Return images drawn from the prior."""
        codes = self.prior_codes(count, seed)
        images: np.ndarray = self.compute("draw_images", codes, seed=seed + 1)
        return images

    def swap(self, content_images: Any, style_images: Any) -> np.ndarray:
        """Return images with the content of each row and the style of the same row of another."""
        self.code.require_swap(self.kind)
        content, style = self.checked_images(content_images), self.checked_images(style_images)
        if len(content) != len(style):
            raise DataError(f"{len(content)} contents for {len(style)} styles")
        images: np.ndarray = self.compute("swap", content, style)
        return images

    def traverse(
        self,
        start: Any = None,
        *,
        dimensions: list[int] | None = None,
        low: float | None = None,
        high: float | None = None,
        steps: int = 9,
    ) -> np.ndarray:
        """Vary one dimension at a time: images (dimension, step, channel, height, width).

        `start` is a code or an image; by default the centre of the prior. `low` and `high` are
        by default where the prior ends: ±2 for a Gaussian.
        """
        reach = self.code_prior.reach
        low, high = -reach if low is None else low, reach if high is None else high
        code = self.start_code(np.zeros(self.latent_dim) if start is None else start)
        dimensions = list(range(self.latent_dim)) if dimensions is None else dimensions
        outside = [d for d in dimensions if not 0 <= d < self.latent_dim]
        if outside or steps < 1:
            raise ConfigError(
                f"expected dimensions from 0 to {self.latent_dim - 1} and 1 step or more, "
                f"found {outside or steps}"
            )
        codes = np.tile(code, (len(dimensions), steps, 1))
        for line, dimension in enumerate(dimensions):
            codes[line, :, dimension] = np.linspace(low, high, steps)
        images = self.decode(codes.reshape(-1, self.latent_dim))
        return images.reshape(len(dimensions), steps, *self.image_shape)

    def start_code(self, start: Any) -> np.ndarray:
        """Return the code that is given, or that of an image that is given."""
        given = np.asarray(start, dtype=np.float32)
        if given.shape == (self.latent_dim,):
            if not np.isfinite(given).all():
                raise DataError("the code to start from must be finite")
            return given
        if given.shape == self.image_shape:
            return self.encode(given[None])[0]
        raise DataError(
            f"expected a code of {self.latent_dim} numbers or an image of shape "
            f"{self.image_shape}, found shape {given.shape}"
        )

    def checked_images(self, images: Any) -> np.ndarray:
        """Return images as float32 in [0, 1], or say why they are none of this model's."""
        array = to_numpy(images)
        if array.ndim != 4 or array.shape[1:] != self.image_shape:
            wanted = ", ".join(map(str, self.image_shape))
            raise DataError(f"expected images (row, {wanted}), found shape {array.shape}")
        if array.dtype == np.uint8:
            return array.astype(np.float32) / 255
        if array.size and not (array.min() >= 0 and array.max() <= 1):
            raise DataError(
                f"expected images in [0, 1], found values from {array.min()} to {array.max()}"
            )
        return array.astype(np.float32, copy=False)

    def label(self, unit: Unit) -> str:
        """Return what to write beside a latent: z3, or z3 and the name it was given."""
        name = self.latent_names.get(unit.dimensions[0], "")
        return f"{unit.label} {name}" if name else unit.label

    def latent_labels(self) -> list[str]:
        """Return what to write beside each dimension."""
        names = self.latent_names
        return [f"z{i} {names[i]}" if i in names else f"z{i}" for i in range(self.latent_dim)]


def in_parts(array: np.ndarray) -> list[np.ndarray]:
    """Cut an array into parts small enough to compute with; an empty one stays one part."""
    return [array[i : i + CHUNK] for i in range(0, max(len(array), 1), CHUNK)]
