"""unweave figures RUN"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from unweave.cli import _output
from unweave.cli._evaluate import find_object
from unweave.cli._parse import parse
from unweave.data import DataOptions, load_data
from unweave.errors import ConfigError

if TYPE_CHECKING:
    from unweave.runs.model import Model

DESCRIPTION = """Draw every figure of a run: what it decodes, what each latent does and knows,
how it was trained. They go to its figures/ folder. A model of yours is drawn too.

  unweave figures runs/my-run
  unweave figures runs/my-run --only traversals,latent_response --format pdf
  unweave figures runs/my-run --ranges posterior --animation webp
  unweave figures --model my_module:model --data dsprites"""


@dataclass(frozen=True)
class Flags:
    run: tyro.conf.Positional[str | None] = None
    """Folder of the run."""
    model: str | None = None
    """MODULE:NAME of a model of yours instead: an object with encode and, where it has them,
    decode, posterior, prior and swap; or a function from images to codes."""
    data: str | None = None
    """Data set of that model."""
    only: str | None = None
    """Names of figures with commas between them; by default all that apply."""
    format: Literal["png", "svg", "pdf"] = "png"
    """Pixels, or vectors for papers; animations have a format of their own."""
    animation: Literal["gif", "webp"] = "gif"
    """Format of animations."""
    ranges: Literal["fixed", "around", "prior", "posterior"] = "fixed"
    """Where traversals run: fixed (-reach to +reach), around (the start by reach), or between
    quantiles of the prior or of the posterior (the codes of the data)."""
    reach: float | None = None
    """How far fixed ranges go, in deviations of the prior; by default as far as 95 % of it,
    which is 2 for a Gaussian."""
    steps: int = 11
    """Columns of traversals."""
    row: int | None = None
    """Row of the data set that traversals start from; by default one drawn by the seed."""
    seed: int = 0
    """Which images are shown."""
    out: str | None = None
    """Where the figures go; by default the run's figures/ folder, or figures/ here."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "figures", DESCRIPTION)
    from unweave import figures

    loaded = load_model(flags.run, flags.model, flags.data, flags.options)
    start = None
    if flags.row is not None:
        loaded.code.require_codes_of_images(f"--row: {loaded.kind}")
        start = loaded.data.images([flags.row])[0]
    drawn = figures.draw(
        loaded,
        flags.out or Path(flags.run or ".") / "figures",
        only=None if flags.only is None else [name.strip() for name in flags.only.split(",")],
        format=flags.format,
        animation=flags.animation,
        start=start,
        ranges=flags.ranges,
        reach=flags.reach,
        steps=flags.steps,
        seed=flags.seed,
    )
    for path in drawn.paths.values():
        _output.say(str(path))
    for name, reason in drawn.reasons.items():
        _output.say(f"no {name}: {reason}")
    return 0


def load_model(
    folder: str | None, place: str | None, data: str | None, options: DataOptions
) -> "Model":
    """Load a run, or wrap a model of the user's own."""
    from unweave import runs
    from unweave.runs.wrapped import wrap_object

    if (folder is None) == (place is None):
        raise ConfigError("of what? Give a run folder, or --model MODULE:NAME --data DATA")
    if folder is not None:
        return runs.load(folder)
    if data is None:
        raise ConfigError("which images does the model encode? Add --data DATA")
    assert place is not None
    return wrap_object(find_object(place), load_data(data, options), place)
