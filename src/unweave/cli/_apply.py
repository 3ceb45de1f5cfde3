"""unweave apply NAME RUN | --model MODULE:NAME --data DATA"""

import dataclasses
from types import ModuleType
from typing import Annotated, Any

import tyro
from rich.table import Table

from unweave import catalog
from unweave.cli import _output
from unweave.cli._figures import load_model
from unweave.cli._parse import PLUGIN, parse, take_name
from unweave.data import DataOptions

PACKAGE = "unweave.applications"
USAGE = "unweave apply NAME RUN"


def run(words: list[str]) -> int:
    known = [name.replace("_", "-") for name in catalog.own_names(PACKAGE)]
    if words:
        words = [words[0].replace("_", "-"), *words[1:]]
    name = take_name(words, known, "application", USAGE)
    if name is None:
        _list_applications()
        return 0
    from unweave import applications

    module = applications.load(name)
    flags = parse(_flags_of(module), words, f"apply {name}", (module.__doc__ or "").strip())
    model = load_model(flags.run, flags.model, flags.data, flags.options)
    say_applied(module.apply(model, flags.settings), model, flags.out)
    return 0


def say_applied(applied: Any, model: Any, out: str | None) -> None:
    """Print a result, and keep it: in the run's folder, or where it was asked for."""
    from unweave import applications
    from unweave.runs.run import Run

    in_run = isinstance(model, Run) and model.folder is not None
    if out is None and in_run:
        paths = applications.keep(model, applied)
    else:
        paths = applied.save(out or applications.FOLDER)
    for table in applied.tables:
        _output.say(table.title)
        shown = Table(*table.header)
        for line in table.shown():
            shown.add_row(*line)
        _output.show(shown)
    _output.say(applied.paragraph)
    for caveat in applied.caveats:
        _output.say(f"- {caveat}")
    _output.say("written: " + ", ".join(map(str, paths)))


def _flags_of(module: ModuleType) -> Any:
    """Return the flags of an application: those of every one, and its settings."""

    def told(kind: Any, words: str) -> Any:
        return Annotated[kind, tyro.conf.arg(help=words)]

    positional: Any = tyro.conf.Positional
    run_words = "Folder of the run."
    model_words = (
        "MODULE:NAME of a model of yours instead: encode and, where it has them, decode and "
        "posterior."
    )
    out_words = "Folder of the result; by default applications/ in the run's folder, or here."
    return dataclasses.make_dataclass(
        "Flags",
        [
            ("run", told(positional[str | None], run_words), None),
            ("model", told(str | None, model_words), None),
            ("data", told(str | None, "Data set of that model."), None),
            ("out", told(str | None, out_words), None),
            ("settings", Annotated[module.Settings, tyro.conf.arg(name="")], module.Settings()),
            ("options", Annotated[DataOptions, tyro.conf.arg(name="")], DataOptions()),
        ],
        frozen=True,
    )


def _list_applications() -> None:
    _output.say(
        f"usage: {USAGE} [flags]\n\n`unweave apply NAME --help` explains its flags. A model of "
        "your own is applied too: --model MODULE:NAME --data DATA.\n"
    )
    table = Table("application", "what it does")
    for name in catalog.own_names(PACKAGE):
        summary = catalog.summary(catalog.described(PACKAGE, name))
        table.add_row(name.replace("_", "-"), summary.removeprefix(f"{name}: "))
    _output.show(table)
    _output.say(PLUGIN)
