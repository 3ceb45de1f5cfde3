"""unweave demo impossibility"""

from dataclasses import dataclass, replace
from typing import Annotated

import tyro

from unweave import runs, workflows
from unweave.applications import impossibility
from unweave.cli import _output
from unweave.cli._apply import say_applied
from unweave.cli._parse import parse
from unweave.data import load_data
from unweave.runs.folder import RunFolder
from unweave.settings.machine import Machine

DESCRIPTION = """Show that the likelihood of the data cannot tell a disentangled code from an
entangled one: a trained model, and a twin whose codes are turned and whose decoder turns them back.

Without a run, Ada-GVAE is trained on squares (toy_xys), about a minute on one core. Pairs of
images that differ in one factor are what lets it find the axes: the likelihood alone would not."""


@dataclass(frozen=True)
class Flags:
    run: tyro.conf.Positional[str | None] = None
    """Folder of a run to take the twin of; by default one is trained."""
    out: str = "runs/impossibility"
    """Folder of the run that is trained."""
    steps: int = 3000
    """How long it is trained."""
    settings: Annotated[impossibility.Settings, tyro.conf.arg(name="")] = impossibility.Settings()
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "demo impossibility", DESCRIPTION)
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
