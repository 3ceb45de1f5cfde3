"""Draw the pictures of docs/figures.md from a run of `unweave demo`."""

import sys
from pathlib import Path

from unweave import figures, runs

PICTURES = Path(__file__).parent / "pictures" / "figures"
SHOWN = ["traversals", "latent_response", "heat_map_mi", "kl_over_time", "curves"]

if __name__ == "__main__":
    run = runs.load(sys.argv[1] if len(sys.argv) > 1 else "runs/demo")
    drawn = figures.draw(run, PICTURES, only=SHOWN)
    moving = figures.draw(run, PICTURES, only=["traversals_animated"], animation="webp")
    for path in [*drawn.paths.values(), *moving.paths.values()]:
        print(path)
