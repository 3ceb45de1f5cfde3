"""unweave train auto --data DATA --minutes 10"""

from dataclasses import dataclass
from typing import Annotated

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.data import DataOptions
from unweave.settings.machine import Machine

DESCRIPTION = """Choose settings for any images, say why, and train with them.

Takes the objective of the default recipe. The network follows from the images, the weight
at which the KL begins from short trials, and the number of steps from the time there is."""


@dataclass(frozen=True, kw_only=True)
class Flags:
    data: str
    """Name of a data set, NAME:PATH of an original file, a folder of images, or an array file."""
    minutes: float = 10.0
    """Time for choosing and training; scores and pictures come within a tenth of it."""
    out: str | None = None
    """Folder of the run; by default a readable name under runs/."""
    seed: int = 0
    """Decides weights, batches and noise."""
    no_evaluation: bool = False
    """Leave the scores at the end out."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "train auto", DESCRIPTION)
    from unweave import automatic, workflows
    from unweave.data import load_data

    data = load_data(flags.data, flags.options)
    _output.say(f"trying {automatic.TRIALS} KL weights for {automatic.TRIAL_STEPS} steps each")
    choice = automatic.choose(
        data,
        flags.minutes,
        source=flags.data,
        options=flags.options,
        seed=flags.seed,
        machine=flags.machine,
    )
    for reason in choice.reasons:
        _output.say(f"- {reason}")
    trained = workflows.train_config(
        choice.config, data, flags.out, flags.machine, evaluate=not flags.no_evaluation
    )
    _output.say_run(trained)
    return 0
