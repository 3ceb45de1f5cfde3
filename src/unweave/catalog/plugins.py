"""Plugins: entries of the catalog that are not files of ours.

The code of a plugin is run in three cases only: it is installed and an entry point
names it; the user names its file now; the user hands over a class of it. What a run
folder says of a plugin is read for messages and never imported.

An entry of a plugin is what a file of ours is: a module with one method, one
architecture, one metric (its function has the entry's name) or one data set (`load`).
"""

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from unweave.catalog._kinds import (
    KINDS,
    Kind,
    base_of,
    classes_in,
    is_entry,
    missing_in,
    unfinished_in,
)
from unweave.catalog._names import own_names, snake_case
from unweave.catalog._sources import (
    BrokenPlugin,
    NameTaken,
    Origin,
    PluginFile,
    PluginPlace,
    in_a_line,
    read_file,
    run_file,
    source_of,
)
from unweave.errors import ConfigError

Source = str | Path | ModuleType | type
"""What a user gives as a plugin: the path of a file, a module, or a class."""
Carried = PluginFile | PluginPlace
"""What other processes are sent of a plugin."""


@dataclass(frozen=True)
class Plugin:
    """An entry of a plugin; the two kinds below know how to get at it."""

    package: str
    name: str
    origin: Origin

    @property
    def kind(self) -> Kind:
        return KINDS[self.package]

    def __str__(self) -> str:
        return f"{self.kind.word} {self.name!r} of {self.origin}"

    def module(self) -> ModuleType:
        """Return the module that defines it."""
        raise NotImplementedError

    def value(self) -> Any:
        """Return its class, or its module where entries are modules."""
        raise NotImplementedError

    def whole_origin(self) -> Origin:
        """Return where it is from with the name of its class, for which it is imported."""
        if not self.kind.base or ":" in self.origin.object:
            return self.origin
        found = self.value()
        return replace(self.origin, object=f"{found.__module__}:{found.__qualname__}")

    def documented(self) -> object:
        """Return what has its docstring."""
        module = self.module()
        return module if module.__doc__ else self.value()


@dataclass(frozen=True)
class Installed(Plugin):
    """A plugin that an entry point names; imported when it is asked for."""

    place: str
    attribute: str

    def module(self) -> ModuleType:
        try:
            return importlib.import_module(self.place)
        except (Exception, SystemExit) as error:
            raise BrokenPlugin(f"{self} cannot be imported: {in_a_line(error)}") from error

    def value(self) -> Any:
        module = self.module()
        if not self.kind.base:
            if self.attribute:
                raise BrokenPlugin(f"{self}: its entry point must name a module, without ':'")
            if problem := missing_in(module, self.kind, self.name):
                raise BrokenPlugin(f"{self}: {module.__name__} {problem}")
            return module
        if self.attribute:
            found = getattr(module, self.attribute, None)
            if not is_entry(found, base_of(self.kind)):
                raise BrokenPlugin(
                    f"{self}: {self.origin.object} is no {self.kind.base} that can be made"
                )
            return found
        made = classes_in(module, self.kind)
        if len(made) > 1 and self.name in made:
            return made[self.name]
        if len(made) != 1:
            raise BrokenPlugin(
                f"{self}: expected one {self.kind.base} in {module.__name__}, found {len(made)}; "
                f"let its entry point name one as MODULE:CLASS"
            )
        return next(iter(made.values()))


@dataclass(frozen=True)
class Given(Plugin):
    """A plugin of a file that the user named, or of a class that the user handed over."""

    where: ModuleType
    found: Any
    source: PluginFile | None
    handed_over: bool
    """Whether it is a class that was there already, of a notebook or a module of the user's."""

    def module(self) -> ModuleType:
        return self.where

    def value(self) -> Any:
        return self.found

    def documented(self) -> object:
        own = self.found.__doc__ or ""
        # A dataclass without a docstring is given its signature for one.
        has_own = isinstance(self.found, type) and not own.startswith(f"{self.found.__name__}(")
        is_of_file = bool(self.where.__doc__) and not self.handed_over
        return self.found if has_own and own and not is_of_file else self.where


_given: dict[tuple[str, str], Given] = {}
_files: dict[str, PluginFile] = {}  # by the name of the module that was made of it


def names(package: str) -> list[str]:
    """List the names of the plugins of a kind; none is imported for it."""
    given = [name for place, name in _given if place == package]
    return sorted({*given, *(plugin.name for plugin in installed(package))})


def installed(package: str) -> list[Installed]:
    """List the plugins of a kind that entry points name."""
    return _installed(tuple(sys.path)).get(package, [])


@functools.lru_cache(maxsize=4)
def _installed(path: tuple[str, ...]) -> dict[str, list[Installed]]:
    points = importlib.metadata.entry_points()
    found: dict[str, list[Installed]] = {}
    for package in KINDS:
        for point in points.select(group=package):
            if not point.name.isidentifier():
                continue  # it could not be told from a path, and would name folders
            of = point.dist
            origin = Origin(point.value, *(("", "") if of is None else (of.name, of.version)))
            plugin = Installed(package, point.name, origin, point.module, point.attr or "")
            found.setdefault(package, []).append(plugin)
    return found


def find(package: str, name: str) -> Plugin | None:
    """Return the plugin of a name, or None if the entry is ours; a name is never both."""
    found: list[Plugin] = [plugin for plugin in installed(package) if plugin.name == name]
    given = _given.get((package, name))
    found += [] if given is None else [given]
    owners = ["unweave itself"] if name in own_names(package) else []
    owners += [str(plugin.origin) for plugin in found]
    if len(owners) > 1:
        raise _clash(package, name, owners)
    return found[0] if found else None


def name_of(kind: type) -> str:
    """Return the name of a class that is not ours: its entry point's, or its own; else ""."""
    if _is_ours(kind):
        return ""
    return next((plugin.name for plugin in _points_at(kind)), snake_case(kind.__name__))


def add(source: Source) -> list[Given]:
    """Make known by name what a file, a module or a class offers, in this process.

    A file is run. The same content again changes nothing; changed, it takes the place
    of what it offered before.
    """
    if isinstance(source, type):
        return know(source)
    if isinstance(source, ModuleType):
        return _keep(source, source_of(source), handed_over=True)
    if not isinstance(source, str | Path):
        raise ConfigError(
            f"a plugin is the path of a Python file, a module or a class, found {source!r}"
        )
    return _add_file(read_file(Path(source).expanduser()))


def know(kind: type) -> list[Given]:
    """Make a class that the user handed over known by name, unless it is already."""
    parts = str(getattr(kind, "catalog_name", "")).split("+")
    if len(parts) > 1:  # one method around another: the classes it was put together from
        made_of = [base for base in kind.__mro__[1:] if name_of(base) in parts]
        return [plugin for base in made_of[:1] for plugin in know(base)]
    if _is_ours(kind) or list(_points_at(kind)):
        return []
    for package, of in KINDS.items():
        if of.base and package in sys.modules and issubclass(kind, base_of(of)):
            name = snake_case(kind.__name__)
            before = _given.get((package, name))
            if before is not None and before.found is kind:
                return [before]
            module = sys.modules.get(kind.__module__) or ModuleType(kind.__module__)
            file = _files.get(module.__name__)
            source, handed_over = file or source_of(module, kind.__name__), file is None
            origin = _origin(module, kind.__qualname__, source)
            return [_put(Given(package, name, origin, module, kind, source, handed_over))]
    raise ConfigError(f"{kind.__name__} is neither a Method nor an Architecture")


def carried(used: Iterable[tuple[str, str]]) -> tuple[Carried, ...]:
    """Return what other processes need to know the plugins that were given to this one.

    `used` names what they will use, by package and name: of classes that were handed
    over, only those go along.
    """
    found: dict[Carried, None] = {}
    wanted = set(used)
    for key, plugin in _given.items():
        if plugin.source is not None and not plugin.handed_over:
            found[plugin.source] = None
        elif key in wanted:
            found[_portable(plugin)] = None
    return tuple(found)


def take_over(carried: Iterable[Carried]) -> None:
    """Make plugins known that another process of the same user carried here."""
    for source in carried:
        if isinstance(source, PluginFile):
            _add_file(source)
            continue
        try:
            module = importlib.import_module(source.module)
            found = getattr(module, source.name) if source.name else module
        except (ImportError, AttributeError) as error:
            raise BrokenPlugin(
                f"{source.module} cannot be imported here: {in_a_line(error)}. Put "
                f"{source.name or 'it'} into a file of its own and name that as plugin"
            ) from error
        add(found)


def _portable(plugin: Given) -> Carried:
    module, name = plugin.where.__name__, plugin.origin.object.partition(":")[2]
    if module == "__main__" or "." in name:
        raise ConfigError(
            f"{name or module} is defined in a notebook, a script or a function, where other "
            f"processes cannot find it; put it into a file of its own and import it from there"
        )
    if "." in module or plugin.source is None:
        return PluginPlace(module, name)
    return plugin.source


def _add_file(file: PluginFile) -> list[Given]:
    module = run_file(file)
    _files[module.__name__] = file
    return _keep(module, file, handed_over=False)


def _keep(module: ModuleType, file: PluginFile | None, *, handed_over: bool) -> list[Given]:
    """Make known what a module offers, or say why it offers nothing."""
    offers = list(_offers(module, file, handed_over))
    if offers:
        return [_put(plugin) for plugin in offers]
    place = module.__name__ if file is None else file.path
    for kind in KINDS.values():
        for name, lacking in unfinished_in(module, kind).items():
            raise BrokenPlugin(f"{place}: {name} does not define {', '.join(lacking)}")
    stem, constants = _stem(module, file), ", ".join(KINDS["unweave.metrics"].wanted)
    raise BrokenPlugin(
        f"{place} offers nothing: expected a class that derives from Method or Architecture, "
        f"a metric (a function {stem} with {constants}), or a data set (a function load)"
    )


def _offers(module: ModuleType, file: PluginFile | None, handed_over: bool) -> Iterator[Given]:
    stem = _stem(module, file)
    for package, kind in KINDS.items():
        for name, made in classes_in(module, kind).items():
            origin = _origin(module, made.__qualname__, file)
            yield Given(package, name, origin, module, made, file, handed_over)
        if not kind.base and hasattr(module, kind.wanted[0]):
            if problem := missing_in(module, kind, stem):
                raise BrokenPlugin(f"{file.path if file else module.__name__} {problem}")
            origin = _origin(module, "", file)
            yield Given(package, stem, origin, module, module, file, handed_over)


def _put(plugin: Given) -> Given:
    """Keep a plugin, unless its name belongs to somebody else."""
    package, name = plugin.package, plugin.name
    owners = ["unweave itself"] if name in own_names(package) else []
    owners += [str(other.origin) for other in installed(package) if other.name == name]
    before = _given.get((package, name))
    if before is not None and not _replaces(plugin, before):
        owners.append(before.source.path if before.source else str(before.origin))
    if owners:
        new = plugin.source.path if plugin.source else plugin.origin.object
        raise _clash(package, name, [*owners, new])
    _given[package, name] = plugin
    return plugin


def _replaces(new: Given, old: Given) -> bool:
    """Whether a plugin is a later form of the other: its file changed, its cell run again."""
    if old.handed_over or new.source is None or old.source is None:
        return old.handed_over
    return new.source.path == old.source.path or new.source.content == old.source.content


def _clash(package: str, name: str, owners: list[str]) -> NameTaken:
    return NameTaken(
        f"the name {name!r} is taken: {' and '.join(owners)} both have a {KINDS[package].word} "
        f"of that name; rename or uninstall one of them"
    )


def _points_at(kind: type) -> Iterator[Installed]:
    """Yield the installed plugins whose entry points name a class or its module."""
    for package, of in KINDS.items():
        for plugin in installed(package) if of.base else ():
            if plugin.place == kind.__module__ and plugin.attribute in ("", kind.__name__):
                sure = plugin.attribute or plugin.name == snake_case(kind.__name__)
                if sure or len(classes_in(sys.modules[kind.__module__], of)) == 1:
                    yield plugin


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "unweave"


def _stem(module: ModuleType, file: PluginFile | None) -> str:
    return module.__name__.rpartition(".")[2] if file is None else file.stem


def _origin(module: ModuleType, name: str, file: PluginFile | None) -> Origin:
    named = _files.get(module.__name__)  # such a module has a name of our making
    place = module.__name__ if named is None else named.stem
    place = f"{place}:{name}" if name else place
    return Origin(place) if file is None else Origin(place, file=file.name, sha256=file.sha256)
