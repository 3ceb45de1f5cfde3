"""Networks that fit into memory: what they need is counted before any of it is taken."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from unweave.errors import ConfigError, reason
from unweave.process import memory_bytes

N = TypeVar("N", bound=nn.Module)

TOO_MANY = ("overflow", "too large", "out of range")
"""What torch says of sizes whose product is no number of the machine."""
NO_ROOM = ("can't allocate memory", "not enough memory", "out of memory")


def within_memory(make: Callable[[], N]) -> N:
    """Return the networks that `make` makes, or say that this machine cannot hold them.

    They are made twice: without weights first, to count them. A system may promise memory
    that it does not have, and end the process that takes it.
    """
    needed, most = _needed(make), memory_bytes()
    if needed is not None and needed > most:
        raise ConfigError(
            f"these settings ask for networks of {needed / 2**30:,.0f} GiB; this machine has "
            f"{most / 2**30:,.0f} GiB. Make them smaller (latent_dim, widths, size of the images)"
        )
    try:
        return make()
    except RuntimeError as error:
        if not any(words in str(error) for words in NO_ROOM):
            raise
        raise ConfigError(f"these settings ask for too much memory: {reason(error)}") from error


def _needed(make: Callable[[], nn.Module]) -> int | None:
    """Return how many bytes of weights there will be; None if only making them can tell."""
    try:
        with torch.device("meta"):
            nets = make()
    except (RuntimeError, TypeError, OverflowError) as error:
        said = str(error).lower()
        if any(words in said for words in TOO_MANY):
            raise ConfigError(
                "these settings ask for more weights than can be numbered. Make the networks "
                "smaller (latent_dim, widths, size of the images)"
            ) from error
        if "negative dimension" in said:
            raise ConfigError(
                f"these settings ask for networks of less than no width: {reason(error)}"
            ) from error
        return None  # weights that are computed need numbers; what is wrong is said by `make`
    tensors = {id(tensor): tensor for tensor in (*nets.parameters(), *nets.buffers())}
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
