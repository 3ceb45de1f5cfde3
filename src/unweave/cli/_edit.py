"""unweave edit RUN --image FILE --set z3=1.5 | --like FILE --take scale | --vary z3"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from unweave.cli import _output
from unweave.cli._figures import load_model
from unweave.cli._parse import parse
from unweave.data import DataOptions
from unweave.errors import ConfigError

DESCRIPTION = """Change one thing of an image, or of every image in a folder.

  unweave edit runs/my-run --image cat.png --set z3=1.5 --to cat-edited.png
  unweave edit runs/my-run --image cat.png --set z3+=0.5 size=large --to cat.gif
  unweave edit runs/my-run --image cat.png --like dog.png --take scale --to cat-like-dog.png
  unweave edit runs/my-run --image cat.png --like dog.png --take style --to cat-in-style.png
  unweave edit runs/my-run --image photos/ --set z3=-2 --to edited/
  unweave edit runs/my-run --image cat.png --vary z3 --to strip.png

A latent is called z3, or by the name that it has in the explorer, or by a factor of the data: then
it is the latent that knows most of the factor, and what speaks for it is said. z3=1.5 sets it,
z3+=0.5 moves it, and size=large sets it to where images that are large have it.

What else changed is read off the images, where factors of the run's data are known. The numbers
go into a .json beside the result."""

ANIMATED = (".gif", ".webp")
STILL = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Flags:
    run: tyro.conf.Positional[str | None] = None
    """Folder of the run."""
    image: str | None = None
    """Picture, or folder of pictures, to change."""
    row: int | None = None
    """Row of the run's data set to change instead."""
    set: tuple[str, ...] = ()
    """Changes: z3=1.5, z3+=0.5, side=14."""
    like: str | None = None
    """Picture to take something from."""
    like_row: int | None = None
    """Row of the run's data set to take something from instead."""
    take: tuple[str, ...] = ()
    """What to take: latents, names of them, factors; content or style."""
    vary: str | None = None
    """Latent, name or factor to vary."""
    low: float | None = None
    """Where varying begins; by default where 95 % of the prior do."""
    high: float | None = None
    """Where varying ends."""
    steps: int = 9
    """How many images varying makes."""
    to: str = "edited.png"
    """The result. One image: .png, or .gif or .webp, in which it moves. Several: a folder, or one
    sheet with all of them. Varied: .png, .svg or .pdf with all in a line, or .gif or .webp."""
    figure: str | None = None
    """A sheet with image, what it decodes to, and what became of it: .png, .svg or .pdf."""
    no_judge: bool = False
    """Do not read off the images what else changed, which takes seconds."""
    model: str | None = None
    """MODULE:NAME of a model of yours instead of a run, with encode and decode."""
    data: str | None = None
    """Data set of that model."""
    seed: int = 0
    """Which rows of the data speak for a latent, and judge what changed."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "edit", DESCRIPTION)
    ways = [bool(flags.set), bool(flags.take), flags.vary is not None]
    if sum(ways) != 1:
        raise ConfigError("change what? Give one of --set z3=1.5, --take scale or --vary z3")
    if bool(flags.take) != (flags.like is not None or flags.like_row is not None):
        raise ConfigError("--take and --like belong together: what to take, and from which image")
    if (flags.image is None) == (flags.row is None):
        raise ConfigError("change which image? Give one of --image FILE and --row NUMBER")
    suffix = _suffix(Path(flags.to))
    from unweave import editing

    model = load_model(flags.run, flags.model, flags.data, flags.options)
    model.code.require_codes_of_images(model.kind)
    names, images = _images(flags.image, flags.row, model)
    if not suffix and flags.vary is not None:
        raise ConfigError(f"--to {flags.to}: varied images are written as one .png, .gif or .webp")
    finder = editing.Finder(model, seed=flags.seed)
    if flags.vary is not None:
        target = finder.find(flags.vary)
        reader = None if flags.no_judge else editing.reader_for(model, flags.seed)
        varied = editing.vary(
            model,
            images,
            target,
            low=flags.low,
            high=flags.high,
            steps=flags.steps,
            names=names,
            reader=reader,
        )
        picture: Any = varied.animation() if suffix in ANIMATED else varied.grid()
        _make_room(Path(flags.to))
        picture.save(flags.to)
        result: Any = varied
    else:
        result = _edited(flags, model, finder, names, images)
        _save(result, model, flags, suffix)
    if flags.figure is not None and flags.vary is None:
        _make_room(Path(flags.figure))
        result.grid().save(flags.figure)
    place = Path(flags.to).with_suffix(".json") if suffix else Path(flags.to) / "edit.json"
    _write_numbers(result, place)
    _output.say(result.paragraph())
    _output.say(f"{flags.to}; numbers: {place}")
    return 0


def _suffix(path: Path) -> str:
    """Return the ending of the result; "" where it is a folder."""
    suffix = path.suffix.lower()
    if suffix and suffix not in (*STILL, *ANIMATED):
        raise ConfigError(f"{path}: images are written as .png, .svg, .pdf, .gif or .webp")
    return suffix


def _images(source: str | None, row: int | None, model: Any) -> tuple[list[str], np.ndarray]:
    from unweave import editing

    if source is None:
        assert row is not None
        return [f"row {row}"], model.data.images([row])
    found = editing.open_images(source, model)
    if found.key != "file":
        raise ConfigError(f"--image {source}: expected a picture or a folder of pictures")
    return list(found.names), found.images(np.arange(len(found)))


def _edited(flags: Flags, model: Any, finder: Any, names: list[str], images: np.ndarray) -> Any:
    from unweave import editing

    asked = [editing.read_change(text, finder) for text in flags.set]
    other_names: list[str] = []
    if flags.take:
        other_names, others = _images(flags.like, flags.like_row, model)
        if len(others) > 1:
            raise ConfigError(f"--like {flags.like}: expected one picture, found {len(others)}")
        if not set(flags.take) & set(editing.ROLES):
            code = model.encode(others)[0]
            found = [finder.find(word) for word in flags.take]
            asked = [editing.taken_from(code, target, other_names[0]) for target in found]
        elif len(flags.take) > 1:
            raise ConfigError("--take content or style alone; the other stays as it is")
    reader = None if flags.no_judge else editing.reader_for(model, flags.seed)
    if flags.take and not asked:
        return editing.swap(
            model, images, others[0], flags.take[0], other_names[0], names=names, reader=reader
        )
    return editing.edit(model, images, asked, names=names, reader=reader)


def _save(result: Any, model: Any, flags: Flags, suffix: str) -> None:
    from unweave import editing

    path = Path(flags.to)
    if not suffix:
        editing.save_pictures(result.edited, result.names, path)
        return
    _make_room(path)
    if suffix in ANIMATED:
        editing.morph(model, result).save(path)
    elif len(result.names) == 1 and suffix == ".png":
        editing.save_picture(result.edited[0], path)
    else:
        result.grid().save(path)


def _make_room(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _write_numbers(result: Any, place: Path) -> None:
    from unweave.files.writing import write_atomically

    content = result.numbers() | {"paragraph": result.paragraph()}
    write_atomically(place, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
