"""Traversals in motion, and traversals as they changed while a run was training."""

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from unweave import views
from unweave.errors import DataError
from unweave.figures.decoded import at_step, latent_captions
from unweave.figures.formats import format_of
from unweave.figures.pictures import BACKGROUND, ImageGrid
from unweave.files.writing import write_atomically
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views import CodeSample, Ranges

ANIMATED = ("gif", "webp")
CONTACTS = 4  # pictures of the training on one sheet


@dataclass(frozen=True)
class Animation:
    """Pictures shown one after the other, for ever."""

    frames: list[Image.Image]
    milliseconds: int = 80

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.frames[0].size

    def save(self, path: str | Path) -> None:
        """Write a GIF or WebP; the suffix decides."""
        path = Path(path)
        write_atomically(path, self.content(format_of(path, ANIMATED, "animations")))

    def content(self, format: str = "gif") -> bytes:
        """Return the file's bytes."""
        file = io.BytesIO()
        options: dict[str, Any] = {"quality": 80, "method": 2} if format == "webp" else {}
        self.frames[0].save(
            file,
            format,
            save_all=True,
            append_images=self.frames[1:],
            duration=self.milliseconds,
            loop=0,
            **options,
        )
        return file.getvalue()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"image/gif": self.content("gif")}


def animated_traversals(
    model: Model,
    start: Any = None,
    *,
    ranges: Ranges = "fixed",
    reach: float | None = None,
    steps: int = 21,
    latents: list[int] | None = None,
    columns: int = 5,
    seed: int = 0,
    codes: CodeSample | None = None,
) -> Animation:
    """Move every latent to and fro at once, each in a picture of its own."""
    view = views.traversals(
        model,
        start,
        ranges=ranges,
        reach=reach,
        steps=steps,
        latents=latents,
        seed=seed,
        codes=codes,
    )
    captions = latent_captions(view)
    columns = min(columns, len(captions))
    lines = -(-len(captions) // columns)
    frames = []
    for step in [*range(steps), *range(steps - 2, 0, -1)]:
        sheets = []
        for line in range(lines):
            part = slice(line * columns, (line + 1) * columns)
            # A category with few choices begins again while numbers are still sliding.
            choices = np.isfinite(view.values[part]).sum(axis=1)
            images = view.images[part][np.arange(len(choices)), step % choices]
            blank = np.ones((columns - len(images), *images.shape[1:]), dtype=images.dtype)
            labels = [caption.replace("  ", " ") for caption in captions[part]]
            sheets.append(
                ImageGrid(
                    np.concatenate([images, blank])[None],
                    column_labels=labels,
                    title="each picture varies one latent" + at_step(view.step) if not line else "",
                    least_side=128,
                ).picture
            )
        frames.append(_below_each_other(sheets))
    return Animation(frames)


def training_pictures(run: Run) -> list[tuple[int, Path]]:
    """Return the traversals drawn while the run was training, by step."""
    found = []
    for path in (run.path / "figures" / "training").glob("traversals-*.png"):
        match = re.fullmatch(r"traversals-(\d+)\.png", path.name)
        if match:
            found.append((int(match[1]), path))
    if not found:
        raise DataError(
            f"{run.path} has no traversals of its training; runs draw them at evaluations "
            "(--evaluations) if their method has a decoder"
        )
    return sorted(found)


def training_animation(run: Run) -> Animation:
    """Show how the traversals changed while the run was training."""
    pictures = [_open(path) for _, path in training_pictures(run)]
    size = max(p.width for p in pictures), max(p.height for p in pictures)
    frames = [_on_page(picture, size) for picture in pictures]
    frames += [frames[-1]] * 2  # rest at the end
    return Animation(frames, milliseconds=600)


def training_traversals(run: Run, count: int = CONTACTS) -> ImageGrid:
    """Show the traversals of a few moments of the training, side by side."""
    found = training_pictures(run)
    chosen = np.unique(np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int))
    pictures = [_open(found[i][1]) for i in chosen]
    size = max(p.width for p in pictures), max(p.height for p in pictures)
    pages = np.stack([np.asarray(_on_page(picture, size)) for picture in pictures])
    columns = 2 if len(pages) > 1 else 1
    blank = np.full((-len(pages) % columns, *pages.shape[1:]), 255, dtype=np.uint8)
    pages = np.concatenate([pages, blank]).reshape(-1, columns, *pages.shape[1:])
    images = pages.transpose(0, 1, 4, 2, 3).astype(np.float32) / 255
    return ImageGrid(images, title="traversals while training", least_side=1)


def _open(path: Path) -> Image.Image:
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error}") from error


def _on_page(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    page = Image.new("RGB", size, BACKGROUND)
    # Labels are on the left and may be wider at one step than at another.
    page.paste(picture, (size[0] - picture.width, 0))
    return page


def _below_each_other(pages: list[Image.Image]) -> Image.Image:
    size = max(page.width for page in pages), sum(page.height for page in pages)
    whole = Image.new("RGB", size, BACKGROUND)
    top = 0
    for page in pages:
        whole.paste(page, (0, top))
        top += page.height
    return whole
