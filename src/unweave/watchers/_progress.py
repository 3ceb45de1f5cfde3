"""Progress on the screen, with the time that is left."""

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from unweave.pages.words import duration
from unweave.runs.run import Run
from unweave.training.loop import Watcher

FIRST_WORD = 1.0  # seconds after which the time is estimated where there is no terminal
WIDEST_LINE = 120  # characters, where there is no terminal
BAR = 16
BESIDE_TERMS = 66  # characters of a line on a terminal before the terms of the loss


class Pace:
    """How long steps take. The first is left out once there are others: it warms things up."""

    def __init__(self, steps: int, first_step: int):
        self.steps, self.first_step = steps, first_step
        self.began = time.monotonic()
        self.after_first: float | None = None
        self.step = first_step

    def stepped(self, step: int) -> None:
        if self.after_first is None:
            self.after_first = time.monotonic()
        self.step = step

    def per_second(self) -> float | None:
        """Return steps in a second; None before the first has ended."""
        if self.after_first is None:
            return None
        done, since = self.step - self.first_step - 1, self.after_first
        if done == 0:
            done, since = 1, self.began
        return done / max(time.monotonic() - since, 1e-9)

    def left(self) -> float | None:
        """Return the seconds that are left."""
        rate = self.per_second()
        return None if rate is None else (self.steps - self.step) / rate


class Left(ProgressColumn):
    """Images per second and the time that is left, from the first step on."""

    max_refresh = 0.5

    def __init__(self, pace: Pace, batch_size: int):
        super().__init__()
        self.pace, self.batch_size = pace, batch_size

    def render(self, task: Task) -> Text:
        rate, left = self.pace.per_second(), self.pace.left()
        if rate is None or left is None:
            return Text("estimating the time")
        return Text(f"{rate * self.batch_size:,.0f} images/s  {duration(left)} left")


class ProgressBar(Watcher):
    """A bar with rate, time left and loss terms in one line; plain lines without a terminal."""

    def __init__(self, console: Console | None = None):
        self.console = console or Console(stderr=True)
        self.progress: Progress | None = None

    def started(self, run: Run, first_step: int) -> None:
        self.steps, self.batch_size = run.config.steps, run.config.batch_size
        self.pace = Pace(self.steps, first_step)
        self.terms: dict[str, float] = {}
        self.makes_steps = bool(run.config.method.players)
        self.estimated = False
        if self.console.is_terminal and self.makes_steps:
            self.progress = Progress(
                BarColumn(bar_width=BAR),
                TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
                Left(self.pace, self.batch_size),
                TextColumn("{task.fields[terms]}"),
                console=self.console,
            )
            self.task = self.progress.add_task(
                "training", total=self.steps, completed=first_step, terms=""
            )
            self.progress.start()

    def stepped(self, step: int) -> None:
        self.pace.stepped(step)
        if self.progress is not None:
            self.progress.update(self.task, completed=step)
        elif not self.estimated and time.monotonic() - self.pace.began > FIRST_WORD:
            self.estimated = True
            rate, left = self.pace.per_second(), self.pace.left()
            assert rate is not None
            assert left is not None
            if left > FIRST_WORD:
                self._say(
                    f"{self.steps - step:,} steps will take about {duration(left)} "
                    f"({rate:,.1f} steps/s)"
                )

    def recorded(self, step: int, terms: dict[str, float]) -> None:
        self.terms = terms
        if self.progress is not None:
            room = self.console.width - BESIDE_TERMS
            self.progress.update(self.task, terms=_in_line(terms, room))

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        if self.progress is not None:
            return
        if not self.makes_steps:  # fitted at once, as PCA is
            seconds = time.monotonic() - self.pace.began
            return self._say(f"fitted and evaluated in {duration(seconds)}; no steps to make")
        rate, left = self.pace.per_second() or 0.0, self.pace.left() or 0.0
        line = (
            f"step {step:,}/{self.steps:,}  {rate * self.batch_size:,.0f} images/s  "
            f"{duration(left)} left  "
        )
        self._say(line + _in_line(self.terms, WIDEST_LINE - len(line)))

    def told(self, message: str) -> None:
        self._say(message)

    def warned(self, message: str) -> None:
        self._say(f"warning: {message}")

    def stopped(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _say(self, line: str) -> None:
        self.console.print(line, soft_wrap=True, highlight=False)


def _in_line(terms: dict[str, float], room: int) -> str:
    """Return as many terms, from the first on, as have room."""
    shown = {name: value for name, value in terms.items() if name != "loss"} or terms
    line = ""
    for name, value in shown.items():
        longer = f"{line}  {name.replace('_', ' ')} {value:.4g}".lstrip()
        if len(longer) > room:
            break
        line = longer
    return line
