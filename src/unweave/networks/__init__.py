"""Architectures: pairs of an encoder and a decoder."""

from typing import Any

from unweave import catalog
from unweave.networks._blocks import BlockDecoder, block_means
from unweave.networks._class_generator import ClassGenerator, squared_distance, table
from unweave.networks._conditional import ConditionalEncoder
from unweave.networks._discriminator import code_discriminator
from unweave.networks._ladder import BottomUp, TopDown
from unweave.networks._layers import plain_layers
from unweave.networks._networks import Architecture, GaussianEncoder, ImageShape, Networks
from unweave.networks._normalized import LEAK, batch_normalized, spectrally_normalized
from unweave.networks._room import within_memory
from unweave.networks._statistics import still_statistics

__all__ = [
    "LEAK",
    "Architecture",
    "BlockDecoder",
    "BottomUp",
    "ClassGenerator",
    "ConditionalEncoder",
    "GaussianEncoder",
    "ImageShape",
    "Networks",
    "TopDown",
    "architecture_for",
    "architecture_named",
    "batch_normalized",
    "block_means",
    "code_discriminator",
    "plain_layers",
    "spectrally_normalized",
    "squared_distance",
    "still_statistics",
    "table",
    "within_memory",
]

LARGE, PATCH = 96, 4
"""From which side on the usual architecture takes patches first, and their side."""


def architecture_named(name: str) -> type[Architecture]:
    """Return the class of an architecture: the only one its module defines."""
    return catalog.entry_class(__name__, name, "architecture", Architecture)


def architecture_for(image_shape: ImageShape) -> Architecture:
    """Return the usual architecture for images of this shape."""
    if image_shape[1:] == (64, 64):
        return architecture_named("conv64")()
    sides = image_shape[1:]
    in_patches = min(sides) >= LARGE and all(side % PATCH == 0 for side in sides)
    kind: Any = architecture_named("conv_any")
    return kind(patch=PATCH) if in_patches else kind()
