"""The catalog: methods, metrics, data sets and architectures by name.

Every module of such a folder without a leading underscore is an entry, and its
file's name is the entry's name: `names("unweave.methods")` is the folder's listing,
so there is no register to keep in step with it. Plugins stand beside our own entries
(`catalog.plugins`). What an entry offers is an attribute of its module.
"""

import importlib
import warnings
from types import ModuleType
from typing import TypeVar

from unweave.catalog import plugins
from unweave.catalog._names import check_name, described, own_names, snake_case, suggestion
from unweave.catalog._sources import BrokenPlugin, NameTaken, Origin, PluginWarning
from unweave.catalog.plugins import add as add_plugin
from unweave.errors import ConfigError

T = TypeVar("T")

__all__ = [
    "BrokenPlugin",
    "NameTaken",
    "Origin",
    "PluginWarning",
    "add_plugin",
    "check_name",
    "described",
    "documented",
    "entry_class",
    "load",
    "name_of",
    "names",
    "origin",
    "own_names",
    "plugins",
    "snake_case",
    "suggestion",
    "summary",
    "usable",
]


def names(package: str) -> list[str]:
    """List the entries of a package, sorted: our own and those of plugins."""
    return sorted({*own_names(package), *plugins.names(package)})


def load(package: str, name: str, kind: str) -> ModuleType:
    """Import the module of the entry called `name`, or say which name was probably meant."""
    check_name(name, names(package), kind)
    plugin = plugins.find(package, name)
    if plugin is None:
        return importlib.import_module(f"{package}.{name}")
    module: ModuleType = plugin.module() if plugin.kind.base else plugin.value()
    return module


def usable(package: str) -> list[str]:
    """List the entries that can be used; a warning says why a plugin cannot."""
    found = []
    for name in names(package):
        try:
            plugin = plugins.find(package, name)
            if plugin is not None:
                plugin.value()
        except ConfigError as error:
            warnings.warn(str(error), PluginWarning, stacklevel=2)
            continue
        found.append(name)
    return found


def entry_class(package: str, name: str, kind: str, base: type[T]) -> type[T]:
    """Return the class an entry defines: the one subclass of `base` made in its module."""
    check_name(name, names(package), kind)
    plugin = plugins.find(package, name)
    if plugin is not None:
        chosen: type[T] = plugin.value()
        return chosen
    module = importlib.import_module(f"{package}.{name}")
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

    A class that was put together from several entries has a name of its own; one of a
    plugin has that of its entry point, else its own in small letters.
    """
    kind = settings if isinstance(settings, type) else type(settings)
    if own := getattr(kind, "catalog_name", ""):
        return str(own)
    return plugins.name_of(kind) or kind.__module__.rpartition(".")[2]


def origin(package: str, name: str) -> Origin | None:
    """Return where the plugin of this name is from; None for an entry of our own."""
    plugin = plugins.find(package, name)
    return None if plugin is None else plugin.origin


def documented(package: str, name: str, kind: str) -> object:
    """Return what has the docstring of an entry: of our own its file, which is not imported."""
    check_name(name, names(package), kind)
    plugin = plugins.find(package, name)
    return described(package, name) if plugin is None else plugin.documented()


def summary(entry: object) -> str:
    """Return the first line of a module's or a class's docstring."""
    lines = (entry.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""
