"""unweave demo"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from unweave.applications import impossibility
from unweave.cli import _output
from unweave.cli._apply import say_applied
from unweave.cli._parse import parse
from unweave.runs.config import Machine

DESCRIPTION = """Render dSprites on this machine, train the default model, score it, draw pictures.

Takes about two minutes on two cores. Called again, it shows the finished run or goes on with an
interrupted one.

  unweave demo impossibility

shows the theorem that images alone do not tell a disentangled code from an entangled one: a small
model, trained in a minute, and a twin with the same likelihood of the data."""

IMPOSSIBILITY = """Show that the likelihood of the data cannot tell a disentangled code from an
entangled one: a trained model, and a twin whose codes are turned and whose decoder turns them back.

Without a run, Ada-GVAE is trained on squares (toy_xys), about a minute on one core. Pairs of
images that differ in one factor are what lets it find the axes: the likelihood alone would not."""


@dataclass(frozen=True)
class Flags:
    out: str = "runs/demo"
    """Folder of the run."""
    steps: int | None = None
    """Train for another number of steps than the recipe's."""
    seed: int = 0
    """Decides weights, batches and noise."""
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


@dataclass(frozen=True)
class ImpossibilityFlags:
    run: tyro.conf.Positional[str | None] = None
    """Folder of a run to take the twin of; by default one is trained."""
    out: str = "runs/impossibility"
    """Folder of the run that is trained."""
    steps: int = 3000
    """How long it is trained."""
    settings: Annotated[impossibility.Settings, tyro.conf.arg(name="")] = impossibility.Settings()
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


def run(words: list[str]) -> int:
    if words and words[0] == "impossibility":
        return _show_impossibility(words[1:])
    flags = parse(Flags, words, "demo", DESCRIPTION)
    began = time.monotonic()
    from unweave import recipes, runs, workflows
    from unweave.data import load_data
    from unweave.runs.folder import RunFolder

    folder = RunFolder(flags.out)
    if folder.exists():
        if folder.status()["state"] == "done":
            _output.say(f"{flags.out} is finished; remove it to train again")
            trained = runs.load(flags.out)
        else:
            _output.say(f"going on with {flags.out}")
            trained = workflows.resume(flags.out, machine=flags.machine)
    else:
        _output.say("opening dSprites (rendered on first use, which takes seconds)")
        data = load_data("dsprites")
        config = replace(recipes.demo(), seed=flags.seed)
        if flags.steps is not None:
            config = replace(config, steps=flags.steps)
        trained = workflows.train_config(config, data, flags.out, flags.machine)
    _output.say_run(trained)
    _output.say(f"look at:    {Path(flags.out) / 'figures' / 'traversals.png'}")
    _output.say(f"took:       {time.monotonic() - began:.0f} s")
    return 0


def _show_impossibility(words: list[str]) -> int:
    flags = parse(ImpossibilityFlags, words, "demo impossibility", IMPOSSIBILITY)
    from unweave import runs, workflows
    from unweave.data import load_data
    from unweave.runs.folder import RunFolder

    if flags.run is not None:
        trained = runs.load(flags.run)
    elif RunFolder(flags.out).exists():
        _output.say(f"{flags.out} is there already; remove it to train again")
        trained = runs.load(flags.out)
    else:
        config = replace(impossibility.demo(), steps=flags.steps, seed=flags.settings.seed)
        data = load_data(config.data)
        trained = workflows.train_config(config, data, flags.out, flags.machine, evaluate=False)
    say_applied(impossibility.apply(trained, flags.settings), trained, None)
    return 0
