"""Measure the page in a browser: milliseconds from a slider's move to the picture.

    python benchmarks/explorer.py [RUN]

Without a run, an untrained one with ten latents and the usual 64×64 networks is taken.
Times are those the page notes itself (User Timing), for moves of a slider by keys.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from unweave import workflows
from unweave.explorer.headless import chromium
from unweave.explorer.server import in_background
from unweave.methods.vae import VAE
from unweave.runs.config import Machine

MOVES = 60
# A function: a bare expression would be evaluated by name, which the page's policy forbids.
GRID_IS_DRAWN = "() => performance.getEntriesByName('unweave grid').length > 0"
TARGETS = {"image": 16, "grid": 150}  # milliseconds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("run", nargs="?", type=Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = given.run or untrained(Path(folder) / "run")
        with chromium() as browser, in_background(run) as (port, token):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"http://127.0.0.1:{port}/runs/{run.resolve().name}?token={token}")
            page.wait_for_selector("html[data-ready]", timeout=120_000)
            dead = page.locator("details.dead")
            if dead.count():
                dead.evaluate("one => { one.open = true; }")
            lines = page.locator(".latent").count()
            sliders = page.locator("input[type=range]")
            page.wait_for_timeout(2000)
            times: dict[str, list[float]] = {"image": [], "grid": []}
            for move in range(MOVES):
                page.evaluate("performance.clearMeasures()")
                sliders.nth(move % lines).focus()
                page.keyboard.press("ArrowRight")
                page.wait_for_function(GRID_IS_DRAWN)
                for name, found in times.items():
                    found.append(
                        page.evaluate(
                            "name => performance.getEntriesByName(name).at(-1).duration",
                            f"unweave {name}",
                        )
                    )
            version = browser.version
    print(f"Chromium {version}, {lines} latents × 9 images, {MOVES} moves, milliseconds")
    for name, found in times.items():
        print(
            f"{name:6} median {statistics.median(found):6.1f}   "
            f"95 % {statistics.quantiles(found, n=20)[-1]:6.1f}   target {TARGETS[name]}"
        )


def untrained(folder: Path) -> Path:
    """Make a run with the weights its seed gives."""
    workflows.train(
        VAE(), "dsprites", out=folder, steps=1, evaluate=False, machine=Machine(evaluations=0)
    )
    return folder


if __name__ == "__main__":
    main()
