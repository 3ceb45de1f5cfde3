"""unweave silence RUN"""

from dataclasses import dataclass

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse

DESCRIPTION = """Silence the latents of a run that carry nothing.

Their posterior becomes the same for every image, so that scores do not count what is left
in it. Scores and figures there are stay as they were: call `unweave evaluate` again."""


@dataclass(frozen=True)
class Flags:
    folder: tyro.conf.Positional[str]
    """Folder of the run."""
    nats: float = 0.1
    """A latent is silenced whose KL lies less than this above the least possible."""
    undo: bool = False
    """Give silenced latents their voice back."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "silence", DESCRIPTION)
    from unweave import runs
    from unweave.errors import ConfigError
    from unweave.runs import silencing

    if flags.nats <= 0:
        raise ConfigError(f"nats must be above 0, found {flags.nats}")
    trained = runs.load(flags.folder)
    if flags.undo:
        silencing.undo(trained)
        _output.say(f"{flags.folder}: no latent is silenced any more")
    else:
        _output.say(f"{flags.folder}: {silencing.silence(trained, flags.nats)}")
    return 0
