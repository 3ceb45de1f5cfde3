"""What a reader of scores must know that no metric sees by itself.

Factors that depend on each other, codes that say nothing, names that a protocol goes by, rows
that were not looked at. Each is a line on the scores that it is about, so that it goes wherever
they go.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from unweave.evaluation.plan import module_of
from unweave.metrics import Score, factor_dependence
from unweave.tables import FactorTable

LEAST_DEPENDENCE = 0.01
"""Normalised information of two factors that is worth a note."""


def on_dependence(factors: FactorTable) -> str | None:
    """Name the pairs of factors that depend on each other, with their normalised information."""
    found = factor_dependence(factors)
    pairs = [
        (found.normalised[i, j], f"{factors.names[i]} and {factors.names[j]}")
        for i in range(len(factors.names))
        for j in range(i)
        if found.certain[i, j] and found.normalised[i, j] >= LEAST_DEPENDENCE
    ]
    if not pairs:
        return None
    words = ", ".join(f"{names} {share:.3f}" for share, names in sorted(pairs, reverse=True)[:6])
    more = f" and {len(pairs) - 6} more pairs" if len(pairs) > 6 else ""
    return (
        f"factors depend on each other (information over entropy: {words}{more}): a code of one "
        "knows of the other, so gaps and modularity cannot reach 1; dmig takes account of it"
    )


def of_metric(result: Score) -> tuple[str, ...]:
    """Return what is to be said of a score by its details."""
    if result.metric == "modularity" and result.protocol == "locatello2019":
        return _on_dead_codes(result.details)
    if result.metric == "sap" and result.protocol == "lin2020":
        return _on_shapes(result.details)
    return ()


def _on_dead_codes(details: dict[str, Any]) -> tuple[str, ...]:
    informed = np.asarray(details.get("informed_codes", ()), dtype=bool)
    dead = int((~informed).sum())
    if not dead or dead == len(informed):
        return ()
    others = float(np.asarray(details["modularity_per_code"])[informed].mean())
    return (
        f"{dead} of {len(informed)} codes know nothing of any factor"
        f" ({'each counts' if dead > 1 else 'it counts'} 0 under locatello2019); "
        f"the mean over the others is {others:.3f}",
    )


def _on_shapes(details: dict[str, Any]) -> tuple[str, ...]:
    by_correlation = np.asarray(details.get("by_regression", ()), dtype=bool)
    if not len(by_correlation) or not by_correlation.all():
        return ()
    return (
        "no factor is called 'shape', so every factor counts as an amount; the table of lin2020 "
        "has machines for classes without order, which sap(…, unordered=[NAME]) names",
    )


def on_rows(result: Score, rows: int, every: int) -> tuple[str, ...]:
    """Say where a protocol that takes all rows was given some of them."""
    takes_all = getattr(module_of(result.metric), "ALL_ROWS", ())
    if result.protocol not in takes_all or rows >= every:
        return ()
    return (f"{rows:,} of {every:,} rows were encoded, and {result.protocol} takes all there are",)


def on_drawn(nulls: int, declared: bool) -> tuple[str, ...]:
    """Say what was asked for and has no part in a score that draws images itself."""
    told = []
    if nulls:
        told.append(
            "no nulls: they are made of rows, and sampler='paper' (--sampler paper) draws images; "
            "score without it for nulls"
        )
    if declared:
        told.append(
            "images were drawn by the values of factors, so that which are continuous had no part"
        )
    return tuple(told)


def with_notes(result: Score, notes: Iterable[str]) -> Score:
    """Return a score that says this as well."""
    return replace(result, notes=tuple(dict.fromkeys((*result.notes, *notes))))
