"""What looks on while a run trains: progress on screen, pictures, the time, TensorBoard."""

import logging
import time
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from unweave.errors import ConfigError, DataError
from unweave.figures import prior_samples, reconstructions, traversals
from unweave.runs.effort import (
    Sitting,
    core_count,
    processor_name,
    read_sittings,
    write_sittings,
)
from unweave.runs.run import Run
from unweave.training.loop import Watcher

log = logging.getLogger(__name__)


class Rate(ProgressColumn):
    """Images per second."""

    def __init__(self, batch_size: int):
        super().__init__()
        self.batch_size = batch_size

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed * self.batch_size:,.0f} images/s" if speed else "")


class ProgressBar(Watcher):
    """A bar with rate, time left and loss terms; plain lines where there is no terminal."""

    def __init__(self, console: Console | None = None):
        self.console = console or Console(stderr=True)
        self.progress: Progress | None = None

    def started(self, run: Run, first_step: int) -> None:
        self.steps, self.batch_size = run.config.steps, run.config.batch_size
        self.began, self.first_step = time.monotonic(), first_step
        if self.console.is_terminal:
            self.progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.completed:,.0f}/{task.total:,.0f} steps"),
                Rate(self.batch_size),
                TimeRemainingColumn(compact=True, elapsed_when_finished=True),
                TextColumn("{task.fields[terms]}"),
                console=self.console,
                speed_estimate_period=10,
            )
            self.task = self.progress.add_task(
                "training", total=self.steps, completed=first_step, terms=""
            )
            self.progress.start()

    def stepped(self, step: int) -> None:
        if self.progress is not None:
            self.progress.update(self.task, completed=step)

    def recorded(self, step: int, terms: dict[str, float]) -> None:
        if self.progress is not None:
            self.progress.update(self.task, terms=_in_words(terms))
        self.terms = terms

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        if self.progress is None:
            seconds = max(time.monotonic() - self.began, 1e-9)
            rate = (step - self.first_step) / seconds
            left = (self.steps - step) / rate if rate else 0
            self.console.print(
                f"step {step:,}/{self.steps:,}  {rate * self.batch_size:,.0f} images/s  "
                f"{left:,.0f} s left  {_in_words(getattr(self, 'terms', {}))}",
                soft_wrap=True,
                highlight=False,
            )

    def told(self, message: str) -> None:
        self.console.print(message, soft_wrap=True, highlight=False)

    def warned(self, message: str) -> None:
        self.console.print(f"warning: {message}", soft_wrap=True, highlight=False)

    def stopped(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None


def _in_words(terms: dict[str, float]) -> str:
    shown = {name: value for name, value in terms.items() if name != "loss"} or terms
    return "  ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in shown.items())


class Effort(Watcher):
    """Keeps how long training took and on what, for the report."""

    def started(self, run: Run, first_step: int) -> None:
        self.run, self.first_step = run, first_step
        self.began, self.cpu_began = time.monotonic(), time.process_time()
        self.step = first_step
        try:
            self.before = read_sittings(run.path)
        except DataError as error:
            log.warning("%s; it is written anew", error)
            self.before = []

    def stepped(self, step: int) -> None:
        self.step = step

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        write_sittings(run.path, [*self.before, self._sitting()])

    def stopped(self) -> None:
        try:
            write_sittings(self.run.path, [*self.before, self._sitting()])
        except OSError as error:  # what stopped the run, a full disk for instance, matters more
            log.warning("how long the run took is not kept: %s", error)

    def _sitting(self) -> Sitting:
        return Sitting(
            self.first_step,
            self.step,
            round(time.monotonic() - self.began, 2),
            round(time.process_time() - self.cpu_began, 2),
            processor_name(),
            core_count(),
            torch.get_num_threads(),
            self.run.device.type,
        )


class Pictures(Watcher):
    """Traversals and reconstructions at every evaluation, so that progress can be seen."""

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        if not run.code.decodes:
            return
        folder = run.path / "figures" / "training"
        folder.mkdir(parents=True, exist_ok=True)
        traversals(run).save(folder / f"traversals-{step:07d}.png")
        if run.code.source == "images":
            reconstructions(run).save(folder / f"reconstructions-{step:07d}.png")
        else:
            prior_samples(run).save(folder / f"prior_samples-{step:07d}.png")


class TensorBoard(Watcher):
    """Event files for TensorBoard in the run folder."""

    def __init__(self) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ConfigError(
                "--tensorboard needs tensorboardX: pip install 'unweave[tensorboard]'"
            ) from None
        self.make_writer = SummaryWriter
        self.writer: Any = None

    def started(self, run: Run, first_step: int) -> None:
        self.writer = self.make_writer(str(run.path / "tensorboard"), purge_step=first_step)

    def recorded(self, step: int, terms: dict[str, float]) -> None:
        for name, value in terms.items():
            self.writer.add_scalar(f"terms/{name}", value, step)

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        for name, value in diagnostics.items():
            if isinstance(value, (int, float)):
                self.writer.add_scalar(f"diagnostics/{name}", value, step)
            elif name == "kl_per_dimension":
                for dimension, kl in enumerate(value):
                    self.writer.add_scalar(f"kl/z{dimension}", kl, step)

    def stopped(self) -> None:
        if self.writer is not None:
            self.writer.close()
