"""Names and files: every module of a folder without a leading underscore is an entry.

`names("unweave.methods")` is the folder's listing, so there is no register to
keep in step with it. What an entry offers is an attribute of its module.
"""

import difflib
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable
from types import ModuleType
from typing import TypeVar

from unweave.errors import ConfigError

T = TypeVar("T")


def names(package: str) -> list[str]:
    """List the entries of a package, sorted."""
    path = importlib.import_module(package).__path__
    return sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))


def load(package: str, name: str, kind: str) -> ModuleType:
    """Import the entry called `name`, or say which name was probably meant."""
    check_name(name, names(package), kind)
    return importlib.import_module(f"{package}.{name}")


def check_name(name: str, known: Iterable[str], kind: str) -> None:
    """Raise an error with the nearest known names unless `name` is one of them."""
    known = list(known)
    if name in known:
        return
    raise ConfigError(f"no {kind} named {name!r}. {suggestion(name, known)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Say which of the known names was probably meant, or list them all."""
    known = list(known)
    simplified = name.lower().replace("-", "_").replace(" ", "_")
    close = difflib.get_close_matches(simplified, known, n=3, cutoff=0.6)
    if close:
        return "Did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "Known: " + ", ".join(known) + "."


def summary(module: ModuleType) -> str:
    """Return the first line of a module's docstring."""
    lines = (module.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def entry_class(package: str, name: str, kind: str, base: type[T]) -> type[T]:
    """Return the class an entry defines: the one subclass of `base` made in its module."""
    module = load(package, name, kind)
    made_here = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module.__name__
    ]
    (found,) = made_here
    return found


def name_of(settings: object) -> str:
    """Return the catalog name of an entry's instance or class: its module's file name.

    A class that was put together from several entries has a name of its own.
    """
    kind = settings if isinstance(settings, type) else type(settings)
    return getattr(kind, "catalog_name", "") or kind.__module__.rpartition(".")[2]
