"""Architectures: pairs of an encoder and a decoder."""

from unweave import catalog
from unweave.networks._blocks import BlockDecoder, block_means
from unweave.networks._class_generator import ClassGenerator, squared_distance, table
from unweave.networks._conditional import ConditionalEncoder
from unweave.networks._discriminator import code_discriminator
from unweave.networks._ladder import BottomUp, TopDown
from unweave.networks._networks import Architecture, GaussianEncoder, ImageShape, Networks
from unweave.networks._normalized import LEAK, batch_normalized, spectrally_normalized

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
    "spectrally_normalized",
    "squared_distance",
    "table",
]


def architecture_named(name: str) -> type[Architecture]:
    """Return the class of an architecture: the only one its module defines."""
    return catalog.entry_class(__name__, name, "architecture", Architecture)


def architecture_for(image_shape: ImageShape) -> Architecture:
    """Return the usual architecture for images of this shape."""
    fits_conv64 = image_shape[1:] == (64, 64)
    return architecture_named("conv64" if fits_conv64 else "conv_any")()
