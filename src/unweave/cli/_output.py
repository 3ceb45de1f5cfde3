"""What the command line prints."""

import inspect
import json
import sys
import warnings
from importlib import resources
from typing import Any

from rich.console import Console
from rich.table import Table

from unweave import catalog
from unweave.catalog import PluginWarning


def say(text: str) -> None:
    """Print a line to standard output."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def show(table: Table) -> None:
    """Print a table, as wide as it needs where the output is not a terminal."""
    # Names of runs and factors are shown as they are: brackets in them are no markup.
    console = Console(markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(width=160, markup=False, emoji=False)
    console.print(table)


def say_methods() -> None:
    """List the methods by what a user must have for them, and what each needs."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    told = told_of_methods()
    for name in catalog.usable("unweave.methods"):
        documented = catalog.documented("unweave.methods", name, "method")
        origin = catalog.origin("unweave.methods", name)
        try:
            facts = told["methods"].get(name) if origin is None else None
            facts = facts or facts_of_method(name)
        except catalog.NameTaken:
            continue  # around a method whose name is taken, which has been warned of
        except Exception as error:
            if origin is None:
                raise
            warnings.warn(f"method {name!r} cannot be made: {error}", PluginWarning, stacklevel=1)
            continue
        summary = catalog.summary(documented).partition(": ")
        row = (
            with_origin("unweave.methods", name),
            summary[2] or summary[0],
            facts["needs"],
            facts["knob"],
            paper_of(documented),
        )
        rows.setdefault(facts["heading"], []).append(row)
    for heading in told["headings"]:
        if not (lines := rows.get(heading)):
            continue
        columns = ("method", "what it does", "needs", "main knob", "paper")
        table = Table(*columns, title=f"with {heading}", title_justify="left", expand=True)
        for column, share in zip(table.columns, (4, 8, 7, 4, 6), strict=True):
            column.ratio = share  # so that tables below each other have columns in line
        table.columns[0].min_width = 20
        for line in lines:
            table.add_row(*line)
        show(table)


def told_of_methods() -> dict[str, Any]:
    """Return what `docs/make_tables.py` found out by making each of our methods.

    It is kept in a file, so that a list of them and their help need not wait for torch.
    """
    file = resources.files("unweave.catalog") / "methods.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def facts_of_method(name: str) -> dict[str, str]:
    """Return what a user must have for a method, what it is given, and its main knob."""
    from unweave.cli._needs import heading_of
    from unweave.methods import method_named

    method = method_named(name)
    supervision = method().supervision
    return {
        "heading": heading_of(supervision),
        "needs": first_line(inspect.getdoc(type(supervision))),
        "knob": method.main_knob,
    }


def with_origin(package: str, name: str) -> str:
    """Return a name as lists show it: that of a plugin says where it is from."""
    origin = catalog.origin(package, name)
    return name if origin is None else f"{name} ({origin})"


def say_entries(package: str, kind: str) -> None:
    """List the entries of a catalog folder with their first lines."""
    table = Table(kind, "what it is")
    for name in catalog.usable(package):
        summary = catalog.summary(catalog.documented(package, name, kind))
        table.add_row(with_origin(package, name), summary.removeprefix(f"{name}: "))
    show(table)


def first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].rstrip(".")


def paper_of(entry: object) -> str:
    """Return where the docstring of an entry says that its paper is to be found."""
    words = (entry.__doc__ or "").split()
    places = [w.strip(".,;:()") for w in words if w.startswith(("arXiv:", "openreview:", "doi:"))]
    return places[0] if places else ""


def say_scores(scores: dict[str, Any]) -> None:
    """Print scores as a table; what could not be computed says why.

    What is to be said of several scores alike stands below the table, once.
    """
    from unweave.metrics import headline, null_words, protocol_words, shared_notes

    table = Table("metric", "score", "better is", "protocol")
    shared = shared_notes({name: entry.get("notes") or () for name, entry in scores.items()})
    for name, entry in scores.items():
        if entry["value"] is None:
            table.add_row(name, "–", "", f"not scored: {entry['reason']}")
            continue
        shown = f"{entry['value']:.4f}"
        if (interval := entry["details"].get("interval")) is not None:
            shown += f"  [{interval[0]:.4f}, {interval[1]:.4f}]"
        own = headline(entry)
        shown += f"  {own}" if own else ""
        shown += "".join(
            f"\n{part} {value:.4f}"
            for part, value in (entry.get("parts") or {}).items()
            if part != own
        )
        direction = "higher" if entry["higher_is_better"] else "lower"
        told = [f"note: {note}" for note in entry.get("notes") or () if note not in shared]
        if nulls := null_words(entry):
            told.insert(0, f"nulls: {nulls}")
        how = "\n".join([protocol_words(entry), *told])
        table.add_row(name, shown, direction, how)
    show(table)
    for note, names in shared.items():
        say(f"note on {', '.join(names)}: {note}")


def say_probe(found: Any) -> None:
    """Print what classifiers of a few labels are right in, of codes and of pixels."""
    table = Table(
        "classifier",
        "of codes",
        "of pixels",
        title=f"{found.column} of {found.judged:,} images from {found.labels} labels, mean "
        f"(least to most) of {len(next(iter(found.codes.values())))} draws; "
        f"chance {found.chance:.3f}",
    )

    def words(of: Any) -> str:
        return "–" if of is None else f"{sum(of) / len(of):.3f}  ({min(of):.3f} to {max(of):.3f})"

    for name, of_codes in found.codes.items():
        table.add_row(name, words(of_codes), words(found.pixels.get(name)))
    show(table)


def say_view_probe(found: Any) -> None:
    """Print what classifiers of one view are right in, in that view and in the others."""
    table = Table(
        "of",
        "in the view learnt in",
        "in the other views",
        title=f"{found.column} named by what was learnt in one of {len(found.views)} views "
        f"({found.view} {', '.join(found.views)}), mean over views; chance {found.chance:.3f}",
    )
    for name in found.tables:
        table.add_row(name, f"{found.own(name):.3f}", f"{found.others(name):.3f}")
    show(table)


def say_run(run: Any) -> None:
    """Print the scores of a run and where its files are."""
    scores = {name: e for name, e in run.scores.items() if e.get("step", run.step) == run.step}
    if scores:
        say_scores(scores)
    if older := [name for name in run.scores if name not in scores]:
        say(f"not scored at step {run.step:,}: {', '.join(older)}; unweave evaluate {run.path}")
    silenced = run.folder.silenced() if run.folder else None
    if silenced and silenced["latents"]:
        named = ", ".join(f"z{latent}" for latent in silenced["latents"])
        say(f"silenced:   {named}, which carry nothing; undo: unweave silence {run.path} --undo")
    say(f"run folder: {run.path}")
    say(f"pictures:   {run.path / 'figures'}")
