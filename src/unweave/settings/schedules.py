"""What varies over the steps of a run: a pure function of the step."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from unweave.errors import ConfigError

Curve = Literal["line", "geometric"]
GEOMETRIC = "geometric"  # the word at the end of a schedule's text


@dataclass(frozen=True)
class Schedule:
    """`start` for `wait` steps, then to `end` over `steps` steps, then flat.

    Along a straight line, or by the same factor in every step (`geometric`).
    """

    start: float
    end: float
    steps: int = 0
    wait: int = 0
    curve: Curve = "line"

    def __post_init__(self) -> None:
        finite = math.isfinite(self.start) and math.isfinite(self.end)
        if not finite or self.steps < 0 or self.wait < 0:
            raise ConfigError(
                f"a schedule needs finite numbers and steps of 0 or more, found {self}"
            )
        if self.curve == GEOMETRIC and self.start * self.end <= 0:
            raise ConfigError(
                f"a geometric schedule needs start and end of one sign and none 0, found {self}"
            )

    if TYPE_CHECKING:
        # What methods do with their fields: a number or text may be given for a schedule. To a
        # type checker a field with __set__ takes that value's type and has that of __get__.
        def __get__(self, owner: object, kind: type) -> "Schedule": ...
        def __set__(self, owner: object, value: "Schedule | float | str") -> None: ...

    def at(self, step: int) -> float:
        """Return the value at a step, counted from 0."""
        gone = step - self.wait
        if gone >= self.steps:
            return self.end
        if gone <= 0:
            return self.start
        if self.curve == GEOMETRIC:
            return self.start * math.exp(math.log(self.end / self.start) * gone / self.steps)
        return self.start + (self.end - self.start) * gone / self.steps

    def __str__(self) -> str:
        if self.start == self.end or self.steps == self.wait == 0:
            return f"{self.end:g}"
        ramp = f"{self.start:g}:{self.end:g}:{self.steps}"
        ramp = f"{ramp}:{self.wait}" if self.wait else ramp
        return ramp if self.curve == "line" else f"{ramp}:{GEOMETRIC}"

    def times(self, factor: float) -> "Schedule":
        """Return the schedule of the product with a constant."""
        if factor == 0:
            return constant(0.0)  # which no geometric one can be
        return replace(self, start=self.start * factor, end=self.end * factor)

    @staticmethod
    def parse(text: "str | float | Schedule") -> "Schedule":
        """Read `6`; `0:6:10000`: from 0 to 6 over 10,000 steps; `0:6:10000:500`: after 500.

        With `:geometric` at the end, as in `100:1:5000:geometric`, by equal factors.
        """
        if isinstance(text, Schedule):
            return text
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            return constant(float(text))
        try:
            parts = str(text).split(":")
            if len(parts) == 1:
                return constant(float(parts[0]))
            curve: Curve = "line"
            if parts[-1].strip() == GEOMETRIC:
                curve = parts.pop()  # type: ignore[assignment]
            start, end, steps, *wait = parts
            if len(wait) > 1:
                raise ValueError
            numbers = float(start), float(end), int(steps), int(wait[0]) if wait else 0
            return Schedule(*numbers, curve=curve)
        except (ValueError, OverflowError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                "expected a number or START:END:STEPS such as 0:4:10000 (and :WAIT, the steps "
                f"before it begins; :geometric at the end for equal factors), found {text!r}"
            ) from None


def constant(value: float) -> Schedule:
    """Return the schedule that never changes."""
    return Schedule(value, value)
