"""Images that a model decodes: reconstructions, samples, traversals, swaps, mixes."""

from typing import Any

import numpy as np

from unweave import views
from unweave.figures.pictures import ImageGrid
from unweave.runs.model import Model
from unweave.views import CodeSample, Ranges, SwapGrid, Traversals

COLUMNS = 8  # of samples


def reconstructions(model: Model, count: int = 10, seed: int = 0) -> ImageGrid:
    """Show images above what is decoded from their codes."""
    view = views.reconstructions(model, count, seed)
    return ImageGrid(
        np.stack([view.images, view.decoded]),
        row_labels=["image", "decoded"],
        title="reconstructions" + at_step(view.step),
    )


def prior_samples(model: Model, count: int = 32, seed: int = 0) -> ImageGrid:
    """Show images decoded from the prior."""
    view = views.prior_samples(model, -(-count // COLUMNS) * COLUMNS, seed)
    images = view.images.reshape(-1, COLUMNS, *model.image_shape)
    return ImageGrid(images, title="decoded from the prior" + at_step(view.step))


def traversals(
    model: Model,
    start: Any = None,
    *,
    ranges: Ranges = "fixed",
    reach: float | None = None,
    steps: int = 11,
    latents: list[int] | None = None,
    seed: int = 0,
    codes: CodeSample | None = None,
) -> ImageGrid:
    """Show what each latent does, those with most KL first; a frame marks the start.

    Starts from one image of the data set unless a code or an image is given. `ranges`
    is "fixed", "around", "prior" or "posterior", see `views.RANGES`.
    """
    return traversal_grid(
        views.traversals(
            model,
            start,
            ranges=ranges,
            reach=reach,
            steps=steps,
            latents=latents,
            seed=seed,
            codes=codes,
        )
    )


def traversal_grid(view: Traversals) -> ImageGrid:
    """Lay traversals out, a line per latent."""
    sliding = view.values[[kind == "number" for kind in view.kinds]]
    if len(sliding) and np.allclose(sliding, sliding[0]):
        columns = [f"{value:+.1f}".replace("+0.0", "0.0") for value in sliding[0]]
    elif not len(sliding):
        columns = [""] * view.values.shape[1]
    else:
        columns = ["low", *[""] * (view.values.shape[1] - 2), "high"]
    how = {
        "fixed": "",
        "around": ", around the start",
        "prior": ", between quantiles of the prior",
        "posterior": ", between quantiles of the data's codes",
    }[view.ranges]
    return ImageGrid(
        view.images,
        row_labels=latent_captions(view),
        column_labels=columns,
        title=f"each line varies one latent{how}{at_step(view.step)}",
        marks=[(line, int(column)) for line, column in enumerate(view.nearest) if column >= 0],
    )


def latent_captions(view: Traversals) -> list[str]:
    """Return label and KL of each line."""
    if view.kl is None:
        return list(view.labels)
    return [f"{label}  {kl:.2f} nats" for label, kl in zip(view.labels, view.kl, strict=True)]


def swap_grid(model: Model, contents: int = 6, styles: int = 6, *, seed: int = 0) -> ImageGrid:
    """Show the content of each line's image in the style of each column's."""
    return _headed(views.swap_grid(model, contents, styles, seed=seed))


def mixing_grid(model: Model, contents: int = 6, styles: int = 6, *, seed: int = 0) -> ImageGrid:
    """Show the content of each line's code, drawn from the prior, in the style of each column's."""
    return _headed(views.mixing_grid(model, contents, styles, seed=seed), ", drawn from the prior")


def _headed(view: SwapGrid, source: str = "") -> ImageGrid:
    """Lay a grid out below the styles and beside the contents."""
    lines, columns = view.images.shape[:2]
    whole = np.ones((lines + 1, columns + 1, *view.images.shape[2:]), dtype=np.float32)
    whole[1:, 1:], whole[0, 1:], whole[1:, 0] = view.images, view.style_images, view.content_images
    return ImageGrid(
        whole,
        row_labels=["style of", *["content of"] * lines],
        title=f"content of each line, style of each column{source}{at_step(view.step)}",
        header=True,
    )


def at_step(step: int) -> str:
    """Say when; a wrapped model has no steps."""
    return f", step {step:,}" if step else ""
