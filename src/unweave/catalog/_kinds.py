"""What is an entry of the catalog: the rules that a module or a class of a plugin must follow."""

import importlib
import inspect
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from unweave.catalog._names import snake_case, suggestion


@dataclass(frozen=True)
class Kind:
    """One folder of the catalog, whose name is also the group of its entry points."""

    package: str
    word: str
    base: str = ""
    """The class its entries derive from; without one, an entry is a module."""
    wanted: tuple[str, ...] = ()
    """What a module that is an entry must define."""


KINDS = {
    kind.package: kind
    for kind in (
        Kind("unweave.methods", "method", base="Method"),
        Kind(
            "unweave.metrics",
            "metric",
            wanted=("PROTOCOLS", "NEEDS", "HIGHER_IS_BETTER", "RANGE"),
        ),
        Kind("unweave.data", "data set", wanted=("load",)),
        Kind("unweave.networks", "architecture", base="Architecture"),
    )
}


def base_of(kind: Kind) -> type:
    """Return the class that entries of a kind derive from."""
    base: type = getattr(importlib.import_module(kind.package), kind.base)
    return base


def is_entry(value: Any, base: type) -> bool:
    """Whether a value is a class of that base which can be made."""
    return (
        isinstance(value, type)
        and issubclass(value, base)
        and not inspect.isabstract(value)
        and not value.__name__.startswith("_")
    )


def classes_in(module: ModuleType, kind: Kind) -> dict[str, type]:
    """Return the entries among the classes that a module defines, by name."""
    return {
        snake_case(value.__name__): value
        for value in _derived(module, kind)
        if is_entry(value, base_of(kind))
    }


def unfinished_in(module: ModuleType, kind: Kind) -> dict[str, list[str]]:
    """Return what the classes of a module lack to be entries, by the name of the class."""
    return {
        value.__name__: sorted(getattr(value, "__abstractmethods__", ()))
        for value in _derived(module, kind)
        if inspect.isabstract(value)
    }


def _derived(module: ModuleType, kind: Kind) -> list[type]:
    if not kind.base or kind.package not in sys.modules:
        return []  # a module that has not even imported the base derives nothing from it
    base, made = base_of(kind), vars(module).values()
    classes = [value for value in made if isinstance(value, type) and issubclass(value, base)]
    return [value for value in classes if value.__module__ == module.__name__]


def missing_in(module: ModuleType, kind: Kind, name: str) -> str:
    """Say what a module lacks to be the entry of that name; nothing if it is one."""
    if lacking := [wanted for wanted in kind.wanted if not hasattr(module, wanted)]:
        return f"is no {kind.word}: it does not define {', '.join(lacking)}"
    function = "load" if kind.package == "unweave.data" else name
    if not callable(getattr(module, function, None)):
        functions = [n for n, value in vars(module).items() if inspect.isfunction(value)]
        hint = suggestion(function, functions) if functions else ""
        return f"is no {kind.word}: it has no function {function!r}. {hint}".rstrip()
    return ""
