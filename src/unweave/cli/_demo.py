"""unweave demo"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.settings.machine import Machine

DESCRIPTION = """Render dSprites on this machine, train the default model, score it, draw pictures.

Takes about two minutes on two cores. Called again, it shows the finished run or goes on with an
interrupted one.

  unweave demo impossibility

shows the theorem that images alone do not tell a disentangled code from an entangled one: a small
model, trained in a minute, and a twin with the same likelihood of the data."""


@dataclass(frozen=True)
class Flags:
    out: str = "runs/demo"
    """Folder of the run."""
    steps: int | None = None
    """Train for another number of steps than the recipe's."""
    seed: int = 0
    """Decides weights, batches and noise."""
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


def run(words: list[str]) -> int:
    if words and words[0] == "impossibility":
        from unweave.cli import _impossibility

        return _impossibility.run(words[1:])
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
