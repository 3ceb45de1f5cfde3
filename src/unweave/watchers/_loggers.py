"""Curves for other programs: TensorBoard, MLflow, Weights & Biases, through one interface.

A logger takes numbers by name and a step. The run folder keeps everything anyway; what a logger
is sent is a copy.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from unweave import catalog
from unweave.errors import ConfigError
from unweave.files.json_files import read_json
from unweave.files.writing import write_atomically
from unweave.runs.config import named
from unweave.runs.run import Run
from unweave.settings.machine import LOGGERS
from unweave.settings.plain import flat, to_plain
from unweave.training.loop import Watcher

PROJECT = "unweave"
"""Experiment or project, unless the program's own variable of the environment names another."""


NUMBERS = "loggers.json"
"""File of the run folder with what loggers call the run."""


class Logger(Protocol):
    """Where numbers go."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Take numbers by name, of one step."""

    def close(self) -> None:
        """Take no more: the run has ended, whichever way."""


Begin = Callable[[Run, int], Logger]


class Logging(Watcher):
    """Gives a logger the terms of the losses and the diagnostics of a run."""

    def __init__(self, begin: Begin):
        """`begin` makes the logger of a run that starts, or goes on, at a step."""
        self.begin = begin
        self.logger: Logger | None = None

    def started(self, run: Run, first_step: int) -> None:
        self.logger = self.begin(run, first_step)

    def recorded(self, step: int, terms: dict[str, float]) -> None:
        self._log({f"terms/{name}": value for name, value in terms.items()}, step)

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        values: dict[str, float] = {}
        for name, value in diagnostics.items():
            if isinstance(value, int | float):
                values[f"diagnostics/{name}"] = value
            elif name == "kl_per_dimension":
                values |= {f"kl/z{latent}": kl for latent, kl in enumerate(value)}
        self._log(values, step)

    def stopped(self) -> None:
        if self.logger is not None:
            self.logger.close()
            self.logger = None

    def _log(self, values: dict[str, float], step: int) -> None:
        if self.logger is not None and values:
            self.logger.log(values, step)


def logging_to(name: str) -> Logging:
    """Return the watcher of a logger; one whose package is missing is refused now, not later."""
    catalog.check_name(name, LOGGERS, "logger")
    begin: Begin = {"tensorboard": _tensorboard, "mlflow": _mlflow, "wandb": _wandb}[name]()
    return Logging(begin)


def _missing(name: str, package: str) -> ConfigError:
    return ConfigError(f"--log {name} needs {package}: pip install 'unweave[{name}]'")


def facts_of(run: Run) -> dict[str, Any]:
    """Return the settings of a run by path, as loggers show them beside its curves."""
    plain = to_plain(run.config) | {"method": named(run.config.method)}
    if run.config.architecture is not None:
        plain["architecture"] = named(run.config.architecture)
    return flat(plain)


def number_of(run: Run, logger: str, first_step: int) -> str | None:
    """Return what a logger called this run before, if it goes on."""
    file = run.path / NUMBERS
    if first_step == 0 or not file.is_file():
        return None
    content = read_json(file)
    found = content.get(logger) if isinstance(content, dict) else None
    return found if isinstance(found, str) else None


def keep_number(run: Run, logger: str, number: str) -> None:
    """Note what a logger calls this run, so that its curves go on when the run does."""
    file = run.path / NUMBERS
    content = read_json(file) if file.is_file() else {}
    before = content if isinstance(content, dict) else {}
    write_atomically(file, json.dumps(before | {logger: number}) + "\n")


def _tensorboard() -> Begin:
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        raise _missing("tensorboard", "tensorboardX") from None

    class TensorBoard:
        """Event files in the run folder."""

        def __init__(self, run: Run, first_step: int):
            self.writer = SummaryWriter(str(run.path / "tensorboard"), purge_step=first_step)

        def log(self, values: Mapping[str, float], step: int) -> None:
            for name, value in values.items():
                self.writer.add_scalar(name, value, step)

        def close(self) -> None:
            self.writer.close()

    return TensorBoard


def _mlflow() -> Begin:
    try:
        import mlflow
    except ImportError:
        raise _missing("mlflow", "mlflow") from None

    class MLflow:
        """A run of MLflow, where its tracking address says: by default a folder here."""

        def __init__(self, run: Run, first_step: int):
            mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT))
            before = number_of(run, "mlflow", first_step)
            if before is not None:
                mlflow.start_run(run_id=before)
            else:
                begun = mlflow.start_run(run_name=run.name)
                mlflow.log_params(facts_of(run))
                keep_number(run, "mlflow", begun.info.run_id)

        def log(self, values: Mapping[str, float], step: int) -> None:
            mlflow.log_metrics(dict(values), step=step)

        def close(self) -> None:
            mlflow.end_run()

    return MLflow


def _wandb() -> Begin:
    try:
        import wandb
    except ImportError:
        raise _missing("wandb", "wandb") from None

    class WandB:
        """A run of Weights & Biases; WANDB_MODE=offline keeps it on this machine."""

        def __init__(self, run: Run, first_step: int):
            self.run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT),
                name=run.name,
                id=number_of(run, "wandb", first_step),
                resume="allow",
                dir=str(run.path),
                config=facts_of(run),
            )
            keep_number(run, "wandb", self.run.id)

        def log(self, values: Mapping[str, float], step: int) -> None:
            self.run.log(dict(values), step=step)

        def close(self) -> None:
            self.run.finish()

    return WandB
