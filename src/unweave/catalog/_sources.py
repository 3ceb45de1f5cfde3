"""Where plugins are from: what a run folder keeps of them, and how other processes get them."""

import hashlib
import linecache
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from unweave.errors import ConfigError


class BrokenPlugin(ConfigError):
    """A plugin that cannot be imported, or that is not what it says it is."""


class NameTaken(ConfigError):
    """A name that a plugin and somebody else both have."""


class PluginWarning(UserWarning):
    """Something about a plugin that the user should know, in one line."""


@dataclass(frozen=True)
class Origin:
    """Where a plugin is from, in words that a run folder can keep."""

    object: str
    """MODULE:CLASS, or MODULE alone."""
    distribution: str = ""
    """What pip calls the package, if it is installed."""
    version: str = ""
    file: str = ""
    """Name of the file, if it is one."""
    sha256: str = ""
    """Of the file's content."""

    def __str__(self) -> str:
        if self.distribution:
            return f"{self.distribution} {self.version}".rstrip()
        return self.file or self.object


@dataclass(frozen=True)
class PluginFile:
    """A file as it was when the user named it; other processes get it in this form."""

    path: str
    content: bytes

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def stem(self) -> str:
        return Path(self.path).stem

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class PluginPlace:
    """A class, or a module as a whole, by the place it can be imported from."""

    module: str
    name: str


def read_file(path: Path) -> PluginFile:
    """Return a Python file that the user names as a plugin."""
    if path.suffix != ".py":
        raise ConfigError(f"expected a Python file as plugin, found {path}")
    try:
        return PluginFile(str(path.absolute()), path.read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot read the plugin {path}: {error.strerror or error}") from error


def source_of(module: ModuleType, name: str = "") -> PluginFile | None:
    """Return the file of a module that was imported, as it is on disk now; None without one.

    With the name of a class, None also if that is not written there: a notebook's are not in
    the file that started it.
    """
    path = Path(getattr(module, "__file__", None) or "")
    if path.suffix != ".py" or not path.is_file():
        return None
    file = read_file(path)
    return file if re.search(rf"class\s+{name}\b".encode(), file.content) or not name else None


def run_file(file: PluginFile) -> ModuleType:
    """Return a file as a module of its own; it is run once for each content."""
    plain = "".join(c if c.isalnum() else "_" for c in file.stem)
    name = f"unweave_plugin_{plain}_{file.sha256[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = file.path
    # The source as it was run, for tracebacks and for the help that is read from it.
    lines = file.content.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[file.path] = (len(file.content), None, lines, file.path)
    sys.modules[name] = module  # dataclasses look their types up there
    try:
        exec(compile(file.content, file.path, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BrokenPlugin(f"{file.path} cannot be run: {in_a_line(error)}") from error
    return module


def in_a_line(error: BaseException) -> str:
    """Return an error's kind and the first line of what it says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
