"""unweave push RUN USER/NAME | FOLDER"""

from dataclasses import dataclass

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse

DESCRIPTION = """Share a trained run as the Hugging Face Hub lays models out: its card, settings,
networks, scores and pictures.

  unweave push runs/my-run USER/NAME
  unweave push runs/my-run ./folder

A place that begins with a dot or a slash is a folder here, and needs neither the network nor the
extra `hub`. Who may push is what `hf auth login` says."""


@dataclass(frozen=True)
class Flags:
    run: tyro.conf.Positional[str]
    """Folder of the run."""
    place: tyro.conf.Positional[str]
    """USER/NAME on the Hub, or a folder: ./folder."""
    private: bool = False
    """Whether only you may see it."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "push", DESCRIPTION)
    from unweave import hub

    if flags.place.startswith((".", "/", "~")):
        from pathlib import Path

        _output.say(f"written: {hub.save_pretrained(flags.run, Path(flags.place).expanduser())}")
    else:
        _output.say(f"pushed: {hub.push(flags.run, flags.place, private=flags.private)}")
    return 0
