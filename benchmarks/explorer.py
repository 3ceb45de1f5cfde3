"""Measure the pages in a browser: images after a move, a page until it can be used, a long list.

    python benchmarks/explorer.py [RUN] [--runs 500]

Without a run, an untrained one with ten latents and the usual 64×64 networks is taken.
Times of images and grids are those the page notes itself (User Timing), for moves of a slider by
keys. A run's page can be used when its first line of images is drawn; it is opened twice, and
the second time counts, when its codes are kept. The list is of copies of the run. The load of
the machine is printed: on one that does other things these are no times of ours.
"""

import argparse
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from unweave import workflows
from unweave.explorer.headless import chromium
from unweave.explorer.server import in_background
from unweave.methods.vae import VAE
from unweave.runs.config import Machine

MOVES = 60
FILTERS = ("s1", "vae", "", "copy-007", "vae done")
# A function: a bare expression would be evaluated by name, which the page's policy forbids.
GRID_IS_DRAWN = "() => performance.getEntriesByName('unweave grid').length > 0"
TYPE = """(text) => {
    const field = document.querySelector('input[type=search]');
    const asked = performance.now();
    field.value = text;
    field.dispatchEvent(new Event('input'));
    document.body.offsetHeight; // so that the browser lays it out
    return performance.now() - asked;
}"""
POLLS = """() => performance.getEntriesByType('resource')
    .filter(({ name }) => name.includes('runs.json?since'))
    .map(({ transferSize }) => transferSize)"""
TARGETS = {"image": 16, "grid": 150, "usable": 2000, "list": 1000, "filter": 50}  # milliseconds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("run", nargs="?", type=Path)
    arguments.add_argument("--runs", type=int, default=500)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = given.run or untrained(folder / "run")
        copies = copied(run, folder / "many", given.runs)
        with chromium() as browser:
            with in_background(run) as (port, token):
                address = f"http://127.0.0.1:{port}/runs/{run.resolve().name}?token={token}"
                times, lines = moves(browser, address)
                times["usable"] = [opened(browser, address)]
            with in_background(copies) as (port, token):
                address = f"http://127.0.0.1:{port}/?token={token}"
                times |= listed(browser, address)
            version = browser.version
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"Chromium {version}, {lines} latents × 9 images, {MOVES} moves, {load}, milliseconds")
    sizes = times.pop("bytes")
    for name, found in times.items():
        most = statistics.quantiles(found, n=20)[-1] if len(found) > 1 else found[0]
        target = TARGETS[name]
        middle = statistics.median(found)
        print(f"{name:6} median {middle:6.1f}   95 % {most:6.1f}   target {target}")
    print(f"{given.runs} runs: {max(sizes):.0f} bytes each time the list is looked at again")


def moves(browser: Any, address: str) -> tuple[dict[str, list[float]], int]:
    """Move sliders; return what image and grid took, and how many lines there are."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    dead = page.locator("details.dead")
    if dead.count():
        dead.evaluate("one => { one.open = true; }")
    lines = page.locator(".latent").count()
    sliders = page.locator("input[type=range][data-latent]")
    page.wait_for_timeout(2000)
    times: dict[str, list[float]] = {"image": [], "grid": []}
    for move in range(MOVES):
        page.evaluate("performance.clearMeasures()")
        sliders.nth(move % lines).focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(GRID_IS_DRAWN)
        for name, found in times.items():
            asked = "name => performance.getEntriesByName(name).at(-1).duration"
            found.append(page.evaluate(asked, f"unweave {name}"))
    page.close()
    return times, lines


def opened(browser: Any, address: str) -> float:
    """Return after how long the page of a run has its first grid."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.wait_for_function(GRID_IS_DRAWN, timeout=120_000)
    ready = "() => { const e = performance.getEntriesByName('unweave grid')[0]; "
    took = page.evaluate(ready + "return e.startTime + e.duration; }")
    page.close()
    return float(took)


def listed(browser: Any, address: str) -> dict[str, list[float]]:
    """Open a list twice, filter it, and wait until it has looked at the folder again."""
    for _ in range(2):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=120_000)
        ready = page.evaluate("() => performance.now()")
    filtered = [page.evaluate(TYPE, text) for text in FILTERS * 4]
    page.wait_for_function(f"() => ({POLLS})().length > 1", timeout=60_000)
    sizes = page.evaluate(POLLS)
    page.close()
    return {"list": [ready], "filter": filtered, "bytes": sizes}


def copied(run: Path, folder: Path, count: int) -> Path:
    """Make many runs of one, without its weights."""
    leave = shutil.ignore_patterns("*.safetensors", "training")
    for i in range(count):
        shutil.copytree(run, folder / f"copy-{i:03}-s{i % 10}", ignore=leave)
    return folder


def untrained(folder: Path) -> Path:
    """Make a run with the weights its seed gives."""
    workflows.train(
        VAE(), "dsprites", out=folder, steps=1, evaluate=False, machine=Machine(evaluations=0)
    )
    return folder


if __name__ == "__main__":
    main()
