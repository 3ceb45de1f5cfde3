"""Write what is derived from the catalog: tables of the README and of docs/metrics.md, names.

Only our own entries are written, whatever plugins are installed.
"""

import re
from pathlib import Path

import unweave
from unweave import catalog
from unweave.cli._output import first_line, paper_of
from unweave.methods import method_named

ROOT = Path(__file__).parent.parent
PACKAGE = Path(unweave.__file__).parent
TABLES = "<!-- tables: python docs/make_tables.py -->", "<!-- end of tables -->"
PROTOCOLS = "<!-- protocols: python docs/make_tables.py -->", "<!-- end of protocols -->"
NAMES = "# names: python docs/make_tables.py", "# end of names"


def tables() -> str:
    """Return the tables as markdown."""
    lines = ["| method | what it does | needs | main knob | paper |", "|---|---|---|---|---|"]
    for name in catalog.own_names("unweave.methods"):
        module = catalog.load("unweave.methods", name, "method")
        method = method_named(name)
        needs = first_line(type(method().supervision).__doc__)
        what = catalog.summary(module).partition(": ")[2].rstrip(".")
        paper = paper_of(module)
        knob = f"`{method.main_knob}`" if method.main_knob else ""
        lines.append(f"| `{name}` | {what} | {needs.lower()} | {knob} | {paper} |")
    for kind in ("metrics", "data"):
        entries = ", ".join(f"`{name}`" for name in catalog.own_names(f"unweave.{kind}"))
        lines += ["", f"**{'Metrics' if kind == 'metrics' else 'Data sets'}:** {entries}."]
    return "\n".join(lines)


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


DERIVED = {
    ROOT / "README.md": (TABLES, lambda: f"\n\n{tables()}\n\n"),
    ROOT / "docs" / "metrics.md": (PROTOCOLS, lambda: f"\n\n{protocols()}\n\n"),
    PACKAGE / "__init__.py": (NAMES, lambda: f"\n{method_names()}\n\n    "),
    PACKAGE / "metrics" / "__init__.py": (NAMES, lambda: f"\n{metric_names()}\n    "),
}


def renewed(file: Path) -> str:
    """Return the content of a file with the derived part of today."""
    (start, end), make = DERIVED[file]
    before, rest = file.read_text("utf-8").split(start)
    _, after = rest.split(end)
    return f"{before}{start}{make()}{end}{after}"


if __name__ == "__main__":
    for path in DERIVED:
        path.write_text(renewed(path), encoding="utf-8")
