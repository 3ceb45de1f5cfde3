"""The command that trains a run again."""

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unweave import catalog
from unweave.data import DataOptions
from unweave.runs.config import Train, Training
from unweave.runs.plugins import used_by
from unweave.settings.schedules import Schedule

PLAIN = [field.name for field in dataclasses.fields(Training) if field.name != "data"]


def training_command(config: Train, machine: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return `unweave train …` with every setting that is not the method's default.

    `machine` is what a run notes of where it ran: with other threads the last bits differ.
    """
    words = ["unweave", "train", catalog.name_of(config.method)]
    words += ["--data", from_anywhere(config.data)]
    for name in PLAIN:
        words += [_flag("", name), str(getattr(config, name))]
    if type(machine.get("threads")) is int:
        words += ["--threads", str(machine["threads"])]
    words += _plugin_flags(config)
    words += _changes(config.data_options, DataOptions(), "")
    words += _changes(config.method, type(config.method)(), "method.")
    if config.architecture is not None:
        words += ["--architecture", catalog.name_of(config.architecture)]
        default = type(config.architecture)()
        words += _changes(config.architecture, default, "architecture.")
    return shlex.join(words)


def from_anywhere(data: str) -> str:
    """Return the name of a data set with the whole path of its file, if it has one here."""
    name, sign, place = data.partition(":")
    if sign and Path(place).exists():
        return f"{name}:{Path(place).absolute()}"
    return str(Path(data).absolute()) if Path(data).exists() else data


def _plugin_flags(config: Train) -> list[str]:
    """Name the files of plugins; an installed one needs no flag."""
    files = dict.fromkeys(plugin.origin.file for plugin in used_by(config))
    return [word for file in files if file for word in ("--plugin", file)]


def _changes(settings: Any, default: Any, prefix: str) -> list[str]:
    """Return the flags of the settings that differ from the default."""
    words: list[str] = []
    for field in dataclasses.fields(settings):
        value, usual = getattr(settings, field.name), getattr(default, field.name)
        if value == usual:
            continue
        if _is_settings(value) and _is_settings(usual):
            if type(value) is not type(usual):
                words += _flag_of(prefix, field.name, type(value).__name__.lower())
                usual = type(value)()
            words += _changes(value, usual, f"{prefix}{field.name}.")
        else:
            words += _flag_of(prefix, field.name, value)
    return words


def _is_settings(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, Schedule)


def _flag_of(prefix: str, name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [_flag(prefix, name if value else f"no_{name}")]
    if isinstance(value, tuple):
        return [_flag(prefix, name), *map(str, value)]
    return [_flag(prefix, name), str(value)]


def _flag(prefix: str, name: str) -> str:
    return f"--{prefix}{name}".replace("_", "-")
