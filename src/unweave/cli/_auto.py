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
at which the KL begins from short trials, and the number of steps from the time there is. Where
it is enough for three seeds, the run is chosen that the others agree with most, which needs no
labels."""


@dataclass(frozen=True, kw_only=True)
class Flags:
    data: str
    """Name of a data set, NAME:PATH of an original file, a folder of images, or an array file."""
    minutes: float = 10.0
    """Time for choosing and training; scores and pictures come within a tenth of it."""
    out: str | None = None
    """Folder of the run, and of further seeds with -s1, -s2 after it; by default readable names
    under runs/."""
    seed: int = 0
    """Decides weights, batches and noise."""
    seeds: int | None = None
    """How many runs to choose from; by default three if each gets 8,000 steps, else one."""
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
        seeds=flags.seeds,
        machine=flags.machine,
    )
    for reason in choice.reasons:
        _output.say(f"- {reason}")
    several = len(choice.seeds) > 1
    trained = []
    for config in choice.configs:
        out = f"{flags.out}-s{config.seed}" if several and flags.out else flags.out
        trained.append(workflows.train_config(config, data, out, flags.machine, evaluate=False))
    chosen = trained[0]
    if several:
        found = automatic.agreement(trained, data, flags.seed)
        for run, central, udr in zip(trained, found.centrality, found.udr, strict=True):
            _output.say(f"- seed {run.config.seed}: ModelCentrality {central:.3f}, UDR {udr:.3f}")
        chosen = trained[found.chosen]
        _output.say(f"- taken: seed {chosen.config.seed}, by the sum of both; the others stay")
    if not flags.no_evaluation:
        workflows.evaluate(chosen)
    _output.say_run(chosen)
    return 0
