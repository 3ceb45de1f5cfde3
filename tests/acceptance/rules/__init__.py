"""The rules of acceptance, one file for each; a file without underscore has a RULE."""

import importlib
import pkgutil
from pathlib import Path
from typing import Any

from rules._keeping import Kept, digest_of
from rules._rule import FRESH_SEEDS, METHOD, SEEDS, Finding, Rule, Verdict, columns, judge

__all__ = [
    "FRESH_SEEDS",
    "METHOD",
    "SEEDS",
    "Finding",
    "Kept",
    "Rule",
    "Verdict",
    "digest_of",
    "is_current",
    "measure",
    "named",
    "names",
    "verdict_of_kept",
]


def names() -> list[str]:
    """List the rules."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def named(name: str) -> Rule:
    """Return a rule."""
    rule = importlib.import_module(f"rules.{name}").RULE
    assert isinstance(rule, Rule)
    return rule


def measure(name: str) -> Verdict:
    """Measure what is not kept yet of a rule, and judge it."""
    rule, kept = named(name), Kept(name)
    found = {
        arm: columns([kept.measured(arm, how, seed)["numbers"] for seed in rule.seeds])
        for arm, how in rule.arms.items()
    }
    return judge(rule, found)


def verdict_of_kept(name: str) -> tuple[Verdict | None, dict[str, list[dict[str, Any]]]]:
    """Return the verdict if all that it needs is kept, and what is kept, by arm.

    What is kept may be older than the code: `is_current` tells.
    """
    rule, kept = named(name), Kept(name)
    found: dict[str, list[dict[str, Any]]] = {}
    for arm in rule.arms:
        results = [kept.read(arm, seed) for seed in rule.seeds]
        if all(result is not None for result in results):
            found[arm] = [result for result in results if result is not None]
    if set(found) != set(rule.arms):
        return None, found
    numbers = {arm: columns([each["numbers"] for each in of]) for arm, of in found.items()}
    return judge(rule, numbers), found


def is_current(name: str, found: dict[str, list[dict[str, Any]]]) -> bool:
    """Whether all that was found was measured by the code as it is."""
    code = Kept(name).code
    return all(each["code"] == code for of in found.values() for each in of)
