"""Take pictures of every page of the explorer at two widths: make screenshots.

    python docs/screenshots.py [RUNS_FOLDER] [--out FOLDER]

Without a folder, small runs are trained for it first.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from unweave import workflows
from unweave.config import Machine
from unweave.explorer import export_page
from unweave.explorer.headless import chromium
from unweave.explorer.library import Library
from unweave.explorer.server import in_background
from unweave.methods.beta_tcvae import BetaTCVAE

WIDTHS = (1440, 390)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("runs", nargs="?", type=Path)
    arguments.add_argument("--out", type=Path, default=Path("build/screenshots"))
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = given.runs or small_runs(Path(folder) / "runs")
        names = Library(runs).names()[:3]
        single = export_page(runs / names[0], Path(folder) / "page.html")
        with chromium() as browser, in_background(runs) as (port, token):
            for width in WIDTHS:
                page = browser.new_page(viewport={"width": width, "height": 900})
                here = f"http://127.0.0.1:{port}"
                page.goto(f"{here}/?token={token}")
                chosen = "&".join(f"run={name}" for name in names)
                for title, address in (
                    ("runs", f"{here}/"),
                    ("run", f"{here}/runs/{names[0]}"),
                    ("compare", f"{here}/compare?{chosen}"),
                    ("exported", single.as_uri()),
                ):
                    take(page, address, given.out / f"{title}-{width}.png")


def small_runs(folder: Path) -> Path:
    """Train two seeds of a small model."""
    for seed in (0, 1):
        workflows.train(
            BetaTCVAE(latent_dim=6, beta=3),
            "toy_xys",
            out=folder / f"beta_tcvae-s{seed}",
            steps=800,
            seed=seed,
            machine=Machine(evaluations=4),
        )
    return folder


def take(page: Any, address: str, target: Path) -> None:
    """Wait until a page is drawn, open a cell of its heat map, and keep a picture of it all."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    cell = page.locator(".heat button").first
    if cell.count():
        cell.click()
        page.locator(".scatter circle").first.wait_for()
    page.wait_for_timeout(1000)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=target, full_page=True)
    print(target)


if __name__ == "__main__":
    main()
