"""Compare the boosted trees that DCI may use, over several draws of the rows.

    python benchmarks/dci_predictors.py [--draws 3] [--rows 3000]

Codes are u + 0.3 noise, where thresholds matter most, for factors of sizes (3, 6, 12, 8, 8).
scikit-learn's trees take half a minute per draw.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "metrics"))

from representations import representation

from unweave import metrics

SIZES = (3, 6, 12, 8, 8)
PROTOCOLS = (
    "locatello2019_trees",
    "locatello2019_lightgbm",
    "locatello2019_exact",
    "locatello2019",
)
PARTS = ("completeness", "informativeness")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--rows", type=int, default=3000)
    options = parser.parse_args()
    sizes = {"train_rows": options.rows, "test_rows": options.rows // 2}
    print(f"u + 0.3 noise, {options.rows} training rows, {options.draws} draws\n")
    print("| protocol | D of each draw | mean D | deviation | mean C | mean I | s of work |")
    print("|---|---|---|---|---|---|---|")
    for protocol in PROTOCOLS:
        scores = []
        began = time.process_time()
        for seed in range(options.draws):
            given = representation("noisy_0.3", sum(sizes.values()), seed, SIZES)
            scores.append(metrics.dci(given.codes, given.factors, protocol=protocol, **sizes))
        work = (time.process_time() - began) / options.draws
        values = [score.value for score in scores]
        means = [np.mean([s.details[part] for s in scores]) for part in PARTS]
        print(
            f"| `{protocol}` | {' '.join(f'{value:.3f}' for value in values)} "
            f"| {np.mean(values):.3f} | {np.std(values, ddof=1):.3f} "
            f"| {means[0]:.3f} | {means[1]:.3f} | {work:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
