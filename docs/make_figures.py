"""Draw the pictures of README.md and docs/figures.md from a run of `unweave demo --seed 110`."""

import sys
from pathlib import Path

from unweave import figures, runs

PICTURES = Path(__file__).parent / "pictures" / "figures"
SHOWN = ["traversals", "latent_response", "heat_map_mi", "kl_over_time", "curves"]

if __name__ == "__main__":
    run = runs.load(sys.argv[1] if len(sys.argv) > 1 else "runs/demo")
    drawn = figures.draw(run, PICTURES, only=SHOWN)
    moving = figures.draw(run, PICTURES, only=["traversals_animated"], animation="webp")
    # The first pictures of README and index: only latents that say something; others are silenced.
    codes = run.encode(run.data.images(range(0, len(run.data), len(run.data) // 500)))
    on = [int(latent) for latent in codes.std(0).argsort()[::-1] if codes[:, latent].std() > 0]
    figures.traversals(run, latents=on).save(PICTURES.parent / "traversals.png")
    moved = figures.animated_traversals(run, latents=on, columns=len(on))
    moved.save(PICTURES.parent / "traversals.gif")
    for path in [*drawn.paths.values(), *moving.paths.values()]:
        print(path)
