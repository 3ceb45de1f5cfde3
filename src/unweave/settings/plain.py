"""Settings as plain data and back: frozen dataclasses ↔ what JSON and TOML can hold.

Every message names the setting by its path, such as `method.beta`. A setting that may
be one of several dataclasses, such as an optimizer, says by `name` which it is.
"""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal, TypeVar, Union

from unweave import catalog
from unweave.errors import ConfigError, shown
from unweave.settings.schedules import Schedule

T = TypeVar("T")

field_types: Callable[[Any], dict[str, Any]] = functools.cache(typing.get_type_hints)
"""Return the types of a class's fields by name, also where they are written as text."""


def choices_of(hint: Any) -> dict[str, type]:
    """Return the dataclasses that a setting may be one of, by name; none if it has no choice."""
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return {}
    args = typing.get_args(hint)
    classes = [kind for kind in args if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
    return {kind.__name__.lower(): kind for kind in classes} if len(classes) > 1 else {}


def choices_among(settings: type) -> dict[str, dict[str, type]]:
    """Return the choices of every field of a dataclass that has some."""
    hints = field_types(settings)
    found = {f.name: choices_of(hints[f.name]) for f in dataclasses.fields(settings)}
    return {name: choices for name, choices in found.items() if choices}


def to_plain(value: Any) -> Any:
    """Turn settings into dictionaries, lists, numbers and strings."""
    if isinstance(value, Schedule):
        return (
            value.end if value.start == value.end or value.steps == value.wait == 0 else str(value)
        )
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain_field(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    return value


def _plain_field(settings: Any, name: str) -> Any:
    value = getattr(settings, name)
    for choice, kind in choices_of(field_types(type(settings))[name]).items():
        if type(value) is kind:
            return {"name": choice, **to_plain(value)}
    return to_plain(value)


def changed_from_default(settings: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults, as plain data."""
    changed = {}
    for field in dataclasses.fields(settings):
        value, default = getattr(settings, field.name), field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if value == default:
            continue
        is_nested = dataclasses.is_dataclass(value) and not isinstance(value, Schedule)
        same_kind = is_nested and type(value) is type(default)
        changed[field.name] = (
            changed_from_default(value) if same_kind else _plain_field(settings, field.name)
        )
    return changed


def flat(
    plain: Mapping[str, Any],
    is_whole: Callable[[Mapping[str, Any]], bool] = lambda table: not table,
) -> dict[str, Any]:
    """Return nested tables as one table of paths, such as method.beta.

    Tables that are whole, which empty ones are by default, stay what they are.
    """
    found: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping) and not is_whole(value):
            found |= {f"{key}.{path}": inner for path, inner in flat(value, is_whole).items()}
        else:
            found[str(key)] = value
    return found


def differing(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths of flat tables whose values are not all the same; left out is None."""
    paths = dict.fromkeys(path for table in tables for path in table)
    return [p for p in paths if any(table.get(p) != tables[0].get(p) for table in tables)]


def from_plain(kind: type[T], plain: Any, path: str) -> T:
    """Build settings of a dataclass from plain data; fields left out keep their defaults."""
    if not isinstance(plain, dict):
        raise ConfigError(f"{path}: expected a table of settings, found {plain!r}")
    fields = {f.name: f for f in dataclasses.fields(kind) if f.init}  # type: ignore[arg-type]
    hints = field_types(kind)
    values = {}
    for name, value in plain.items():
        if name not in fields:
            raise ConfigError(f"{path}: no setting {name!r}. {catalog.suggestion(name, fields)}")
        usual = type(fields[name].default)
        values[name] = _convert(hints[name], value, f"{path}.{name}", usual)
    for name, field in fields.items():
        if (
            name not in values
            and field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
        ):
            raise ConfigError(f"{path}.{name} is missing")
    try:
        return kind(**values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def convert_fields(settings: Any, names: Iterable[str]) -> None:
    """Bring fields of a frozen dataclass to the types they are declared with, or say which
    cannot be; for what users write in Python, where nothing else checks it."""
    hints = field_types(type(settings))
    for name in names:
        value = _convert(hints[name], getattr(settings, name), name)
        object.__setattr__(settings, name, value)


def _convert(kind: Any, value: Any, path: str, usual: type = type(None)) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        if kinds := choices_of(kind):
            return _convert_choice(kinds, usual, value, path)
        return _convert_any([a for a in args if a is not type(None)], value, path)
    if origin is Literal:
        if value not in args:
            choices = [str(a) for a in args]
            raise ConfigError(f"{path}: {value!r}? {catalog.suggestion(str(value), choices)}")
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{path}: expected a list, found {value!r}")
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_convert(args[0], v, f"{path}[{i}]") for i, v in enumerate(value))
        if len(value) != len(args):
            raise ConfigError(f"{path}: expected {len(args)} values, found {value!r}")
        return tuple(
            _convert(a, v, f"{path}[{i}]") for i, (a, v) in enumerate(zip(args, value, strict=True))
        )
    if kind is Schedule:
        try:
            return Schedule.parse(value)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
    if dataclasses.is_dataclass(kind):
        if isinstance(value, typing.cast(type, kind)):
            return value  # built already, as the entries of a catalog are
        return from_plain(typing.cast(type, kind), value, path)
    return _convert_simple(kind, value, path)


def _convert_choice(choices: dict[str, type], usual: type, value: Any, path: str) -> Any:
    """Convert to the dataclass that is named.

    Without a name it is the usual one or, where that lacks a setting, the first that has
    all of them: tables from before there was a choice tell no name.
    """
    if type(value) in choices.values():
        return value
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: expected a name or a table of settings, found {value!r}")
    name, given = table.get("name"), {k: v for k, v in table.items() if k != "name"}
    if name is not None:
        if not isinstance(name, str) or name not in choices:
            raise ConfigError(f"{path}: {name!r}? {catalog.suggestion(str(name), choices)}")
        return from_plain(choices[name], given, path)
    kinds = sorted(choices.values(), key=lambda kind: kind is not usual)
    has_all = (k for k in kinds if set(given) <= {f.name for f in dataclasses.fields(k)})
    return from_plain(next(has_all, kinds[0]), given, path)


def _convert_any(kinds: list[Any], value: Any, path: str) -> Any:
    """Convert to the first kind that takes the value."""
    for kind in kinds[:-1]:
        try:
            return _convert(kind, value, path)
        except ConfigError:
            continue  # the last kind's message is the one shown
    return _convert(kinds[-1], value, path)


def _convert_simple(kind: Any, value: Any, path: str) -> Any:
    wrong = ConfigError(
        f"{path}: expected {_NAMES.get(kind, kind)}, found {value!r} ({type(value).__name__})"
    )
    if kind is bool or kind is str:
        if isinstance(value, kind):
            return value
        raise wrong
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, Real) or value != value // 1:
            raise wrong
        return int(typing.cast(Any, value))
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise wrong
        try:
            number = float(value)
        except OverflowError:  # whole numbers of hundreds of digits
            number = math.inf
        if not math.isfinite(number):
            raise ConfigError(f"{path}: expected a finite number, found {shown(value)}")
        return number
    raise wrong


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
