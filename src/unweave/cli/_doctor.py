"""unweave doctor"""

from dataclasses import dataclass

from rich.table import Table

from unweave.cli import _output
from unweave.cli._parse import parse

DESCRIPTION = """Look at this machine: versions, extras, devices, threads, room for data, speed.

Put what it prints into a report of a fault. It ends with 0 whatever it finds."""


@dataclass(frozen=True)
class Flags:
    speed: bool = True
    """Measure speed, which takes some seconds."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "doctor", DESCRIPTION)
    from unweave.doctor import examine

    table = Table("what", "found", "advice")
    findings = examine(speed=flags.speed)
    for finding in findings:
        table.add_row(finding.what, finding.found, finding.advice)
    _output.show(table)
    told = sum(bool(finding.advice) for finding in findings)
    _output.say("nothing to change" if not told else f"{told} to look at")
    return 0
