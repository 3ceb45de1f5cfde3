"""What a rule is: a claim about a method that broken versions of it must not satisfy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

METHOD = "the method"
SEEDS = (11, 12, 13)
"""Seeds that rules are judged on. Settings and bounds were chosen on seeds 0 to 2."""
FRESH_SEEDS = (21, 22, 23)
"""Seeds that nobody had seen, for rules that were changed in view of what `SEEDS` showed; one that
is changed once more takes others."""


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
    reformed: str = ""
    """What was seen on seeds it was judged on, and what was changed after that; a sentence."""
    seeds: tuple[int, ...] = SEEDS
    """Those it is judged on: other ones than those that a reform had seen."""

    @property
    def seen(self) -> bool:
        """Whether it is judged on seeds that its reform had seen."""
        return bool(self.reformed) and bool(set(self.seeds) & set(SEEDS))

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
    """Over all seeds."""
    alone: Mapping[str, tuple[Checks, ...]]
    """The same, held against each seed by itself."""

    @property
    def method_passes(self) -> bool:
        return all(self.checks[METHOD].values())

    @property
    def passing_saboteurs(self) -> list[str]:
        """List the saboteurs that pass, each of which makes the rule worthless."""
        return [arm for arm in self.checks if arm != METHOD and not self.fails(arm)]

    @property
    def met(self) -> bool:
        """Whether the method passes and no saboteur does."""
        return self.method_passes and not self.passing_saboteurs

    def fails(self, arm: str) -> bool:
        """Whether an arm fails over all seeds and on most of them alone.

        A check of the worst seed is failed by one bad draw: of a broken method that is no evidence
        that anybody would notice.
        """
        return not all(self.checks[arm].values()) and 2 * self.failing(arm) > len(self.alone[arm])

    def failing(self, arm: str) -> int:
        """Count the seeds on which an arm fails by itself."""
        return sum(not all(parts.values()) for parts in self.alone[arm])

    def __str__(self) -> str:
        said = []
        if not self.method_passes:
            failed = [part for part, holds in self.checks[METHOD].items() if not holds]
            said.append(f"the method fails: {'; '.join(failed)}")
        if self.passing_saboteurs:
            said.append(f"passed by a broken method: {'; '.join(self.passing_saboteurs)}")
        return ", and ".join(said) or "met"


def judge(rule: Rule, found: Mapping[str, Columns]) -> Verdict:
    """Hold the method and each of its saboteurs to the same checks, over all seeds and alone."""

    def held(found: Mapping[str, Columns]) -> dict[str, Checks]:
        references = {name: found[name] for name in rule.references}
        return {name: rule.checks(found[name], references) for name in rule.judged}

    def only(index: int, of: Columns) -> Columns:
        return {name: column[index : index + 1] for name, column in of.items()}

    count = len(next(iter(found[METHOD].values())))
    alone = [held({arm: only(i, of) for arm, of in found.items()}) for i in range(count)]
    return Verdict(held(found), {arm: tuple(each[arm] for each in alone) for arm in rule.judged})


def columns(findings: list[Mapping[str, float]]) -> dict[str, np.ndarray]:
    """Turn the numbers of several seeds into one column for each name."""
    return {name: np.array([each[name] for each in findings]) for name in findings[0]}
