"""An end before the end: a run that no longer gets better is stopped."""

from typing import Any

from unweave.process import ask_to_stop
from unweave.runs.run import Run
from unweave.training.loop import Watcher

LEAST_GAIN = 1e-3
"""Share of the best value by which a later one must be better to count as progress."""


class Plateau(Watcher):
    """Asks the loop to stop once the evidence bound has not risen for some evaluations.

    Of methods without a bound it is the error of reconstructions. A method that has neither is
    never stopped, and is said so.
    """

    def __init__(self, patience: int):
        self.patience = patience
        self.reached: int | None = None
        """The step at which it asked."""
        self._best: float | None = None
        self._waited = 0

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        value = _height(diagnostics)
        if value is None or self.reached is not None or step >= run.config.steps:
            return
        if self._best is None or value > self._best + LEAST_GAIN * abs(self._best):
            self._best, self._waited = value, 0
            return
        self._waited += 1
        if self._waited >= self.patience:
            self.reached = step
            ask_to_stop()


def _height(diagnostics: dict[str, Any]) -> float | None:
    if "elbo" in diagnostics:
        return float(diagnostics["elbo"])
    if "reconstruction" in diagnostics:
        return -float(diagnostics["reconstruction"])
    return None
