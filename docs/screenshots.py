"""Take pictures of every page, wide and narrow, light and dark: make screenshots.

    python docs/screenshots.py [RUNS_FOLDER] [--out FOLDER]

Without a folder, small runs are trained for it first. The pages are the explorer's list of
runs, a run, a run that is training, a comparison, a study, the exported file whole and as a
frame, and the reports of one run and of several. Lines of images are drawn when they are in
sight, so every page is scrolled through before its picture is taken.
"""

import argparse
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from unweave import workflows
from unweave.cli import main as cli
from unweave.explorer import export_page
from unweave.explorer.headless import chromium
from unweave.explorer.open_runs import Library
from unweave.explorer.server import in_background
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.runs.config import Machine
from unweave.runs.run import load

WIDTHS = (1440, 390)
MOST_RUNS = 3
STUDY = """
title = "Two values of beta"
data = "toy_xys"
seeds = 2
metrics = ["mig", "modularity"]
settings.architecture = "mlp64"
[budget]
steps = 60
batch_size = 32
[[methods]]
name = "beta_vae"
grid = { beta = [1, 4] }
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("runs", nargs="?", type=Path)
    arguments.add_argument("--out", type=Path, default=Path("build/screenshots"))
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = given.runs or small_runs(folder / "runs")
        names = Library(runs).names()[:MOST_RUNS]
        live = in_training(runs / names[0], folder / "live" / "training")
        with (
            chromium() as browser,
            in_background(runs) as (port, token),
            in_background(live.parent) as (live_port, live_token),
            in_background(studied(folder)) as (study_port, study_token),
        ):
            here, there = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{live_port}"
            chosen = "&".join(f"run={run}" for run in names)
            exported = export_page(runs / names[0], folder / "page.html").as_uri()
            pages = {
                "runs": f"{here}/?token={token}",
                "run": f"{here}/runs/{names[0]}?token={token}",
                "live": f"{there}/runs/{live.name}?token={live_token}",
                "compare": f"{here}/compare?{chosen}&token={token}",
                "study": f"http://127.0.0.1:{study_port}/studies/small?token={study_token}",
                "exported": exported,
                "frame": f"{exported}?frame",
                **reports(runs, names, folder),
            }
            for title, address in pages.items():
                for scheme in ("light", "dark"):
                    for width in WIDTHS:
                        target = given.out / f"{title}-{scheme}-{width}.png"
                        take(browser, address, target, width, scheme)


def small_runs(folder: Path) -> Path:
    """Train three seeds of a small model."""
    for seed in range(MOST_RUNS):
        workflows.train(
            BetaTCVAE(latent_dim=6, beta=3),
            "toy_xys",
            out=folder / f"beta_tcvae-s{seed}",
            steps=800,
            seed=seed,
            machine=Machine(evaluations=4, keep_weights=True),
        )
    return folder


def studied(folder: Path) -> Path:
    """Run a small study, and let it choose without labels."""
    (folder / "small.toml").write_text(STUDY, encoding="utf-8")
    for verb in ("run", "report"):
        words = ["study", verb, str(folder / "small.toml"), "--out", str(folder / "studied")]
        assert cli([*words, "--workers", "1"] if verb == "run" else words) == 0
    return folder / "studied"


def in_training(run: Path, target: Path) -> Path:
    """Copy a run as if it had come half its way and were training."""
    shutil.copytree(run, target)
    for file in ("scores.json", "networks.safetensors"):
        (target / file).unlink(missing_ok=True)
    lines = (target / "record.jsonl").read_text(encoding="utf-8").splitlines()
    half = json.loads(lines[-1])["step"] // 2
    kept = [line for line in lines if json.loads(line)["step"] <= half]
    (target / "record.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    status = {"state": "running", "step": half, "pid": os.getpid()}
    (target / "status.json").write_text(json.dumps(status), encoding="utf-8")
    return target


def reports(runs: Path, names: list[str], folder: Path) -> dict[str, str]:
    """Write a report of the first run, and one of all."""
    loaded = [load(runs / name) for name in names]
    return {
        "report": workflows.write_report(loaded[0], folder / "one.html").as_uri(),
        "report-of-several": workflows.write_report(loaded, folder / "all.html").as_uri(),
    }


def take(browser: Any, address: str, target: Path, width: int, scheme: str) -> None:
    """Wait until a page is drawn, open what can be opened, and keep a picture of it all."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(address)
    if "report" not in target.name:
        page.wait_for_selector("html[data-ready]", timeout=120_000)
    cell = page.locator(".heat button").first
    if cell.count() and "frame" not in target.name:
        cell.click()
        page.locator(".scatter circle").first.wait_for()
        page.get_by_text("Show the mean of each latent").click()
        page.locator(".response").first.wait_for(timeout=120_000)
    pad = page.get_by_text("Pad: move two latents at once")
    if pad.count():
        pad.click()
        page.locator(".plane[data-drawn]").wait_for(timeout=120_000)
    for top in range(0, page.evaluate("() => document.body.scrollHeight"), 700):
        page.evaluate("top => scrollTo(0, top)", top)
        page.wait_for_timeout(300)
    page.evaluate("() => scrollTo(0, 0)")
    page.wait_for_timeout(500)
    page.screenshot(path=target, full_page=True)
    page.close()
    print(target)


if __name__ == "__main__":
    main()
