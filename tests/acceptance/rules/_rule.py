"""What a rule is: a claim about a method that broken versions of it must not satisfy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

METHOD = "the method"
SEEDS = (11, 12, 13)
"""Seeds that rules are judged on. Settings and bounds were chosen on seeds 0 to 2."""


@dataclass(frozen=True)
class Finding:
    """What one arm showed with one seed."""

    numbers: Mapping[str, float]
    look: Mapping[str, np.ndarray] = field(default_factory=dict)
    """What its picture shows: `images` (row, column, height, width), or `points` (point, 2) with
    a `color` each, or `lines` (line, place)."""


Measure = Callable[[int], Finding]
"""From a seed to what was found."""
Columns = Mapping[str, np.ndarray]
"""Numbers by name, one for each seed."""
Checks = dict[str, bool]
"""Each part of a claim, and whether it holds."""


@dataclass(frozen=True)
class Rule:
    """A claim, whom it is held against, and who must not pass."""

    covers: tuple[str, ...]
    """The methods of the catalog it speaks of."""
    claim: str
    method: Measure
    saboteurs: Mapping[str, Measure]
    """The method broken in ways that the rule is there to notice, by what was broken."""
    checks: Callable[[Columns, Mapping[str, Columns]], Checks]
    """The parts of the claim, of one arm's numbers and of those of the references."""
    references: Mapping[str, Measure] = field(default_factory=dict)
    """What the claim compares with: other methods, which are not judged."""
    told: Mapping[str, Measure] = field(default_factory=dict)
    """What the page reports besides, without judging it."""
    picture: str = ""
    """What the picture shows, in a sentence."""

    @property
    def judged(self) -> dict[str, Measure]:
        """Return the method and its saboteurs."""
        return {METHOD: self.method, **self.saboteurs}

    @property
    def arms(self) -> dict[str, Measure]:
        """Return all that has to be measured."""
        return {**self.judged, **self.references, **self.told}


@dataclass(frozen=True)
class Verdict:
    """The checks of the method and of each saboteur."""

    checks: Mapping[str, Checks]

    @property
    def method_passes(self) -> bool:
        return all(self.checks[METHOD].values())

    @property
    def passing_saboteurs(self) -> list[str]:
        """List the saboteurs that pass, each of which makes the rule worthless."""
        return [
            name for name, parts in self.checks.items() if name != METHOD and all(parts.values())
        ]

    @property
    def met(self) -> bool:
        """Whether the method passes and no saboteur does."""
        return self.method_passes and not self.passing_saboteurs

    def __str__(self) -> str:
        if not self.method_passes:
            failed = [part for part, holds in self.checks[METHOD].items() if not holds]
            return f"the method fails: {'; '.join(failed)}"
        if self.passing_saboteurs:
            return f"passed by a broken method: {'; '.join(self.passing_saboteurs)}"
        return "met"


def judge(rule: Rule, found: Mapping[str, Columns]) -> Verdict:
    """Hold the method and each of its saboteurs to the same checks."""
    references = {name: found[name] for name in rule.references}
    return Verdict({name: rule.checks(found[name], references) for name in rule.judged})


def columns(findings: list[Mapping[str, float]]) -> dict[str, np.ndarray]:
    """Turn the numbers of several seeds into one column for each name."""
    return {name: np.array([each[name] for each in findings]) for name in findings[0]}
