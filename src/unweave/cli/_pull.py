"""unweave pull USER/NAME | FOLDER"""

from dataclasses import dataclass

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse

DESCRIPTION = """Get a run that somebody shared: from the Hugging Face Hub, or from a folder laid
out as `unweave push` does.

  unweave pull USER/NAME
  unweave pull ./folder --to runs/theirs

It becomes a run folder like any other. Nothing in it is run, and data that it names is opened
only where you allow it (--allow-data)."""


@dataclass(frozen=True)
class Flags:
    name: tyro.conf.Positional[str]
    """USER/NAME on the Hub, or a folder."""
    to: str | None = None
    """Folder of the run; by default runs/NAME."""
    revision: str | None = None
    """Branch, tag or commit of the Hub."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "pull", DESCRIPTION)
    from unweave import hub

    _output.say_run(hub.from_pretrained(flags.name, flags.to, revision=flags.revision))
    return 0
