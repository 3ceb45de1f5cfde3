"""Architectures: pairs of an encoder and a decoder."""

from unweave import catalog
from unweave.networks._networks import Architecture, GaussianEncoder, ImageShape, Networks

__all__ = [
    "Architecture",
    "GaussianEncoder",
    "ImageShape",
    "Networks",
    "architecture_for",
    "architecture_named",
]


def architecture_named(name: str) -> type[Architecture]:
    """Return the class of an architecture: the only one its module defines."""
    return catalog.entry_class(__name__, name, "architecture", Architecture)


def architecture_for(image_shape: ImageShape) -> Architecture:
    """Return the usual architecture for images of this shape."""
    fits_conv64 = image_shape[1:] == (64, 64)
    return architecture_named("conv64" if fits_conv64 else "conv_any")()
