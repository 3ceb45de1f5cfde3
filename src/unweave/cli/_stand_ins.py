"""Settings of our methods without the methods: the same fields, for help that need not wait.

A method is made of torch, which takes seconds to import; its flags are not. `docs/make_tables.py`
writes down what `tell` says of each method, and `StandIns` makes dataclasses of it that have the
same flags and compute nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, fields, is_dataclass, make_dataclass
from functools import reduce
from inspect import cleandoc
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from unweave.settings.plain import from_plain, to_plain
from unweave.settings.schedules import Schedule

SIMPLE = {kind.__name__: kind for kind in (bool, int, float, str, Schedule, type(None))}
Words = Callable[[type, str], str]
"""From a dataclass and one of its fields to the sentences below it."""


def tell(kind: type, words: Words, classes: dict[str, Any]) -> str:
    """Add a dataclass and those its fields are made of to `classes`, as plain data; return its
    name there."""
    name = kind.__name__
    if name not in classes:
        hints, usual = get_type_hints(kind), to_plain(kind())
        classes[name] = {
            # Without a docstring of its own, a dataclass has its signature for one.
            "doc": "" if (kind.__doc__ or "").startswith(f"{name}(") else kind.__doc__,
            "fields": {
                one.name: {
                    "type": _told_type(hints[one.name], words, classes),
                    "default": usual[one.name],
                    "words": cleandoc(words(kind, one.name)),
                }
                for one in fields(kind)
            },
        }
    return name


def _told_type(hint: Any, words: Words, classes: dict[str, Any]) -> Any:
    if hint in SIMPLE.values():
        return hint.__name__
    if is_dataclass(hint) and isinstance(hint, type):
        return {"class": tell(hint, words, classes)}
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"literal": list(args)}
    if origin is tuple:
        return {"tuple": ["..." if a is ... else _told_type(a, words, classes) for a in args]}
    if origin in (Union, UnionType):
        return {"union": [_told_type(arg, words, classes) for arg in args]}
    raise TypeError(f"a setting of type {hint} cannot be told without its method; add it here")


class StandIns:
    """Dataclasses made of what was told, each once."""

    def __init__(self, told: Mapping[str, Any]):
        self.told = told
        self.made: dict[str, type] = {}

    def named(self, name: str) -> type:
        """Return the stand-in of a class."""
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]

    def _make(self, name: str) -> type:
        told = self.told[name]["fields"]
        hints = {
            one: Annotated[self._type_of(told[one]["type"]), tyro.conf.arg(help=told[one]["words"])]
            for one in told
        }
        # Defaults are plain data, of which a class that has the types makes what they are.
        typed = make_dataclass(name, hints.items(), kw_only=True)
        usual: Any = from_plain(typed, {one: told[one]["default"] for one in told}, name)
        whole = [(one, hints[one], field(default=getattr(usual, one))) for one in told]
        made = make_dataclass(name, whole, kw_only=True, frozen=True)
        made.__doc__ = self.told[name]["doc"]
        return made

    def _type_of(self, told: Any) -> Any:
        if isinstance(told, str):
            return SIMPLE[told]
        ((kind, of),) = told.items()
        if kind == "class":
            return self.named(of)
        if kind == "literal":
            return Literal[tuple(of)]
        if kind == "tuple":
            parts = tuple(... if one == "..." else self._type_of(one) for one in of)
            return tuple[parts]  # type: ignore[valid-type]
        return reduce(or_, map(self._type_of, of))
