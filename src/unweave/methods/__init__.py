"""Methods: one paper, one file."""

from unweave import catalog
from unweave.methods._method import Loss, Method, Player, Turn

__all__ = ["Loss", "Method", "Player", "Turn", "method_named"]


def method_named(name: str) -> type[Method]:
    """Return the class of a method; OUTER+INNER is one method put around another."""
    outer, _, inner = name.partition("+")
    return catalog.entry_class(__name__, outer, "method", Method).around(inner)
