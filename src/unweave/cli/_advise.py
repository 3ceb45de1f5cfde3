"""unweave advise [RUN] | --have pairs --want axes"""

from dataclasses import dataclass
from typing import Annotated

import tyro
from rich.table import Table

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.data import DataOptions

DESCRIPTION = """Say which method to begin with, or what to change in a run.

  unweave advise --have pairs --want axes
  unweave advise --have nothing --want axes --data photos/
  unweave advise --use augment
  unweave advise runs/my-run

--have: nothing, pairs, clips, groups, classes, few-classes, few-labels, side-information.
--want: axes, content, clusters, generation, likelihood. docs/choosing.md explains them."""


@dataclass(frozen=True)
class Flags:
    run: tyro.conf.Positional[str | None] = None
    """Folder of a run to look at."""
    have: str = "nothing"
    """What you have beside images."""
    want: str = "axes"
    """What the code is to be good for."""
    use: str | None = None
    """An application (`unweave apply`): what a code must be like to be good for it."""
    data: str | None = None
    """Data set, whose size decides β and whose columns say what you have."""
    latent_dim: int = 10
    """How many latents you think of."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "advise", DESCRIPTION)
    from unweave import advice, catalog

    if flags.run is not None:
        return _about_run(flags.run)
    if flags.use is not None:
        uses = {use.application: use for use in advice.USES}
        wanted = flags.use.replace("_", "-")
        catalog.check_name(wanted, uses, "application that our runs say something about")
        _output.say(f"{wanted} takes {uses[wanted].takes}: docs/{uses[wanted].page}")
        return 0
    catalog.check_name(flags.have, advice.HAVE, "kind of what you have")
    catalog.check_name(flags.want, advice.WANT, "kind of what you want")
    found = advice.choices(flags.have, flags.want)
    named = flags.data or "DATA"
    if not found:
        _output.say(
            f"nothing here gives {advice.WANT[flags.want]} from {advice.HAVE[flags.have]}; "
            "docs/choosing.md shows what does"
        )
        return 0
    table = Table("command", "because", "docs/")
    for choice in found:
        command = f"unweave train {choice.method} --data {named} {choice.flags}".strip()
        table.add_row(command, choice.why, choice.page)
    _output.show(table)
    if flags.data is not None:
        from unweave.data import load_data

        shape = load_data(flags.data, flags.options).image_shape
        beta = advice.starting_beta(shape, flags.latent_dim)
        _output.say(
            f"β of a β-VAE to begin with: {beta:.2g} for {shape[0]} × {shape[1]} × {shape[2]} and "
            f"{flags.latent_dim} latents, which weighs a latent against a pixel as the paper's 4 "
            "on dSprites; try a quarter and four times of it"
        )
    return 0


def _about_run(folder: str) -> int:
    from unweave import advice, runs

    model = runs.load(folder)
    model.code.require_codes(model.kind)
    found = advice.diagnose(model)
    if not found:
        _output.say(
            "no latent is dead, none shares a factor or mixes two, and images are decoded: "
            f"score it (unweave evaluate {folder} --nulls 5) and see what it is good for "
            "(unweave apply --help)"
        )
    for told in found:
        _output.say(f"{told.remedy.sign}: {told.seen}")
        for line in told.remedy.do:
            _output.say(f"  - {line}")
    return 0
