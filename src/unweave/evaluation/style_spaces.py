"""Noise against styles: in which of a style-based generator's spaces do images change evenly?

The comparison of T. Karras, S. Laine, T. Aila, arXiv:1812.04948: path length and linear
separability in z, from which styles are made, and in w, the styles. Images have no noise
and one style for every layer, and nothing is truncated. A generator that draws one image again
and again has short paths: look at its samples too.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from unweave.errors import ConfigError
from unweave.methods.style_gan import StyleGAN
from unweave.metrics import Score, linear_separability, path_length
from unweave.runs.model import in_parts
from unweave.runs.run import Run

SPACES = ("z", "w")


@dataclass(frozen=True)
class Spaces:
    """Draws of noise, the styles made of them, and what makes images of either."""

    codes: dict[str, np.ndarray]
    """Rows of z and w belong together."""
    generate: dict[str, Callable[[np.ndarray], np.ndarray]]
    """From rows of a space to images (row, channel, height, width)."""

    @property
    def images(self) -> np.ndarray:
        """Return the images of all draws."""
        return self.generate["w"](self.codes["w"])


def spaces_of(run: Run, count: int = 2_000, seed: int = 0) -> Spaces:
    """Draw from both spaces; in double precision, since paths are looked at in tiny steps."""
    method = run.config.method
    if not isinstance(method, StyleGAN):
        raise ConfigError(f"{run.kind} has no styles: noise against styles is asked of style_gan")
    nets = copy.deepcopy(run.nets).cpu().double().eval()
    rng = np.random.default_rng((seed, 0x57))

    def style(z: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return np.asarray(nets.mapping(torch.from_numpy(z)).numpy())

    def draw(w: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            parts = [method.draw_at(nets, torch.from_numpy(part)).numpy() for part in in_parts(w)]
        return np.concatenate(parts)

    z = rng.standard_normal((count, method.width))
    return Spaces({"z": z, "w": style(z)}, {"z": lambda z: draw(style(z)), "w": draw})


def path_lengths(
    spaces: Spaces, paths: int = 2_000, protocol: str = "karras2019_full", seed: int = 0
) -> dict[str, Score]:
    """Return the path length in each space: along the sphere in z, straight in w."""
    return {
        name: path_length(
            spaces.generate[name],
            spaces.codes[name],
            paths=paths,
            protocol=protocol,
            spherical=name == "z",
            seed=seed,
        )
        for name in SPACES
    }


def separabilities(spaces: Spaces, factors: np.ndarray, seed: int = 0) -> dict[str, Score]:
    """Return the linear separability in each space, by factors that were read off `images`."""
    return {
        name: linear_separability(spaces.codes[name], factors, continuous=True, seed=seed)
        for name in SPACES
    }
