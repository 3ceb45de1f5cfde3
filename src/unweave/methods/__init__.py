"""Methods: one paper, one file."""

from unweave import catalog
from unweave.errors import ConfigError
from unweave.methods._code import Code, CodeSource, Part, Unit
from unweave.methods._gaussian_vae import GaussianAutoencoder, GaussianVAE
from unweave.methods._method import Method
from unweave.methods._play import Loss, Move, Player, Restart, Turn, turns_of

__all__ = [
    "Code",
    "CodeSource",
    "GaussianAutoencoder",
    "GaussianVAE",
    "Loss",
    "Method",
    "Move",
    "Part",
    "Player",
    "Restart",
    "Turn",
    "Unit",
    "is_in_file",
    "method_named",
    "name_in_file",
    "summary_of",
    "turns_of",
]


def method_named(name: str) -> type[Method]:
    """Return the class of a method; OUTER+INNER is one method put around another."""
    outer, _, inner = name.partition("+")
    return catalog.entry_class(__name__, outer, "method", Method).around(inner)


def name_in_file(text: str) -> str:
    """Run the file of a plugin, ./mine.py or ./mine.py:CLASS, and return its method's name."""
    stem, _, wanted = text.rpartition(".py")
    path, wanted = f"{stem}.py", wanted.removeprefix(":")
    found = [plugin for plugin in catalog.plugins.add(path) if plugin.package == __name__]
    by_class = {plugin.value().__name__: plugin.name for plugin in found}
    if wanted:
        catalog.check_name(wanted, by_class, f"method in {path}")
        return by_class[wanted]
    if len(found) != 1:
        which = f"; choose one: {path}:{next(iter(by_class))}" if found else ""
        raise ConfigError(f"expected one method in {path}, found {len(found)}{which}")
    return found[0].name


def is_in_file(text: str) -> bool:
    """Whether a method is given by the file it is in, not by its name."""
    return text.endswith(".py") or ".py:" in text


def summary_of(method: Method) -> str:
    """Return what a method is in a line; of OUTER+INNER, what both are."""
    parts = catalog.name_of(method).split("+")
    entries = [catalog.documented(__name__, part, "method") for part in parts]
    return " — ".join(catalog.summary(entry).removesuffix(".") for entry in entries) + "."
