"""Draw null against value for 2 to 512 codes: what a score of random mixtures is worth.

    python benchmarks/metric_nulls.py [--rows 3000] [--draws 2]

Codes are tanh of random mixtures of five factors, so that no code was made for a factor, and,
for comparison, five noisy codes made for them among as many mixtures. Beside each value stand the
same codes turned at random and with shuffled factors. Writes docs/pictures/metric_nulls.png and
prints the numbers in it.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from unweave.evaluation.score import score
from unweave.evaluation.scores import Scores

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "metric_nulls.png"
COUNTS = (2, 5, 16, 64, 512)
METRICS = ("mig", "dci", "modularity", "factor_vae_score", "med")
SIZES = (3, 4, 5, 4, 4)
LINES = {"value": "-", "rotated": "--", "shuffled": ":"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--draws", type=int, default=2)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(size, size=options.rows) for size in SIZES], axis=1)
    u = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    found: dict[str, list[Scores]] = {"mixtures": [], "five codes of factors among mixtures": []}
    print("| codes | made | " + " | ".join(METRICS) + " |\n|---|---|" + "---|" * len(METRICS))
    for count in COUNTS:
        mixed = np.tanh(u @ rng.standard_normal((5, count)) / np.sqrt(5))
        made = u + 0.3 * rng.standard_normal(u.shape)
        beside = np.concatenate([made, mixed], axis=1)[:, : max(count, 2)]
        for name, codes in zip(found, (mixed, beside), strict=True):
            result = score(codes, factors, METRICS, nulls=options.draws)
            found[name].append(result)
            cells = [
                " / ".join(f"{number:.2f}" for number in numbers(result, metric).values())
                for metric in METRICS
            ]
            print(f"| {count} | {name} | {' | '.join(cells)} |", flush=True)
    draw(found)


def numbers(result: Scores, metric: str) -> dict[str, float]:
    """Return a score and the means of its nulls."""
    entry = result[metric]
    return {"value": entry.value, **{name: float(np.mean(v)) for name, v in entry.nulls.items()}}


def draw(found: dict[str, list[Scores]]) -> None:
    """Draw each metric's value and nulls against the number of codes."""
    figure, axes = plt.subplots(
        len(found), len(METRICS), figsize=(11, 4.4), sharex=True, sharey=True
    )
    for row, (name, results) in zip(axes, found.items(), strict=True):
        for axis, metric in zip(row, METRICS, strict=True):
            lines: dict[str, NDArray[np.float64]] = {
                which: np.array([numbers(result, metric)[which] for result in results])
                for which in LINES
            }
            for which, style in LINES.items():
                axis.plot(COUNTS, lines[which], style, color="black", marker=".", label=which)
            axis.set_xscale("log", base=2)
            axis.set_ylim(0, 1.02)
            axis.set_title(metric if row is axes[0] else "", fontsize=9)
        row[0].set_ylabel(name, fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("codes", fontsize=8)
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=70)


if __name__ == "__main__":
    main()
