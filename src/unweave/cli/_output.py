"""What the command line prints."""

import inspect
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from unweave import catalog


def say(text: str) -> None:
    """Print a line to standard output."""
    print(text)
    sys.stdout.flush()


def show(table: Table) -> None:
    """Print a table, as wide as it needs where the output is not a terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)


def say_methods() -> None:
    """List the methods with what each needs."""
    from unweave.methods import method_named

    table = Table("method", "what it does", "needs", "main knob", "paper")
    for name in catalog.names("unweave.methods"):
        method = method_named(name)
        module = catalog.load("unweave.methods", name, "method")
        needs = first_line(inspect.getdoc(type(method().supervision)))
        summary = catalog.summary(module).partition(": ")
        table.add_row(name, summary[2] or summary[0], needs, method.main_knob, paper_of(module))
    show(table)


def say_entries(package: str, kind: str) -> None:
    """List the entries of a catalog folder with their first lines."""
    table = Table(kind, "what it is")
    for name in catalog.names(package):
        summary = catalog.summary(catalog.load(package, name, kind))
        table.add_row(name, summary.removeprefix(f"{name}: "))
    show(table)


def first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].rstrip(".")


def paper_of(module: Any) -> str:
    """Return where a module's docstring says that its paper is to be found."""
    words = (module.__doc__ or "").split()
    places = [w.strip(".,;()") for w in words if w.startswith(("arXiv:", "openreview:", "doi:"))]
    return places[0] if places else ""


def say_scores(scores: dict[str, Any]) -> None:
    """Print scores as a table; what could not be computed says why."""
    from unweave.metrics import protocol_words

    table = Table("metric", "score", "better is", "protocol")
    for name, entry in scores.items():
        if entry["value"] is None:
            table.add_row(name, "–", "", f"not scored: {entry['reason']}")
            continue
        shown = f"{entry['value']:.4f}"
        if (interval := entry["details"].get("interval")) is not None:
            shown += f"  [{interval[0]:.4f}, {interval[1]:.4f}]"
        shown += "".join(
            f"\n{part} {value:.4f}" for part, value in (entry.get("parts") or {}).items()
        )
        direction = "higher" if entry["higher_is_better"] else "lower"
        how = "\n".join(
            [protocol_words(entry), *(f"note: {note}" for note in entry.get("notes") or ())]
        )
        table.add_row(name, shown, direction, how)
    show(table)


def say_run(run: Any) -> None:
    """Print the scores of a run and where its files are."""
    if run.scores:
        say_scores(run.scores)
    say(f"run folder: {run.path}")
    say(f"pictures:   {run.path / 'figures'}")
