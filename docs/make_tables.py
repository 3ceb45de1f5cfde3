"""Write what is derived from the catalog: tables of the README and of docs/metrics.md, names,
docs/methods.md, and what the list and the help of methods say without making any.

Only our own entries are written, whatever plugins are installed.
"""

import ast
import inspect
import json
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import unweave
from unweave import catalog
from unweave.cli._needs import ORDER
from unweave.cli._output import facts_of_method, first_line
from unweave.cli._stand_ins import tell
from unweave.data import from_arrays
from unweave.errors import DataError
from unweave.methods import Method, method_named
from unweave.settings.optimizers import Optimizer

ROOT = Path(__file__).parent.parent
PACKAGE = Path(unweave.__file__).parent
TABLES = "<!-- tables: python docs/make_tables.py -->", "<!-- end of tables -->"
PROTOCOLS = "<!-- protocols: python docs/make_tables.py -->", "<!-- end of protocols -->"
METHODS = "<!-- methods: python docs/make_tables.py -->", "<!-- end of methods -->"
NAMES = "# names: python docs/make_tables.py", "# end of names"

RATE = "learning_rate"  # the first setting of an optimizer, which is always shown


def tables() -> str:
    """Return what there is as markdown: methods by what a user must have, metrics, data sets."""
    lines = []
    for heading, names in by_heading().items():
        links = ", ".join(f"[`{name}`](docs/methods.md#{name})" for name in names)
        lines.append(f"- **Methods** with {heading}: {links}")
    for kind in ("metrics", "data"):
        entries = ", ".join(f"`{name}`" for name in catalog.own_names(f"unweave.{kind}"))
        lines.append(f"- **{'Metrics' if kind == 'metrics' else 'Data sets'}**: {entries}")
    return "\n".join(lines)


def by_heading() -> dict[str, list[str]]:
    """Return the methods by what a user must have for them, in order."""
    names: dict[str, list[str]] = {heading: [] for heading in ORDER}
    for name in catalog.own_names("unweave.methods"):
        names[facts_of_method(name)["heading"]].append(name)
    return {heading: of for heading, of in names.items() if of}


def protocols() -> str:
    """Return every metric's protocols as its module describes them, the default first."""
    lines = ["| metric | protocols (the first is the default) |", "|---|---|"]
    for name in catalog.own_names("unweave.metrics"):
        module = catalog.load("unweave.metrics", name, "metric")
        known = " · ".join(
            f"`{protocol}`: {words}".replace("|", "\\|")
            for protocol, words in module.PROTOCOLS.items()
        )
        lines.append(f"| `{name}` | {known} |")
    return "\n".join(lines)


def methods() -> str:
    """Return a section for each method, in the order of what a user must have."""
    names = by_heading()
    lines = []
    for heading, of in names.items():
        links = ", ".join(f"[`{name}`](#{name})" for name in of)
        lines.append(f"- **{heading}**: {links}")
    return "\n\n".join(["\n".join(lines), *(section(n) for of in names.values() for n in of)])


def section(name: str) -> str:
    """Return what a method is, what it is told, and its settings."""
    module, kind = catalog.load("unweave.methods", name, "method"), method_named(name)
    method = kind()
    head, _, body = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    parts = [f"## {name}", head, body]
    needs = first_line(type(method.supervision).__doc__)
    parts.append(f"*Needs:* {needs.lower()}. *Main knob:* `{method.main_knob or 'none'}`.")
    if told := told_without(method):
        indented = "\n".join(f"    {line}" for line in told.splitlines())
        parts.append(f"Of images alone it says\n\n{indented}")
    rows = ["| setting | default | |", "|---|---|---|"]
    for field in fields(kind):
        words = " ".join(setting_words(kind, field.name).split())
        cells = (f"`{field.name}`", f"`{shown(getattr(method, field.name))}`", words)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n\n".join([*parts, "\n".join(rows)])


def shown(value: object) -> str:
    """Return a default; of an optimizer what is not its own default, as it is written in Python."""
    if not isinstance(value, Optimizer):
        return str(value) or "(none)"
    usual = {field.name: field.default for field in fields(value)}
    changed = [f"{n}={v}" for n, v in vars(value).items() if n != RATE and v != usual[n]]
    return f"{type(value).__name__}({', '.join([str(getattr(value, RATE)), *changed])})"


def told_without(method: Method) -> str:
    """Return what a user is told who has images and nothing else."""
    alone = from_arrays(np.zeros((4, 8, 8), np.uint8), name="photos")
    try:
        method.settled(100, alone).supervision.check(alone)
    except DataError as error:
        return str(error)
    return ""


def setting_words(kind: type, name: str) -> str:
    """Return the sentences below a setting, in the class that has it first."""
    return next((words[name] for c in kind.__mro__ if name in (words := documented_fields(c))), "")


@cache
def documented_fields(kind: type) -> dict[str, str]:
    """Return the texts below the fields that a class itself defines."""
    if not kind.__module__.startswith("unweave."):
        return {}
    (tree,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for line, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(line, ast.AnnAssign) and isinstance(text, ast.Expr):
            found[ast.unparse(line.target)] = ast.literal_eval(text.value)
    return found


def method_names() -> str:
    """Return the imports that tell type checkers the classes of the methods."""
    lines = []
    for entry in catalog.own_names("unweave.methods"):
        for name in defined(PACKAGE / "methods" / f"{entry}.py"):
            if name.lower() == entry.replace("_", ""):
                lines.append(typed_import(f"unweave.methods.{entry}", name))
    return "\n".join(lines)


def metric_names() -> str:
    """Return the imports that tell type checkers the functions of the metrics."""
    lines = []
    for entry in catalog.own_names("unweave.metrics"):
        lines.append(typed_import(f"unweave.metrics.{entry}", entry))
    return "\n".join(lines)


def defined(file: Path) -> list[str]:
    """Return the classes and functions that a file defines."""
    return re.findall(r"^(?:class|def) (\w+)", file.read_text("utf-8"), re.MULTILINE)


def typed_import(module: str, name: str) -> str:
    line = f"    from {module} import {name} as {name}"
    if len(line) <= 100:
        return line
    return f"    from {module} import (\n        {name} as {name},\n    )"


LISTED = PACKAGE / "catalog" / "methods.json"
DERIVED: dict[Path, Any] = {
    ROOT / "README.md": (TABLES, lambda: f"\n\n{tables()}\n\n"),
    ROOT / "docs" / "metrics.md": (PROTOCOLS, lambda: f"\n\n{protocols()}\n\n"),
    ROOT / "docs" / "methods.md": (METHODS, lambda: f"\n\n{methods()}\n\n"),
    LISTED: None,
    PACKAGE / "__init__.py": (NAMES, lambda: f"\n{method_names()}\n\n    "),
    PACKAGE / "metrics" / "__init__.py": (NAMES, lambda: f"\n{metric_names()}\n    "),
}


def list_of_methods() -> str:
    """Return what `unweave list methods` and `unweave train METHOD --help` say, as JSON."""
    methods, classes = {}, {}
    for name in catalog.own_names("unweave.methods"):
        settings = tell(method_named(name), setting_words, classes)
        methods[name] = facts_of_method(name) | {"settings": settings}
    told = {"headings": ORDER, "methods": methods, "classes": classes}
    return (
        "{\n" + ",\n".join(f"{json.dumps(k)}: {_a_line_each(v)}" for k, v in told.items()) + "\n}\n"
    )


def _a_line_each(entries: Any) -> str:
    """Return JSON with one line for each entry, so that a change of one shows as one."""
    if isinstance(entries, dict):
        lines = [
            f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in entries.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n}"
    return json.dumps(entries, ensure_ascii=False)


def renewed(file: Path) -> str:
    """Return the content of a file with the derived part of today."""
    if file == LISTED:
        return list_of_methods()
    (start, end), make = DERIVED[file]
    before, rest = file.read_text("utf-8").split(start)
    _, after = rest.split(end)
    return f"{before}{start}{make()}{end}{after}"


if __name__ == "__main__":
    for path in DERIVED:
        path.write_text(renewed(path), encoding="utf-8")
