"""Fit scikit-learn's boosted trees at study size and keep their DCI for the tests.

    python benchmarks/dci_references.py [--names noisy_0.3,vae_like] [--rows 15000] [--whole]

Of the rows two thirds are for training: 10,000 of 15,000, as in the study. Factors have 3, 6,
12, 8 and 8 values, with `--whole` the 113 of dSprites, which takes scikit-learn three times as
long: many minutes of a core for each representation. The values go to
tests/metrics/scikit_dci.json, beside those that are there, with the version of scikit-learn.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import sklearn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "metrics"))

from representations import SIZES, representation  # noqa: E402

from unweave import metrics  # noqa: E402

FILE = ROOT / "tests" / "metrics" / "scikit_dci.json"
FEWER_SIZES = (3, 6, 12, 8, 8)
NAMES = ("noisy_0.3", "noisy_0.6", "noise_beside", "vae_like")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    sizes = SIZES if options.whole else FEWER_SIZES
    for name in options.names.split(","):
        given = representation(name, options.rows, sizes=sizes)
        began = time.process_time()
        score = metrics.dci(given.codes, given.factors, protocol="locatello2019")
        entry = {
            "representation": name,
            "rows": options.rows,
            "sizes": sizes,
            "parts": score.parts,
            "importance": score.to_json()["details"]["importance"],
            "seconds": round(time.process_time() - began, 1),
            "scikit-learn": sklearn.__version__,
        }
        kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else []
        made = (name, options.rows, list(sizes))
        kept = [e for e in kept if (e["representation"], e["rows"], e["sizes"]) != made]
        text = ",\n".join(json.dumps(e) for e in [*kept, entry])
        FILE.write_text(f"[\n{text}\n]\n", encoding="utf-8")
        print(name, score.parts, entry["seconds"], flush=True)


if __name__ == "__main__":
    main()
