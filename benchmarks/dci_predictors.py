"""Compare DCI's default trees with trees that try every threshold, over sizes and codes.

    python benchmarks/dci_predictors.py [--names noisy_0.3,vae_like] [--rows 1000,10000]

Representations marked * were held out: no default was chosen by them. Where scikit-learn's own
trees were fitted to the same rows (`benchmarks/dci_references.py`), their D and how many times
longer they took stand beside. All of it takes the better part of an hour of a core.
"""

import argparse
import json
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "metrics"
sys.path.insert(0, str(FOLDER))

from representations import HELD_OUT, SIZES, Representation, representation  # noqa: E402

from unweave import metrics  # noqa: E402
from unweave.metrics import Score  # noqa: E402

NAMES = (
    "noisy_0.3",
    "noisy_0.6",
    "noise_beside",
    "vae_like",
    "noise",
    "rotated_pairs",
    "kminus1",
    *HELD_OUT,
)
ROWS = (1_000, 3_000, 10_000, 15_000)
HEADER = (
    "codes",
    "training rows",
    "D",
    "D, every threshold",
    "D, scikit-learn",
    "furthest of D, C and I from every threshold",
    "s of work",
    "× every threshold",
    "× scikit-learn",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="values of factors")
    options = parser.parse_args()
    kept = json.loads((FOLDER / "scikit_dci.json").read_text("utf-8"))
    scikit = {
        (entry["representation"], entry["rows"], tuple(entry["sizes"])): entry for entry in kept
    }
    sizes = tuple(map(int, options.sizes.split(",")))
    print(f"Factors of {', '.join(map(str, sizes))} values.\n")
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    for rows in map(int, options.rows.split(",")):
        for name in options.names.split(","):
            given = representation(name, rows + rows // 2, sizes=sizes)
            ours, seconds = timed(given, "locatello2019_trees", rows)
            exact, exact_seconds = timed(given, "locatello2019_exact", rows)
            reference = scikit.get((name, rows + rows // 2, sizes))
            apart = max(abs(ours.parts[part] - exact.parts[part]) for part in ours.parts)
            cells = [
                f"{name}{' *' if name in HELD_OUT else ''}",
                f"{rows:,}",
                f"{ours.value:.3f}",
                f"{exact.value:.3f}",
                f"{reference['parts']['D']:.3f}" if reference else "",
                f"{apart:.3f}",
                f"{seconds:.1f}",
                f"{exact_seconds / seconds:.1f}",
                f"{reference['seconds'] / seconds:.0f}" if reference else "",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


def timed(given: Representation, protocol: str, rows: int) -> tuple[Score, float]:
    """Return DCI from so many training rows, and the seconds of work it took."""
    began = time.process_time()
    score = metrics.dci(
        given.codes, given.factors, protocol=protocol, train_rows=rows, test_rows=rows // 2
    )
    return score, time.process_time() - began


if __name__ == "__main__":
    main()
