"""The contract of a method: networks, players, turns; encode and decode.

A method is hyper-parameters and formulas of one paper. It holds no tensors and
no state, so one object serves any number of runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import torch

from unweave import catalog
from unweave.batches import Supervision, Unsupervised
from unweave.code_prior import GAUSSIAN, CodePrior
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._code import Code, CodeSource, Part
from unweave.methods._play import Loss as Loss
from unweave.methods._play import Move, Player
from unweave.methods._play import Turn as Turn
from unweave.networks import Architecture, Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.plain import field_types
from unweave.settings.schedules import Schedule
from unweave.tensors import Images, Latents, Scalar


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """Hyper-parameters and formulas of one paper."""

    latent_dim: int = 10
    """Number of dimensions of the code. Papers: 10 on dSprites."""
    optimizer: Optimizer = Adam()
    """How the networks are updated. The large study: learning rate 1e-4, betas 0.9 and 0.999."""

    main_knob: ClassVar[str] = ""
    """The setting that matters most."""
    codes_from: ClassVar[CodeSource] = "images"
    """Where codes come from: `encode` (images), `encode_rows` (rows), or nowhere."""
    decodes: ClassVar[bool] = True
    """Whether `decode` makes images of codes."""
    swaps: ClassVar[bool] = False
    """Whether `swap` makes images of one image's content and another's style."""

    def __post_init__(self) -> None:
        # So that BetaVAE(beta=4) and BetaVAE(beta="0:4:10000") can be written.
        types = field_types(type(self))
        for field in fields(self):
            value, kind = getattr(self, field.name), types[field.name]
            if kind is Schedule or (kind == Schedule | None and value is not None):
                object.__setattr__(self, field.name, Schedule.parse(value))
                self.refuse_negative(field.name)
        if self.latent_dim < 1:
            raise ConfigError(f"latent_dim must be 1 or more, found {self.latent_dim}")

    def refuse_negative(self, *names: str) -> None:
        """Raise an error if a weight is below 0, or a schedule is at either end."""
        for name in names:
            value = getattr(self, name)
            lowest = min(value.start, value.end) if isinstance(value, Schedule) else value
            if lowest < 0:
                raise ConfigError(f"{name} must be 0 or more, found {value}")

    @classmethod
    def around(cls, inner: str) -> "type[Method]":
        """Return the class of this method put around another, by that one's name.

        What OUTER+INNER is called; without an inner one, the method itself.
        """
        if inner:
            raise ConfigError(
                f"{catalog.name_of(cls)} cannot be put around {inner}; "
                f"semi_supervised+{inner} can be trained, for instance"
            )
        return cls

    @property
    def supervision(self) -> Supervision:
        """Return which batches it is fed."""
        return Unsupervised()

    def settled(self, steps: int, data: FactorImages) -> Self:
        """Return the method with settings that were left open filled in.

        A ramp may depend on how many steps the run has, a class on the columns of its data.
        """
        return self

    @abstractmethod
    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        """Make the networks, with fresh weights; of the data only its sizes are known."""

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Set, before the first step, what is not learnt by steps; by default nothing.

        What is set must be buffers or weights of `nets`, so that checkpoints hold it.
        """
        return

    def finish(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Set, after the last step, what is found in trained networks; by default nothing.

        A probe, an encoder for a generator, directions in a code. What is set must be
        buffers or weights of `nets`; where there are running averages, `nets` has these.
        A run that is trained further starts from before this, and finishes again.
        """
        return

    @property
    @abstractmethod
    def players(self) -> dict[str, Player]:
        """Return who plays, by name; with nobody to play there are no steps, only `fit`."""

    @abstractmethod
    def turns(self, nets: Networks, batch: Any, step: int) -> Iterator[Move]:
        """Yield the moves of one step, in order: see `_play`.

        After a `yield` weights have moved: detach what you keep, or compute it again.
        """

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        """Return what the dimensions of a code are; by default `latent_dim` numbers."""
        return (Part(self.latent_dim),)

    def code(self, nets: Networks, data: DataSummary) -> Code:
        """Return the description of the code, which all that shows or uses codes reads."""
        parts = self.code_parts(nets, data)
        return Code(parts, self.codes_from, decodes=self.decodes, swaps=self.swaps)

    def encode(self, nets: Networks, images: Images) -> Latents:
        """Return the code given to metrics; a method whose codes come from images writes this."""
        raise NotImplementedError(f"{type(self).__name__}.encode, since codes_from is images")

    def decode(self, nets: Networks, codes: Latents) -> Images:
        """Return images in [0, 1]; a method that decodes writes this."""
        raise NotImplementedError(f"{type(self).__name__}.decode, since decodes is true")

    def encode_rows(self, nets: Networks, data: FactorImages, rows: np.ndarray) -> Latents:
        """Return the codes of rows; a method whose codes come from rows writes this."""
        raise NotImplementedError(f"{type(self).__name__}.encode_rows, since codes_from is rows")

    def posterior(self, nets: Networks, images: Images) -> DiagonalGaussian | None:
        """Return q(z|x), if the method has one that is Gaussian."""
        return None

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        """Return the codes of images with the noise that training gives them, if it gives any."""
        q = self.posterior(nets, images)
        return self.encode(nets, images) if q is None else q.sample()

    @property
    def code_prior(self) -> CodePrior:
        """Return the prior that a Gaussian posterior is compared with."""
        return GAUSSIAN

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        """Draw codes to generate from."""
        return torch.randn(count, self.latent_dim)

    def draw_images(self, nets: Networks, codes: Latents) -> Images:
        """Draw images of codes from the prior; what a code leaves open is drawn as well."""
        return self.decode(nets, codes)

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Return images with the content of one row and the style of the same row of another."""
        raise NotImplementedError(f"{type(self).__name__}.swap, since swaps is true")

    def accumulate(self, nets: Networks, images: Images) -> DiagonalGaussian:
        """Return the content, one row, that images of one group give together."""
        raise ConfigError(f"{type(self).__name__} does not tell content from style")

    def kl_limit(self, step: int) -> float | None:
        """Return the KL in nats that the loss holds the code to, if it does."""
        return None

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return further figures for the record at evaluation, by name."""
        return {}
