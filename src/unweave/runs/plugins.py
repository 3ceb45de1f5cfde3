"""What a run folder keeps of the plugins it was made with, so that it can be loaded again.

These words are read for messages alone. A folder may come from anybody: nothing it
says is imported or run.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unweave import catalog
from unweave.catalog import Origin, PluginWarning
from unweave.catalog.plugins import KINDS
from unweave.data import FactorImages, open_source, set_name
from unweave.errors import ConfigError, DataError
from unweave.files.writing import write_atomically
from unweave.runs.config import Train

FOLDER = "plugins"
"""Where a run keeps the files of plugins, one folder for each content."""

DATA = "unweave.data"
_FORMS = {
    "object": r"[^/\\]{1,300}",
    "distribution": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "version": r"[A-Za-z0-9.!+_-]{1,99}",
    "file": r"[^/\\]{1,200}\.py",
    "sha256": r"[0-9a-f]{64}",
}
"""What these words may look like: they are shown, some as a command to copy."""


@dataclass(frozen=True)
class Used:
    """A plugin that a run was made with."""

    package: str
    name: str
    origin: Origin

    @property
    def word(self) -> str:
        return KINDS[self.package].word

    @property
    def copy(self) -> Path | None:
        """Return where a run keeps the file, from its folder."""
        if not (self.origin.sha256 and self.origin.file):
            return None
        return Path(FOLDER) / self.origin.sha256[:8] / self.origin.file

    def how_to_get(self, folder: Path) -> str:
        """Say what to do where the plugin is missing."""
        origin = self.origin
        if origin.distribution:
            exactly = f"=={origin.version}" if origin.version else ""
            return f"{origin}, which is not installed: pip install {origin.distribution}{exactly}"
        if self.copy is not None:
            kept = folder / self.copy
            there = f" (a copy, to be read before it is run: {kept})" if kept.is_file() else ""
            return (
                f"the file {origin.file}{there}: name it with --plugin PATH, or in Python "
                f"with plugins=[PATH]"
            )
        kind = origin.object.rpartition(":")[2].rpartition(".")[2]
        return f"{kind}, a class of a notebook or script: define it, and give plugins=[{kind}]"


def used_by(config: Train) -> list[Used]:
    """Return the plugins of a run's settings."""
    wanted = [("unweave.methods", part) for part in catalog.name_of(config.method).split("+")]
    if config.architecture is not None:
        wanted.append(("unweave.networks", catalog.name_of(config.architecture)))
    if name := set_name(config.data):
        wanted.append((DATA, name))
    return among(wanted)


def among(entries: Iterable[tuple[str, str]]) -> list[Used]:
    """Return the plugins among entries of the catalog, given by package and name."""
    found = [catalog.plugins.find(package, name) for package, name in entries]
    return [Used(plugin.package, plugin.name, plugin.whole_origin()) for plugin in found if plugin]


def to_json(used: Iterable[Used]) -> list[dict[str, str]]:
    """Return plugins as a run folder keeps them; what is not known is left out."""
    return [
        {"kind": plugin.word, "name": plugin.name}
        | {key: value for key, value in asdict(plugin.origin).items() if value}
        for plugin in used
    ]


def from_json(plain: Any, place: Path) -> list[Used]:
    """Read plugins back, and refuse what no plugin is called."""
    if not isinstance(plain, list):
        raise DataError(f"{place}: expected a list of plugins, found {plain!r:.80}")
    packages = {kind.word: package for package, kind in KINDS.items()}
    found = []
    for entry in plain:
        words = entry if isinstance(entry, dict) else {}
        package, name = packages.get(str(words.get("kind"))), str(words.get("name", ""))
        if package is None or not name.isidentifier():
            raise DataError(f"{place}: expected the kind and name of a plugin, found {entry!r:.80}")
        known = {key: words[key] for key in _FORMS if _fits(key, words.get(key))}
        found.append(Used(package, name, Origin(**{"object": "?", **known})))
    return found


def _fits(key: str, word: Any) -> bool:
    if not isinstance(word, str) or not word.isprintable():
        return False
    return re.fullmatch(_FORMS[key], word) is not None


def keep_files(used: Iterable[Used], folder: Path) -> None:
    """Put the files of plugins into a run's folder, for people to read."""
    for plugin in used:
        given = catalog.plugins.find(plugin.package, plugin.name)
        source = getattr(given, "source", None)
        if plugin.copy is not None and source is not None:
            (folder / plugin.copy).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / plugin.copy, source.content)


def check_all_there(used: Iterable[Used], folder: Path) -> None:
    """Raise an error that says how to get a plugin if it is missing."""
    for plugin in used:
        if plugin.name not in catalog.names(plugin.package):
            raise ConfigError(
                f"{folder} needs the {plugin.word} {plugin.name!r} of {plugin.how_to_get(folder)}"
            )


def check(used: Iterable[Used], folder: Path) -> None:
    """Refuse to go on without the plugins that a run is loaded with; warn if one has changed."""
    loaded_with = [plugin for plugin in used if plugin.package != DATA]  # opened when needed
    check_all_there(loaded_with, folder)
    for plugin in loaded_with:
        for warning in _changes(plugin, catalog.origin(plugin.package, plugin.name)):
            warnings.warn(f"{folder}: {warning}", PluginWarning, stacklevel=3)


def open_data(config: Train, used: Iterable[Used], folder: Path) -> FactorImages:
    """Open the data set of a run, or say how to get the plugin that it needs."""
    check_all_there([plugin for plugin in used if plugin.package == DATA], folder)
    return open_source(config.data, config.data_options)


def _changes(plugin: Used, now: Origin | None) -> Iterator[str]:
    then = plugin.origin
    was = f"the {plugin.word} {plugin.name!r} was of {then}"
    if now is None:
        yield f"{was}, and is now unweave's own"
    elif then.distribution or now.distribution:
        if (then.distribution, then.version) != (now.distribution, now.version):
            yield f"{was}, found {now}"
    elif then.sha256 and now.sha256 and then.sha256 != now.sha256:
        yield f"{was}, which has changed since (sha256 {then.sha256[:8]}, now {now.sha256[:8]})"
    elif then.object.rpartition(":")[2] != now.object.rpartition(":")[2]:
        yield f"{was} ({then.object}), found {now.object}"
