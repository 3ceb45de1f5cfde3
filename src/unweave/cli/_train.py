"""unweave train METHOD --data DATA"""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Generic, TypeVar

import tyro

from unweave import catalog
from unweave.cli import _output
from unweave.cli._parse import PLUGIN, parse, take_choices, take_name, take_option
from unweave.data import DataOptions, load_data
from unweave.settings.machine import Machine, Training

M = TypeVar("M")
A = TypeVar("A")
USAGE = "unweave train METHOD|FILE.py --data DATA"


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """What any training takes, and where and how it is run."""

    out: str | None = None
    """Folder of the run; by default a readable name under runs/."""
    no_evaluation: bool = False
    """Leave the scores at the end out."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()

    def __post_init__(self) -> None:
        """Leave the checks to Train: tyro would draw a box around what they say."""


@dataclass(frozen=True, kw_only=True)
class WithMethod(Settings, Generic[M]):
    method: M


@dataclass(frozen=True, kw_only=True)
class WithArchitecture(WithMethod[M], Generic[M, A]):
    architecture: A


def run(words: list[str]) -> int:
    if words and words[0] == "auto":
        from unweave.cli import _auto

        return _auto.run(words[1:])
    if words and ".py" in words[0]:
        from unweave.methods import is_in_file, name_in_file

        if is_in_file(words[0]):
            words[0] = name_in_file(words[0])
    name = take_name(words, catalog.names("unweave.methods"), "method", USAGE)
    if name is None:
        _output.say(
            f"usage: {USAGE} [flags]\n\n`unweave train METHOD --help` explains its flags;\n"
            "`unweave train auto --data DATA --minutes 10` chooses the settings itself."
        )
        _output.say(PLUGIN)
        _output.say_methods()
        return 0
    chosen = take_option(words, "--architecture")
    method: type[Any] | None = _only_for_help(name, words) if chosen is None else None
    if method is None:
        from unweave.methods import method_named

        method = method_named(name)
    entries = [catalog.documented("unweave.methods", part, "method") for part in name.split("+")]
    description = "\n\n".join((entry.__doc__ or "").strip() for entry in entries)
    usual, told = take_choices(words, method, "method")
    parts: dict[str, Any] = {"method": usual}
    kind: Any = WithMethod[method]  # type: ignore[valid-type]
    if chosen is not None:
        from unweave.networks import architecture_named

        architecture = architecture_named(chosen)
        parts["architecture"] = architecture()
        kind = WithArchitecture[method, architecture]  # type: ignore[valid-type]
    else:
        known = ", ".join(catalog.names("unweave.networks"))
        told.append(f"--architecture NAME chooses the networks: {known}.")
    description = "\n\n".join([description, *told])
    flags = parse(kind, words, f"train {name}", description, kind(data=tyro.MISSING, **parts))
    from unweave.runs.config import Train

    config = Train(
        method=flags.method,
        architecture=getattr(flags, "architecture", None),
        data_options=flags.options,
        **{field.name: getattr(flags, field.name) for field in fields(Training)},
    )
    from unweave import workflows

    data = load_data(config.data, config.data_options)
    trained = workflows.train_config(
        config, data, flags.out, flags.machine, evaluate=not flags.no_evaluation
    )
    _output.say_run(trained)
    return 0


def _only_for_help(name: str, words: list[str]) -> type | None:
    """Return what has a method's flags and no torch, if help is all that is asked for."""
    if not {"-h", "--help"} & set(words) or catalog.origin("unweave.methods", name) is not None:
        return None
    told = _output.told_of_methods()
    if name not in told["methods"]:  # one method around another
        return None
    from unweave.cli._stand_ins import StandIns

    return StandIns(told["classes"]).named(told["methods"][name]["settings"])
