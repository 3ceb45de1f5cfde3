"""Names: those of our own entries, and what was meant by one that is not there."""

import ast
import difflib
import functools
import importlib.util
import pkgutil
import re
from collections.abc import Iterable
from pathlib import Path

from unweave.errors import ConfigError


@functools.cache
def own_names(package: str) -> tuple[str, ...]:
    """Return the entries that are files of a package of ours; nothing is imported for it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    found = pkgutil.iter_modules(spec.submodule_search_locations)
    return tuple(sorted(m.name for m in found if not m.name.startswith("_")))


class Described:
    """What a file says of itself, by which lists and help need not import it."""

    def __init__(self, text: str):
        self.__doc__ = text


@functools.cache
def described(package: str, name: str) -> Described:
    """Return the docstring of an entry of ours; nothing is imported for it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    folder = spec.submodule_search_locations[0]
    text = (Path(folder) / f"{name}.py").read_text(encoding="utf-8")
    return Described(ast.get_docstring(ast.parse(text)) or "")


def snake_case(name: str) -> str:
    """Return a class's name as its file would be called: BetaTCVAE is beta_tcvae."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return words.lower().strip("_")


def check_name(name: str, known: Iterable[str], kind: str) -> None:
    """Raise an error with the nearest known names unless `name` is one of them."""
    known = list(known)
    if name in known:
        return
    raise ConfigError(f"no {kind} named {name!r}. {suggestion(name, known)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Say which of the known names was probably meant, or list them all."""
    known = list(known)
    simplified = str(name).lower().replace("-", "_").replace(" ", "_")  # files hold anything
    close = difflib.get_close_matches(simplified, known, n=3, cutoff=0.6)
    if close:
        return "Did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "Known: " + ", ".join(known) + "."
