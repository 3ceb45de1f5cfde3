"""unweave resume RUN"""

from dataclasses import dataclass
from typing import Annotated

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.settings.machine import Machine


@dataclass(frozen=True)
class Flags:
    folder: tyro.conf.Positional[str]
    """Folder of the run."""
    steps: int | None = None
    """Train to this many steps instead of the number the run was started with."""
    no_evaluation: bool = False
    """Leave the scores at the end out."""
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "resume", "Continue a run from its newest checkpoint.")
    from unweave import workflows

    trained = workflows.resume(
        flags.folder,
        steps=flags.steps,
        machine=flags.machine,
        evaluate=not flags.no_evaluation,
    )
    _output.say_run(trained)
    return 0
