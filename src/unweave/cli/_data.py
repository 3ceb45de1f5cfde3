"""unweave data NAME [--show] [--where]"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.data import DataOptions, known_places, load_data


@dataclass(frozen=True)
class Flags:
    source: tyro.conf.Positional[str]
    """Name of a data set, NAME:PATH of an original file, a folder of images, or an array file."""
    show: bool = False
    """Write a picture of samples and of each factor's traversal."""
    where: bool = False
    """Say where the original files are known to be, instead of opening the set."""
    out: str | None = None
    """Where the picture goes; by default NAME.png in this folder."""
    seed: int = 0
    """Which samples are shown."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "data", "Describe a data set.")
    if flags.where:
        return _say_where(flags.source.partition(":")[0])
    data = load_data(flags.source, flags.options)
    channels, height, width = data.image_shape
    _output.say(f"{data.name}: {len(data):,} images, {channels} × {height} × {width}")
    for factor in data.factor_list:
        size = "continuous" if factor.continuous else f"{factor.size} values"
        labels = ""
        if factor.labels and len(factor.labels) <= 12:
            labels = ": " + ", ".join(factor.labels)
        _output.say(f"  {factor.name}: {size}{labels}")
    for name, causes in data.graph.items():
        _output.say(f"  {name} follows from {' and '.join(causes)}")
    if data.held_out is not None:
        _output.say(f"  held out of training: {data.held_out.sum():,} images")
    if data.note:
        _output.say(f"  {data.note}")
    if not data.factor_list:
        _output.say("  no factors: metrics that need them cannot be computed")
    if flags.show:
        from unweave.figures import data_overview

        path = Path(flags.out or f"{data.name}.png")
        data_overview(data, flags.seed).save(path)
        _output.say(f"picture: {path}")
    return 0


def _say_where(name: str) -> int:
    places = known_places(name)
    _output.say(f"{name}: known to us from public code and data cards, untested")
    for place in places:
        _output.say(f"  {place.address}" + (f"  MD5 {place.md5}" if place.md5 else ""))
    _output.say(f"then: unweave data {name}:/path/to/what/you/have")
    return 0
