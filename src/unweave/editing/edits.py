"""Change one thing of an image: encode it, turn a latent, decode it; and say what else changed.

What is done to codes is in `changes`; `swap` takes the content or style of another image. What
else changed is read off the images by a judge that knows no code.
"""

import dataclasses
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unweave.editing.changes import Change
from unweave.editing.factor_reader import FactorReader, Reading, fit_reader
from unweave.editing.targets import Target
from unweave.errors import ConfigError, DataError, shown
from unweave.figures import Animation, ImageGrid
from unweave.runs.model import Model
from unweave.views import View, plain, turned, values_of

ROLES = ("content", "style")
FRAMES = 16
PICTURES = {"pictures": True}


@dataclass(frozen=True)
class PicturedView(View):
    """Named arrays, some of them pictures."""

    def numbers(self) -> dict[str, Any]:
        """Return all but the pictures, as JSON can hold it."""
        kept = [f.name for f in dataclasses.fields(self) if "pictures" not in f.metadata]
        return {name: plain(getattr(self, name)) for name in kept}


@dataclass(frozen=True)
class FactorChange(View):
    """How far one factor moved, as a judge of images reads it."""

    factor: str
    asked: bool
    """Whether this is what was to change."""
    moved: float
    """Mean distance from decoded to edited image, a share of the factor's range; of a factor
    without an order, the share of images whose class is another."""
    quality: float
    """How well the judge reads this factor off images of the data: R², or accuracy."""
    chance: float
    """The same of a judge that always says the mean, or the commonest class."""
    error: float
    """How far the judge is off, in the units of `moved`."""


@dataclass(frozen=True)
class Edited(PicturedView):
    """Images before and after, their codes, and what changed."""

    model: str
    names: list[str]
    changes: list[str]
    """What was done."""
    evidence: list[str]
    """Why these latents stand for the factors that were asked for."""
    codes: np.ndarray
    """(image, code), before."""
    edited_codes: np.ndarray | None
    """(image, code), after; None where content and style were swapped by the method."""
    images: np.ndarray = field(metadata=PICTURES)
    decoded: np.ndarray = field(metadata=PICTURES)
    """What the codes decode to without any change: what is lost on the way."""
    edited: np.ndarray = field(metadata=PICTURES)
    pixels_moved: float
    """Mean distance of pixels from decoded to edited images, from 0 to 1."""
    factors_moved: list[FactorChange] = field(default_factory=list)
    """What a judge of images says; empty where no factors are known."""

    def paragraph(self) -> str:
        """Say what was done and what changed, in a few sentences."""
        told = [f"{self.model}: {'; '.join(self.changes)}.", *(f"{e}." for e in self.evidence)]
        told.append(f"Pixels moved by {self.pixels_moved:.3f} on average, of 1.")
        asked = [c for c in self.factors_moved if c.asked]
        others = [c for c in self.factors_moved if not c.asked]
        if asked:
            told.append(f"Asked for: {_told(asked)}.")
        if others:
            told.append(f"{'Else' if asked else 'Factors'}: {_told(others)}.")
        if self.factors_moved:
            told.append(
                "Read off the images by a regression of factors on pixels; what it is off by on "
                "images of the data is in brackets, and a smaller change says nothing."
            )
        else:
            told.append(
                "What else changed was not read off the images: it is for the eye to judge."
            )
        return " ".join(told)

    def grid(self) -> ImageGrid:
        """Show images, what they decode to, and what became of them."""
        lines = np.stack([self.images, self.decoded, self.edited])
        title = "; ".join(self.changes)
        return ImageGrid(lines, row_labels=["image", "decoded", "edited"], title=title)


def _told(changes: Sequence[FactorChange]) -> str:
    return ", ".join(f"{c.factor} moved {c.moved:.2f} (±{c.error:.2f})" for c in changes)


def edit(
    model: Model,
    images: np.ndarray,
    changes: Sequence[Change],
    *,
    names: Sequence[str] | None = None,
    reader: FactorReader | None = None,
) -> Edited:
    """Encode images, change their codes, decode them."""
    model.code.require_decoder(model.kind)
    if not changes:
        raise ConfigError("change what? Name a latent, its name or a factor")
    codes = model.encode(images)
    edited_codes = codes
    for change in changes:
        edited_codes = change.apply(edited_codes)
    return _edited(
        model,
        images,
        names,
        changes=[change.words for change in changes],
        evidence=[change.target.evidence for change in changes if change.target.evidence],
        asked={_factor_asked(change.target) for change in changes},
        after=(edited_codes, model.decode(edited_codes)),
        codes=codes,
        reader=reader,
    )


def swap(
    model: Model,
    images: np.ndarray,
    other: np.ndarray,
    take: str,
    other_name: str,
    *,
    names: Sequence[str] | None = None,
    reader: FactorReader | None = None,
) -> Edited:
    """Give images the content, or the style, of another image."""
    if take not in ROLES:
        raise ConfigError(f"expected content or style, found {shown(take)}")
    others = np.repeat(other[None], len(images), axis=0)
    codes, edited_codes = model.encode(images), None
    if model.code.swaps:
        made = model.swap(others, images) if take == "content" else model.swap(images, others)
    else:
        dimensions = model.code.roles.get(take)
        if not dimensions:
            model.code.require_swap(model.kind)
        model.code.require_decoder(model.kind)
        edited_codes = codes.copy()
        edited_codes[:, dimensions] = model.encode(other[None])[:, dimensions]
        made = model.decode(edited_codes)
    return _edited(
        model,
        images,
        names,
        changes=[f"{take} taken from {other_name}"],
        evidence=[],
        asked=set(),
        after=(edited_codes, made),
        codes=codes,
        reader=reader,
    )


def _edited(
    model: Model,
    images: np.ndarray,
    names: Sequence[str] | None,
    *,
    changes: list[str],
    evidence: list[str],
    asked: AbstractSet[str],
    after: tuple[np.ndarray | None, np.ndarray],
    codes: np.ndarray,
    reader: FactorReader | None,
) -> Edited:
    decoded, (edited_codes, edited_images) = model.decode(codes), after
    return Edited(
        model=model.name,
        names=list(names or map(str, range(len(images)))),
        changes=changes,
        evidence=evidence,
        codes=codes,
        edited_codes=edited_codes,
        images=images,
        decoded=decoded,
        edited=edited_images,
        pixels_moved=float(np.abs(edited_images - decoded).mean()),
        factors_moved=what_moved(reader, decoded, edited_images, asked) if reader else [],
    )


def reader_for(model: Model, seed: int = 0) -> FactorReader | None:
    """Fit a judge to the model's data, if factors of it are known."""
    try:
        return fit_reader(model.data, seed=seed)
    except DataError:
        return None  # without factors, or too few images: the eye must judge


def what_moved(
    reader: FactorReader,
    before: np.ndarray,
    after: np.ndarray,
    asked: AbstractSet[str] = frozenset(),
) -> list[FactorChange]:
    """Say how far each factor moved from images to others."""
    moved = reader.change(before, after).mean(axis=0)
    return [_factor_change(r, float(m), asked) for r, m in zip(reader.readings, moved, strict=True)]


def _factor_change(reading: Reading, moved: float, asked: AbstractSet[str]) -> FactorChange:
    return FactorChange(
        reading.factor,
        reading.factor in asked,
        moved,
        reading.quality,
        reading.chance,
        reading.error,
    )


def _factor_asked(target: Target) -> str:
    return target.factor or target.unit.factor


@dataclass(frozen=True)
class Varied(PicturedView):
    """One latent of some images at several values."""

    model: str
    names: list[str]
    label: str
    evidence: str
    values: np.ndarray
    """(column,)."""
    images: np.ndarray = field(metadata=PICTURES)
    """(image, column, channel, height, width)."""
    factors_moved: list[FactorChange] = field(default_factory=list)
    """From the first column to the last."""

    def grid(self) -> ImageGrid:
        """Show a line for each image, a column for each value."""
        return ImageGrid(
            self.images,
            row_labels=self.names if len(self.names) > 1 else [],
            column_labels=[f"{value:.2g}" for value in self.values],
            title=f"{self.model}: {self.label}",
        )

    def animation(self) -> Animation:
        """Show the columns one after the other, to and fro, with all images in a line."""
        count = self.images.shape[1]
        order = [*range(count), *range(count - 2, 0, -1)]
        return Animation([_frame(self.images[:, i], f"{self.label}") for i in order])

    def paragraph(self) -> str:
        """Say what was varied and what changed, in a few sentences."""
        told = [
            f"{self.model}: {self.label} varied from {self.values[0]:.2g} to {self.values[-1]:.2g}."
        ]
        told += [f"{self.evidence}."] if self.evidence else []
        if self.factors_moved:
            told.append(
                f"From one end to the other, as a regression reads it off the images: "
                f"{_told(self.factors_moved)}; in brackets, what it is off by on the data."
            )
        return " ".join(told)


def vary(
    model: Model,
    images: np.ndarray,
    target: Target,
    *,
    low: float | None = None,
    high: float | None = None,
    steps: int = 9,
    names: Sequence[str] | None = None,
    reader: FactorReader | None = None,
) -> Varied:
    """Decode images with one latent at values from low to high, by default as the prior reaches."""
    model.code.require_decoder(model.kind)
    reach = model.code_prior.reach
    low, high = -reach if low is None else low, reach if high is None else high
    if steps < 2 or not low < high:
        raise ConfigError(
            f"expected 2 steps or more from low to high, found {steps}, {low}, {high}"
        )
    values = values_of(target.unit, np.linspace(low, high, steps))
    values = values[np.isfinite(values)]
    codes = model.encode(images)
    varied = np.concatenate([turned(code, target.unit, values) for code in codes])
    decoded = model.decode(varied).reshape(len(images), len(values), *model.image_shape)
    asked = {_factor_asked(target)}
    moved = what_moved(reader, decoded[:, 0], decoded[:, -1], asked) if reader else []
    return Varied(
        model.name,
        list(names or map(str, range(len(images)))),
        target.label,
        target.evidence,
        values,
        decoded,
        moved,
    )


def morph(model: Model, edited: Edited, frames: int = FRAMES) -> Animation:
    """Show images as they change from before to after, and back."""
    if edited.edited_codes is None:
        pair = [edited.decoded, edited.edited]
        return Animation([_frame(part, edited.changes[0]) for part in pair], milliseconds=700)
    shares = np.linspace(0, 1, frames)
    order = [*range(frames), *range(frames - 2, 0, -1)]
    between = [edited.codes + share * (edited.edited_codes - edited.codes) for share in shares]
    made = [_frame(model.decode(codes), edited.changes[0]) for codes in between]
    return Animation([made[i] for i in order])


def _frame(images: np.ndarray, title: str) -> Any:
    return ImageGrid(images[None], title=title, least_side=128).picture
