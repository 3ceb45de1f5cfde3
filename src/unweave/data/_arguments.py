"""What is asked for behind the name of a set: NAME:key=value,key=value."""

import dataclasses
import typing
from typing import TypeVar

from unweave import catalog
from unweave.errors import ConfigError

T = TypeVar("T")


def read_arguments(kind: type[T], name: str, text: str) -> T:
    """Read settings of a dataclass; those left out keep their defaults.

    Fields are whole numbers or one of a list of words.
    """
    hints = typing.get_type_hints(kind)
    fields = {field.name: hints[field.name] for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    known = ", ".join(
        f"{key}={'|'.join(choices) if (choices := typing.get_args(hint)) else 'NUMBER'}"
        for key, hint in fields.items()
    )
    values = {}
    for part in text.split(",") if text else ():
        key, _, value = (piece.strip() for piece in part.partition("="))
        if not value:
            raise ConfigError(
                f"{name} is made on this machine and takes no file; expected settings as "
                f"{name}:{known}, found {part!r}"
            )
        catalog.check_name(key, fields, f"setting of {name}")
        values[key] = _value(fields[key], value, f"{name}:{key}")
    return kind(**values)


def _value(hint: object, text: str, where: str) -> object:
    if choices := typing.get_args(hint):
        catalog.check_name(text, choices, where)
        return text
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"{where} must be a whole number, found {text!r}") from None
