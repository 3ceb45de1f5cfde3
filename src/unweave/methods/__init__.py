"""Methods: one paper, one file."""

from unweave import catalog
from unweave.methods._code import Code, CodeSource, Part, Unit
from unweave.methods._method import Loss, Method, Player, Turn

__all__ = [
    "Code",
    "CodeSource",
    "Loss",
    "Method",
    "Part",
    "Player",
    "Turn",
    "Unit",
    "method_named",
    "summary_of",
]


def method_named(name: str) -> type[Method]:
    """Return the class of a method; OUTER+INNER is one method put around another."""
    outer, _, inner = name.partition("+")
    return catalog.entry_class(__name__, outer, "method", Method).around(inner)


def summary_of(method: Method) -> str:
    """Return what a method is in a line; of OUTER+INNER, what both are."""
    parts = catalog.name_of(method).split("+")
    modules = [catalog.load(__name__, part, "method") for part in parts]
    return " — ".join(catalog.summary(module).removesuffix(".") for module in modules) + "."
