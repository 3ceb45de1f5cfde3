"""Images of codes: reconstructions, samples, traversals, swaps and mixes."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from unweave.catalog import check_name
from unweave.errors import ConfigError
from unweave.methods import Unit
from unweave.runs.model import Model
from unweave.views.code_sample import CodeSample, images_of_each_class, sample_codes, some_images
from unweave.views.turning import (
    chosen_units,
    nearest_column,
    turned,
    units_by_weight,
    values_of,
)
from unweave.views.view import PICTURES, View

Ranges = Literal["fixed", "around", "prior", "posterior"]
RANGES: dict[str, str] = {
    "fixed": "from -reach to +reach",
    "around": "from reach below the start to reach above it",
    "prior": "quantiles of the prior",
    "posterior": "quantiles of the codes of the data, drawn from q(z|x) where there is one",
}
PRIOR_DRAWS = 20_000
KL_ROWS = 1_000


@dataclass(frozen=True)
class Reconstructions(View):
    """Images and what is decoded from their codes."""

    step: int
    images: np.ndarray = field(metadata=PICTURES)
    """(row, channel, height, width)."""
    decoded: np.ndarray = field(metadata=PICTURES)
    error: np.ndarray
    """Mean squared error of each row."""


@dataclass(frozen=True)
class PriorSamples(View):
    """Images decoded from codes of the prior."""

    step: int
    codes: np.ndarray
    images: np.ndarray = field(metadata=PICTURES)


@dataclass(frozen=True)
class Traversals(View):
    """What each latent does while the others rest."""

    step: int
    ranges: str
    start: np.ndarray
    """The code that is varied, (code,)."""
    start_image: np.ndarray = field(metadata=PICTURES)
    """What the start decodes to."""
    latents: np.ndarray
    """Which latent each line varies, by its first dimension; those with most KL, or else most
    variance, first."""
    kinds: list[str]
    """Whether a line slides a number, chooses a category or turns an angle."""
    labels: list[str]
    kl: np.ndarray | None
    """KL of each line's latent in nats, if the model has a posterior."""
    values: np.ndarray
    """Value of the varied latent, (line, column): a number, the choice, the angle in radians;
    not a number where a category has no such choice."""
    nearest: np.ndarray
    """Column whose value is nearest to the start's, by line; -1 where none is."""
    images: np.ndarray = field(metadata=PICTURES)
    """(line, column, channel, height, width); white where there is no value."""


@dataclass(frozen=True)
class SwapGrid(View):
    """The content of each line's image in the style of each column's."""

    step: int
    content_images: np.ndarray = field(metadata=PICTURES)
    style_images: np.ndarray = field(metadata=PICTURES)
    images: np.ndarray = field(metadata=PICTURES)
    """(content, style, channel, height, width)."""


def reconstructions(
    model: Model, count: int = 10, seed: int = 0, images: np.ndarray | None = None
) -> Reconstructions:
    """Decode the codes of some images."""
    images = some_images(model.data, count, seed) if images is None else images
    decoded = model.decode(model.encode(images))
    error = ((decoded - images) ** 2).mean(axis=(1, 2, 3))
    return Reconstructions(model.step, images, decoded, error)


def prior_samples(model: Model, count: int = 32, seed: int = 0) -> PriorSamples:
    """Decode codes drawn from the prior."""
    codes = model.prior_codes(count, seed)
    return PriorSamples(model.step, codes, model.decode(codes))


def traversals(
    model: Model,
    start: Any = None,
    *,
    ranges: Ranges = "fixed",
    reach: float | None = None,
    quantiles: tuple[float, float] = (0.05, 0.95),
    steps: int = 11,
    latents: list[int] | None = None,
    codes: CodeSample | None = None,
    seed: int = 0,
) -> Traversals:
    """Vary one latent at a time.

    `start` is a code or an image; by default an image of the data set, and "prior" is the
    centre of the prior. Latents that are the same for every image, as silenced ones are, are
    left out unless they are asked for. `ranges` says between which values, see `RANGES`;
    `reach` is by default that of the prior, within which 95 % of it lie.
    """
    check_name(ranges, RANGES, "range of traversals")
    reach = model.code_prior.reach if reach is None else reach
    if steps < 2 or reach <= 0 or not 0 <= quantiles[0] < quantiles[1] <= 1:
        raise ConfigError(
            "a traversal needs 2 steps or more, a reach above 0 and two rising quantiles in "
            f"[0, 1]; found {steps}, {reach}, {quantiles}"
        )
    if codes is None and model.code.source != "nowhere":
        codes = sample_codes(model, KL_ROWS, seed)
    code = start_code(model, start, seed)
    units = speaking(model, codes) if latents is None else chosen_units(model, latents)
    sliding = _sliding(model, code, ranges, reach, quantiles, steps, codes, seed)
    values = np.stack([values_of(unit, sliding[unit.dimensions[0]]) for unit in units])
    varied = [turned(code, unit, line) for unit, line in zip(units, values, strict=True)]
    decoded = model.decode(np.concatenate([code[None], *varied]))
    images = np.ones((*values.shape, *model.image_shape), dtype=np.float32)
    images[np.isfinite(values)] = decoded[1:]
    kl = None if codes is None else codes.kl()
    return Traversals(
        step=model.step,
        ranges=ranges,
        start=code,
        start_image=decoded[0],
        latents=np.array([unit.dimensions[0] for unit in units]),
        kinds=[unit.kind for unit in units],
        labels=[model.label(unit) for unit in units],
        kl=None if kl is None else np.array([kl[list(u.dimensions)].sum() for u in units]),
        values=values,
        nearest=np.array(
            [nearest_column(code, u, line) for u, line in zip(units, values, strict=True)]
        ),
        images=images,
    )


def speaking(model: Model, codes: CodeSample | None) -> list[Unit]:
    """Return the latents that differ from image to image, by weight; all if none does."""
    units = units_by_weight(model, codes)
    if codes is None:
        return units
    varies = np.ptp(codes.codes, axis=0) > 0
    return [unit for unit in units if varies[list(unit.dimensions)].any()] or units


def start_code(model: Model, start: Any = None, seed: int = 0) -> np.ndarray:
    """Return the code to start from: given, of an image, of the prior's centre, or of the data.

    A generator without an encoder starts from a code of its prior.
    """
    if isinstance(start, str):
        check_name(start, ("prior",), "start of traversals")
        return np.zeros(model.latent_dim, dtype=np.float32)
    if start is None:
        if model.code.source == "nowhere":
            return model.prior_codes(1, seed)[0]
        row = model.data.sample_rows(1, np.random.default_rng((seed, 0xF16)))
        return model.encode_rows(row)[0]
    return model.start_code(start)


def _sliding(
    model: Model,
    code: np.ndarray,
    ranges: str,
    reach: float,
    quantiles: tuple[float, float],
    steps: int,
    codes: CodeSample | None,
    seed: int,
) -> np.ndarray:
    """Return the values each dimension slides through, (dimension, column)."""
    fixed = np.tile(np.linspace(-reach, reach, steps), (model.latent_dim, 1))
    if ranges == "fixed":
        return fixed
    if ranges == "around":
        return fixed + code[:, None]
    if ranges == "posterior":
        table = (codes or sample_codes(model, KL_ROWS, seed)).drawn(seed)
    else:
        table = model.prior_codes(PRIOR_DRAWS, seed)
    values: np.ndarray = np.quantile(table, np.linspace(*quantiles, steps), axis=0).T
    return values


def swap_grid(
    model: Model,
    contents: int = 6,
    styles: int = 6,
    *,
    seed: int = 0,
    content_images: np.ndarray | None = None,
    style_images: np.ndarray | None = None,
) -> SwapGrid:
    """Decode the content of some images in the style of others.

    Where a method was told the class of images, contents are of as many classes as there are.
    """
    model.code.require_swap(model.kind)
    if content_images is None:
        told = model.class_column
        content_images = (
            images_of_each_class(model.data, told, contents, seed)
            if told
            else some_images(model.data, contents, seed)
        )
    if style_images is None:
        style_images = some_images(model.data, styles, seed + 1)
    lines, columns = len(content_images), len(style_images)
    swapped = model.swap(
        np.repeat(content_images, columns, axis=0),
        np.tile(style_images, (lines, 1, 1, 1)),
    )
    return SwapGrid(
        model.step,
        content_images,
        style_images,
        swapped.reshape(lines, columns, *model.image_shape),
    )


def mixing_grid(model: Model, contents: int = 6, styles: int = 6, *, seed: int = 0) -> SwapGrid:
    """Mix codes of the prior: the content of some in the style of others.

    Unlike swaps it needs no image of the data, so it shows what the decoder does alone.
    """
    model.code.require_decoder(model.kind)
    style = model.code.roles.get("style")
    if not style:
        raise ConfigError(f"{model.kind} has no dimensions of style, so nothing is mixed")
    codes = model.prior_codes(contents + styles, seed)
    mixed = np.repeat(codes[:contents], styles, axis=0)
    mixed[:, style] = np.tile(codes[contents:], (contents, 1))[:, style]
    heads = model.decode(codes)
    images = model.decode(mixed).reshape(contents, styles, *model.image_shape)
    return SwapGrid(model.step, heads[:contents], heads[contents:], images)
