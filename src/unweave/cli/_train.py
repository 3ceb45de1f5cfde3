"""unweave train METHOD --data DATA"""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import tyro

from unweave import catalog
from unweave.cli import _output
from unweave.cli._parse import parse, take_name, take_option
from unweave.data import DataOptions, load_data
from unweave.devices import Precision
from unweave.methods import Method, method_named
from unweave.networks import architecture_named
from unweave.runs.config import Machine, Train

M = TypeVar("M", bound=Method)
A = TypeVar("A")
USAGE = "unweave train METHOD --data DATA"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What any training takes."""

    data: str
    """Name of a data set, NAME:PATH of an original file, a folder of images, or an array file."""
    out: str | None = None
    """Folder of the run; by default a readable name under runs/."""
    steps: int = 20_000
    """How many steps to train."""
    batch_size: int = 64
    """Images in a step."""
    seed: int = 0
    """Decides weights, batches and noise; the same seed gives the same numbers."""
    validation: float = 0.0
    """Share of the images held out of training and used for the diagnostics."""
    precision: Precision = "float32"
    """Number format of the forward pass."""
    silence: float = 0.0
    """At the end, silence latents whose KL lies less than this many nats above the least
    possible (0.1 suits); 0 for none. `unweave silence RUN --undo` takes it back."""
    no_evaluation: bool = False
    """Leave the scores at the end out."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()
    machine: Annotated[Machine, tyro.conf.arg(name="")] = Machine()


@dataclass(frozen=True, kw_only=True)
class WithMethod(Settings, Generic[M]):
    method: M


@dataclass(frozen=True, kw_only=True)
class WithArchitecture(WithMethod[M], Generic[M, A]):
    architecture: A


def run(words: list[str]) -> int:
    methods = catalog.names("unweave.methods")
    name = take_name(words, methods, "method", USAGE)
    if name is None:
        _output.say(f"usage: {USAGE} [flags]\n\n`unweave train METHOD --help` explains its flags.")
        _output.say_methods()
        return 0
    method = method_named(name)
    chosen = take_option(words, "--architecture")
    modules = [catalog.load("unweave.methods", part, "method") for part in name.split("+")]
    description = "\n\n".join((module.__doc__ or "").strip() for module in modules)
    kind: Any = WithMethod[method]  # type: ignore[valid-type]
    if chosen is not None:
        architecture = architecture_named(chosen)
        kind = WithArchitecture[method, architecture]  # type: ignore[valid-type]
    else:
        known = ", ".join(catalog.names("unweave.networks"))
        description += f"\n\n--architecture NAME chooses the networks: {known}."
    flags = parse(kind, words, f"train {name}", description)
    config = Train(
        method=flags.method,
        architecture=getattr(flags, "architecture", None),
        data=flags.data,
        data_options=flags.options,
        steps=flags.steps,
        batch_size=flags.batch_size,
        seed=flags.seed,
        validation=flags.validation,
        precision=flags.precision,
        silence=flags.silence,
    )
    from unweave import workflows

    data = load_data(config.data, config.data_options)
    trained = workflows.train_config(
        config, data, flags.out, flags.machine, evaluate=not flags.no_evaluation
    )
    _output.say_run(trained)
    return 0
