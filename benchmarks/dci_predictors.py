"""Compare DCI's default trees with LightGBM's of every threshold, over sizes and codes.

    python benchmarks/dci_predictors.py [--names noisy_0.3,vae_like] [--rows 1000,10000] [--write]

Representations marked * were held out: no default was chosen by them. LightGBM's trees of every
threshold are scikit-learn's (`tests/metrics/test_fits.py` compares them) at a fraction of the
cost. How many times longer scikit-learn takes is measured in the same run: every factor
by two rounds of 100, which all take the same time. `--sizes 3,6,40,32,32` takes the 113 values of
dSprites instead of 21, and some hours of a core. `--write` renews these lines of the table in
docs/metrics.md and leaves its other ones.
"""

import argparse
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "metrics"
sys.path.insert(0, str(FOLDER))

from representations import HELD_OUT, Representation, representation  # noqa: E402
from sklearn.ensemble import GradientBoostingClassifier  # noqa: E402

from marked_pages import part_of, renew  # noqa: E402
from unweave import metrics  # noqa: E402
from unweave.metrics import Score  # noqa: E402

FEW_VALUES = ("perfect", "rotated_pairs", "sincos", "merged", "redundant", "dead", "kminus1")
"""Golden representations whose codes, or most of them, have few values."""
NAMES = ("noisy_0.3", "noisy_0.6", "vae_like", *HELD_OUT, *FEW_VALUES)
ROWS = (1_000, 2_000, 5_000, 10_000, 15_000)
SIZES = (3, 6, 4, 4, 4)
PAGE = FOLDER.parent.parent / "docs" / "metrics.md"
PART = "predictors"
ROUNDS = 2
"""Of scikit-learn's 100, which are timed."""
HEADER = (
    "codes",
    "training rows",
    "D",
    "D, every threshold",
    "furthest of D, C and I from every threshold",
    "s of work",
    "× every threshold",
    "× scikit-learn",
)

FURTHEST = HEADER.index("furthest of D, C and I from every threshold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="values of factors")
    parser.add_argument("--write", action="store_true", help="into docs/metrics.md")
    options = parser.parse_args()
    sizes = tuple(map(int, options.sizes.split(",")))
    print(
        f"Factors of {options.sizes} values.\n\n| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}"
    )
    for protocol in ("locatello2019_trees", "locatello2019_exact"):  # imports are no part
        timed(representation("noisy_0.3", 150), protocol, 100)
    for rows in map(int, options.rows.split(",")):
        for name in options.names.split(","):
            given = representation(name, rows + rows // 2, sizes=sizes)
            ours, seconds = timed(given, "locatello2019_trees", rows)
            exact, exact_seconds = timed(given, "locatello2019_exact", rows)
            cells = [
                f"{name}{' *' if name in HELD_OUT else ''}",
                f"{rows:,}",
                f"{ours.value:.3f}",
                f"{exact.value:.3f}",
                f"{max(abs(ours.parts[part] - exact.parts[part]) for part in ours.parts):.4f}",
                f"{seconds:.1f}",
                f"{exact_seconds / seconds:.1f}",
                f"{scikit_seconds(given, rows) / seconds:.0f}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
            if options.write:
                write(options.sizes, cells)


def write(sizes: str, cells: list[str]) -> None:
    """Put a line into the page's table, which is begun anew for factors of other sizes."""
    table = part_of(PAGE, PART)
    words = f"Factors of {sizes} values; * held out."
    lines = [line for line in table.splitlines() if line.startswith("| ")] if words in table else []
    kept = {tuple(row[:2]): row for row in ([*line.strip("| ").split(" | ")] for line in lines[1:])}
    kept[cells[0], cells[1]] = cells
    order = sorted(kept.values(), key=lambda row: int(row[1].replace(",", "")))
    furthest = max(float(row[FURTHEST]) for row in order)
    made = [
        words,
        "",
        f"| {' | '.join(HEADER)} |",
        f"|{'---|' * len(HEADER)}",
        *(f"| {' | '.join(row)} |" for row in order),
        "",
        f"Furthest of all: {furthest:.4f}.",
    ]
    renew(PAGE, {PART: "\n".join(made)})


def timed(given: Representation, protocol: str, rows: int) -> tuple[Score, float]:
    """Return DCI from so many training rows, and the seconds of work it took."""
    began = time.process_time()
    score = metrics.dci(
        given.codes, given.factors, protocol=protocol, train_rows=rows, test_rows=rows // 2
    )
    return score, time.process_time() - began


def scikit_seconds(given: Representation, rows: int) -> float:
    """Return the seconds of work that scikit-learn takes for 100 rounds of every factor."""
    began = time.process_time()
    for labels in given.factors[:rows].T:
        GradientBoostingClassifier(n_estimators=ROUNDS).fit(given.codes[:rows], labels)
    return (time.process_time() - began) * 100 / ROUNDS


if __name__ == "__main__":
    main()
