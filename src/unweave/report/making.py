"""How a run was made: hardware and duration, settings, versions, and the command for it."""

import json
from collections.abc import Sequence
from typing import Any

from unweave.errors import UnweaveError
from unweave.files.json_files import read_json
from unweave.pages import Html, folded, section, table, tag
from unweave.pages.words import duration
from unweave.report.command import training_command
from unweave.runs.config import to_json
from unweave.runs.effort import Sitting, read_sittings
from unweave.runs.run import Run
from unweave.settings.plain import flat


def sittings_of(run: Run) -> list[Sitting]:
    """Return what is known of the time a run took; nothing of one that never kept it."""
    if run.folder is None:
        return []
    try:
        return read_sittings(run.path)
    except UnweaveError:
        return []  # spoilt: the report is not about this file


def effort_words(sittings: Sequence[Sitting]) -> str:
    """Say in a clause how long training took, and on what; nothing if it is not known."""
    if not sittings:
        return ""
    last = sittings[-1]
    clock, cpu = (sum(getattr(s, name) for s in sittings) for name in ("seconds", "cpu_seconds"))
    times = "" if len(sittings) == 1 else f" in {len(sittings)} sittings"
    threads = "1 thread" if last.threads == 1 else f"{last.threads} threads"
    place = f"{threads} of {last.processor} ({last.cores} cores)"
    if last.device != "cpu":
        place = f"{last.device}, {place}"
    return f"{duration(clock)}{times} ({duration(cpu)} of processor time) on {place}"


def settings_section(run: Run) -> Html:
    """Return all settings of a run, folded."""
    lines = [[path, _in_words(value)] for path, value in flat(to_json(run.config)).items()]
    shown = table(["setting", "value"], lines, title="All settings", number=False)
    return section("Settings", folded("Show all settings", shown))


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def repeat_section(run: Run) -> Html:
    """Return the command that trains a run again, and where it was trained."""
    lines = []
    effort = effort_words(sittings_of(run))
    if effort:
        lines.append(["trained", effort])
    if run.folder is not None and run.folder.exists():
        content = read_json(run.folder.config_file)
        created = content.get("created")
        if created:
            lines.append(["started", str(created)])
        versions = content.get("versions")
        if isinstance(versions, dict):
            lines += [[str(name), str(number)] for name, number in versions.items()]
        lines += [[f"{p.word} {p.name}", f"plugin {p.origin}"] for p in run.folder.used_plugins()]
    return section(
        "How to repeat it",
        tag("p", "The same command with the same versions gives the same numbers:"),
        tag(
            "pre",
            tag("code", training_command(run.config, run.folder.machine() if run.folder else {})),
        ),
        table(["", ""], lines, title="Hardware, duration and versions") if lines else None,
    )
