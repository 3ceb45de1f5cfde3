"""Measure what units, an outlier, rows and nulls do to every metric, for docs/metrics.md.

    python benchmarks/metric_conditions.py [--print]

Codes are five factors with noise (`noisy_0.3`), of 3, 4, 5, 4 and 4 values. Every score is made
again of the same codes in other units, with one row moved a hundred times as far out, of a fifth
of the rows, of codes that were turned at random, and with factors of other rows. Where a
condition makes no sense for a metric there is a dash. About half a minute of a core.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "metrics"))

from representations import representation  # noqa: E402

from marked_pages import renew  # noqa: E402
from unweave import catalog, metrics  # noqa: E402
from unweave.errors import DataError  # noqa: E402
from unweave.evaluation.nulls import rotated  # noqa: E402
from unweave.evaluation.score import score  # noqa: E402

ROWS, FEWER_ROWS = 1_500, 300
UNITS = np.array([0.001, 1.0, 1_000.0, 0.03, 30.0])
DEVIATION = 0.3


@dataclass(frozen=True)
class Given:
    """What metrics are given: codes with their deviations, factors, the unit of each code."""

    codes: NDArray[np.float64]
    factors: NDArray[np.int64]
    units: NDArray[np.float64]


def score_of(name: str, given: Given) -> float:
    """Return one metric of codes, in the way that it takes them."""
    if name in OTHERWISE:
        return OTHERWISE[name](given)
    logvar = np.log((DEVIATION * given.units) ** 2) * np.ones_like(given.codes)
    found = score(
        given.codes, given.factors, [name], preset="fast", posterior=(given.codes, logvar)
    )
    if name in found.reasons:
        raise DataError(found.reasons[name])
    return found[name].value


def of_blocks(given: Given) -> float:
    """Take the first two codes for the block of the first two factors."""
    return metrics.block_r2(
        given.codes,
        given.factors,
        blocks=[0, 0, 1, 1, 1],
        content=("factor_0", "factor_1"),
        train_rows=600,
        test_rows=300,
    ).value


def of_two_models(given: Given) -> float:
    """Compare with a model that has the same codes in another order, with noise of its own."""
    rng = np.random.default_rng(1)
    noise = 0.3 * rng.standard_normal(given.codes.shape) * given.codes.std(axis=0)
    return metrics.udr([given.codes, (given.codes + noise)[:, ::-1]]).value


def of_a_generator(given: Given) -> float:
    """Let images be a bent function of the codes, whatever their unit."""
    mixing = np.random.default_rng(2).standard_normal((5, 12))
    return metrics.path_length(
        lambda codes: np.tanh(codes / given.units @ mixing), given.codes, paths=500
    ).value


def of_traversals(given: Given) -> float:
    """Take the first code, sorted, for an attribute along traversals of ten places."""
    count = len(given.codes) // 10
    return metrics.traversal_smoothness(
        np.sort(given.codes[: count * 10, 0].reshape(count, 10), axis=1) / given.units[0]
    ).value


OTHERWISE: dict[str, Callable[[Given], float]] = {
    "block_r2": of_blocks,
    "udr": of_two_models,
    "path_length": of_a_generator,
    "traversal_smoothness": of_traversals,
}
WITHOUT_FACTORS = (
    "gaussian_total_correlation",
    "kl_decomposition",
    "path_length",
    "traversal_smoothness",
    "udr",
)
WITHOUT_TURNS = ("kl_decomposition", "mig_sampled", "path_length", "traversal_smoothness")


def conditions(given: Given) -> dict[str, Given]:
    """Return what is scored, by the head of its column."""
    outlier = given.codes.copy()
    outlier[0] *= 100
    few = np.arange(FEWER_ROWS)
    return {
        "value": given,
        "other units": replace(given, codes=given.codes * UNITS, units=UNITS),
        "an outlier": replace(given, codes=outlier),
        "a fifth of the rows": Given(given.codes[few], given.factors[few], given.units),
        "turned": replace(given, codes=rotated(given.codes, 0)),
        "shuffled": replace(given, factors=np.random.default_rng(0).permutation(given.factors)),
    }


def table() -> str:
    """Return the table as Markdown."""
    drawn = representation("noisy_0.3", ROWS, sizes=(3, 4, 5, 4, 4))
    codes = drawn.codes.astype(np.float64)
    every = conditions(Given(codes, drawn.factors, np.ones(5)))
    lines = [f"| metric | {' | '.join(every)} |", "|---|" + "---|" * len(every)]
    for name in catalog.own_names("unweave.metrics"):
        cells = []
        for head, given in every.items():
            senseless = (head == "shuffled" and name in WITHOUT_FACTORS) or (
                head == "turned" and name in WITHOUT_TURNS
            )
            try:
                cells.append("–" if senseless else f"{score_of(name, given):.3f}")
            except DataError as error:
                print(f"{name}, {head}: {error}", file=sys.stderr)
                cells.append("refused")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="print instead of writing")
    options = parser.parse_args()
    made = table()
    if options.print:
        print(made)
        return
    renew(ROOT / "docs" / "metrics.md", {"conditions": made})


if __name__ == "__main__":
    main()
