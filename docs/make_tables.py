"""Write the tables of methods, metrics and data sets into the README from the catalog."""

from pathlib import Path

from unweave import catalog
from unweave.cli._output import first_line, paper_of
from unweave.methods import method_named

README = Path(__file__).parent.parent / "README.md"
START, END = "<!-- tables: python docs/make_tables.py -->", "<!-- end of tables -->"


def tables() -> str:
    """Return the tables as markdown."""
    lines = ["| method | what it does | needs | main knob | paper |", "|---|---|---|---|---|"]
    for name in catalog.names("unweave.methods"):
        module = catalog.load("unweave.methods", name, "method")
        method = method_named(name)
        needs = first_line(type(method().supervision).__doc__)
        what = catalog.summary(module).partition(": ")[2].rstrip(".")
        paper = paper_of(module)
        knob = f"`{method.main_knob}`" if method.main_knob else ""
        lines.append(f"| `{name}` | {what} | {needs.lower()} | {knob} | {paper} |")
    for kind in ("metrics", "data"):
        entries = ", ".join(f"`{name}`" for name in catalog.names(f"unweave.{kind}"))
        lines += ["", f"**{'Metrics' if kind == 'metrics' else 'Data sets'}:** {entries}."]
    return "\n".join(lines)


def renewed(text: str) -> str:
    """Return the README with the tables of today."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{tables()}\n\n{END}{after}"


if __name__ == "__main__":
    content = README.read_text(encoding="utf-8")
    README.write_text(renewed(content), encoding="utf-8")
