"""Runs and a server on loopback, each made once for all tests of a worker."""

import copy
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explored import TOKEN, WAIT, Served
from PIL import Image

from unweave.applications import Applied, ResultTable
from unweave.cli import main
from unweave.explorer.server import in_background
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop

EVIL = "</script><script>alert(1)</script>"
STRONGER = 3.0  # so that codes of images differ, and images of codes: a test must see a wrong one


def train(folder: Path, toy: Any, method: Any, **changes: Any) -> Run:
    config = Train(**({"method": method, "data": "toy_xys", "steps": 4, "batch_size": 8} | changes))
    return loop.start(config, toy, folder, Machine(evaluations=2, checkpoint_seconds=0.0))


@pytest.fixture(scope="session")
def runs(toy, tmp_path_factory) -> Path:
    """Two seeds of a VAE, one of them in a folder of its own, and a method without a decoder."""
    root = tmp_path_factory.mktemp("explored") / "runs"
    run = train(root / "vae-s0", toy, VAE(latent_dim=3))
    for parameter in run.nets.parameters():
        parameter.data.mul_(STRONGER)
    run.folder.save_networks(run.nets, 4)
    codes = run.encode(toy.images(range(0, 1024, 16)))
    assert np.ptp(codes, axis=0).min() > 0.5
    assert np.ptp(run.decode(codes), axis=0).max() > 0.5
    # Weights of a moment on the way, which give other codes and other images.
    earlier = copy.deepcopy(run.nets)
    for parameter in earlier.parameters():
        parameter.data.mul_(0.8)
    run.folder.keep_weights(earlier, 2)
    train(root / "study" / "vae-s1", toy, VAE(latent_dim=3), seed=1)
    train(root / "truth", toy, GroundTruth())
    scores = {
        "mig": {"value": 0.25, "protocol": "chen2018", "higher_is_better": True, "details": {}},
        "unfairness": {"value": None, "reason": "too few values", "details": {}},
    }
    (root / "study" / "vae-s1" / "scores.json").write_text(json.dumps(scores))
    keep_application(root / "vae-s0")
    pictures = root / "vae-s0" / "figures" / "training"
    pictures.mkdir(parents=True, exist_ok=True)
    for step in (2, 4):
        Image.new("L", (30, 20), 50 * step).save(pictures / f"traversals-{step:07}.png")
    return root


def keep_application(folder: Path) -> None:
    """Let a run keep what an application found, with a figure."""
    lines = (("sufficiency", 0.5, 0.1),)
    found = Applied(
        application="representation",
        model="vae-s0",
        data="toy_xys",
        step=4,
        settings={},
        numbers={"sufficiency": 0.5},
        tables=(ResultTable("Four criteria", ("", "here", "chance"), lines),),
        paragraph="The code tells <b>half</b> of the class.",
        caveats=("It was trained for four steps.",),
    )
    found.save(folder / "applications")
    Image.new("RGB", (40, 20), (10, 200, 30)).save(folder / "applications" / "representation.png")


@pytest.fixture(scope="session")
def exported(runs, tmp_path_factory) -> Path:
    """A run as one file, with a name of a latent that would be a script."""
    run = load(runs / "vae-s0")
    path = tmp_path_factory.mktemp("export") / "page.html"
    run.name_latent(0, EVIL)
    try:
        said = io.StringIO()
        with redirect_stdout(said):
            assert main(["explore", "--export", str(path), str(run.path)]) == 0
        assert "page.html" in said.getvalue()
    finally:
        run.name_latent(0, "")
    return path


@pytest.fixture(scope="session")
def served(runs) -> Iterator[Served]:
    with in_background(runs, TOKEN) as (port, _):
        yield Served(runs, port)


@pytest.fixture
def visit(page, served):
    """Open an address of the explorer and wait until it is drawn."""

    def open_page(path: str) -> Any:
        path, hashed, fragment = path.partition("#")
        sign = "&" if "?" in path else "?"
        page.goto(f"{served.address}{path}{sign}token={TOKEN}{hashed}{fragment}")
        page.wait_for_selector("html[data-ready]")
        return page

    return open_page


@pytest.fixture(scope="module")
def shown(browser, served) -> Iterator[Any]:
    """The page of a run, opened once for the tests that only look at it."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(WAIT)
    complaints: list[str] = []
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{served.address}/runs/vae-s0?token={TOKEN}")
    page.wait_for_selector("html[data-ready]")
    yield page
    page.close()
    assert complaints == []
