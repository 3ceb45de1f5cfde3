"""Flags from dataclasses, by tyro."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_origin

import tyro

from unweave import catalog
from unweave.errors import ConfigError
from unweave.files.opened_places import remember
from unweave.settings.plain import choices_among
from unweave.settings.schedules import Schedule

T = TypeVar("T")

_registry = tyro.constructors.ConstructorRegistry()


@_registry.primitive_rule
def _schedule(
    type_info: tyro.constructors.PrimitiveTypeInfo,
) -> tyro.constructors.PrimitiveConstructorSpec[Any] | None:
    """Read a schedule as one word: 4, 0:4:10000 or, after 500 steps, 0:4:10000:500."""
    if type_info.type not in (Schedule, Schedule | None):
        return None

    def read(words: list[str]) -> Schedule:
        try:
            return Schedule.parse(words[0])
        except ConfigError as error:
            raise ValueError(str(error)) from None  # tyro shows it beside the flag

    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="NUMBER|START:END:STEPS[:WAIT][:geometric]",
        instance_from_str=read,
        is_instance=lambda value: value is None or isinstance(value, Schedule),
        str_from_instance=lambda value: [str(value)],
    )


PLUGIN = """--plugin FILE.py, as often as needed, runs a file and knows what is in it by name.
--allow-data PATH opens data in there that a run of somebody else names."""


def parse(
    kind: type[T], words: Sequence[str], verb: str, description: str, default: T | None = None
) -> T:
    """Read flags into a dataclass; prints help or an error with near matches and exits if asked.

    A field that may be one of several dataclasses has the flags of the one it is by default.
    """
    words = _by_the_name_here(kind, words)
    _refuse_twice(words, verb)
    parsed: T = tyro.cli(
        kind,
        args=list(words),
        prog=f"unweave {verb}",
        description=f"{description}\n\n{PLUGIN}",
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.AvoidSubcommands),
        registry=_registry,
        default=tyro.MISSING_NONPROP if default is None else default,
    )
    return parsed


SAME = (("out", "to"),)
"""Names of flags that mean the same, of which some verbs have the one and some the other."""


def _by_the_name_here(kind: Any, words: Sequence[str]) -> list[str]:
    """Return the words with flags called as this verb calls them: where results go, above all."""
    own = getattr(get_origin(kind) or kind, "__dataclass_fields__", {})
    found = list(words)
    for pair in SAME:
        for here, elsewhere in (pair, pair[::-1]):
            if here in own and elsewhere not in own:
                for index, word in enumerate(found):
                    name, sign, value = word.partition("=")
                    if name == f"--{elsewhere}":
                        found[index] = f"--{here}{sign}{value}"
    return found


def _refuse_twice(words: Sequence[str], verb: str) -> None:
    """Refuse a flag that is given twice: the first value would be forgotten without a word."""
    names = [word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"unweave {verb}: {name} is given twice; give it once")


def take_name(words: list[str], known: Sequence[str], kind: str, usage: str) -> str | None:
    """Take the leading word as a name; None if help is asked for instead."""
    if words and words[0] in ("-h", "--help"):
        return None
    if not words or words[0].startswith("-"):
        raise ConfigError(f"which {kind}? usage: {usage}. Known: {', '.join(known)}.")
    name = words.pop(0)
    for part in name.split("+"):  # one method around another
        catalog.check_name(part, known, kind)
    return name


def add_plugins(words: list[str]) -> None:
    """Take every `--plugin FILE` out of the words, and run the files."""
    while (path := take_option(words, "--plugin")) is not None:
        catalog.plugins.add(path)


def allow_data(words: list[str]) -> None:
    """Take every `--allow-data PATH` out of the words, and note these places as opened."""
    while (text := take_option(words, "--allow-data")) is not None:
        path = Path(text).expanduser()
        if not os.path.exists(path):
            raise ConfigError(f"--allow-data: no such file or folder: {path}")
        remember([path])


def take_choices(words: list[str], settings: type[T], prefix: str) -> tuple[T, list[str]]:
    """Take `--prefix.FIELD NAME` out of the words for fields that may be one of several kinds.

    Return settings in which these are of the kinds that were named, and a line of help for
    every such field.
    """
    chosen, told = {}, []
    for field, choices in choices_among(settings).items():
        flag = f"--{prefix}.{field.replace('_', '-')}"
        told.append(f"{flag} NAME chooses among {', '.join(choices)}.")
        name = take_option(words, flag)
        if name is not None:
            catalog.check_name(name, choices, f"kind of {field.replace('_', ' ')}")
            chosen[field] = choices[name]()
    return settings(**chosen), told


def take_option(words: list[str], flag: str) -> str | None:
    """Take `--flag VALUE` or `--flag=VALUE` out of the words."""
    for index, word in enumerate(words):
        if word == flag:
            if index + 1 >= len(words):
                raise ConfigError(f"{flag} needs a value")
            del words[index]
            return words.pop(index)
        if word.startswith(flag + "="):
            return words.pop(index).partition("=")[2]
    return None
