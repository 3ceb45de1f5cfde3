"""What varies over the steps of a run: a pure function of the step."""

import math
from dataclasses import dataclass

from unweave.errors import ConfigError


@dataclass(frozen=True)
class Schedule:
    """A straight line from `start` to `end` over `steps` steps, then flat."""

    start: float
    end: float
    steps: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)) or self.steps < 0:
            raise ConfigError(
                f"a schedule needs finite numbers and steps of 0 or more, found {self}"
            )

    def at(self, step: int) -> float:
        """Return the value at a step, counted from 0."""
        if step >= self.steps:
            return self.end
        return self.start + (self.end - self.start) * step / self.steps

    def __str__(self) -> str:
        if self.start == self.end or self.steps == 0:
            return f"{self.end:g}"
        return f"{self.start:g}:{self.end:g}:{self.steps}"

    def times(self, factor: float) -> "Schedule":
        """Return the schedule of the product with a constant."""
        return Schedule(self.start * factor, self.end * factor, self.steps)

    @staticmethod
    def parse(text: "str | float | Schedule") -> "Schedule":
        """Read `6`, or `0:6:10000`: from 0 to 6 over 10,000 steps."""
        if isinstance(text, Schedule):
            return text
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            return constant(float(text))
        try:
            parts = str(text).split(":")
            if len(parts) == 1:
                return constant(float(parts[0]))
            start, end, steps = parts
            return Schedule(float(start), float(end), int(steps))
        except (ValueError, OverflowError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                f"expected a number or START:END:STEPS such as 0:4:10000, found {text!r}"
            ) from None


def constant(value: float) -> Schedule:
    """Return the schedule that never changes."""
    return Schedule(value, value)
