"""Runs, a server on loopback and a browser, each made once for all tests of a worker."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from explored import TOKEN, WAIT, Served

from unweave.config import Machine, Train
from unweave.explorer.headless import MISSING, chromium, find_chromium
from unweave.explorer.server import in_background
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.vae import VAE
from unweave.training import loop


def train(folder: Path, toy: Any, method: Any, **changes: Any) -> None:
    config = Train(**({"method": method, "data": "toy_xys", "steps": 4, "batch_size": 8} | changes))
    loop.start(config, toy, folder, Machine(evaluations=2, checkpoint_seconds=0.0))


@pytest.fixture(scope="session")
def runs(toy, tmp_path_factory) -> Path:
    """Two seeds of a VAE, one of them in a folder of its own, and a method without a decoder."""
    root = tmp_path_factory.mktemp("explored") / "runs"
    train(root / "vae-s0", toy, VAE(latent_dim=3))
    train(root / "study" / "vae-s1", toy, VAE(latent_dim=3), seed=1)
    train(root / "truth", toy, GroundTruth())
    scores = {
        "mig": {"value": 0.25, "protocol": "chen2018", "higher_is_better": True, "details": {}},
        "unfairness": {"value": None, "reason": "too few values", "details": {}},
    }
    (root / "study" / "vae-s1" / "scores.json").write_text(json.dumps(scores))
    return root


@pytest.fixture(scope="session")
def served(runs) -> Iterator[Served]:
    with in_background(runs, TOKEN) as (port, _):
        yield Served(runs, port)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless browser; without one tests are skipped, but not where CI promises them."""
    if find_chromium() is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser) -> Iterator[Any]:
    """A fresh window that must end without a complaint in its console."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.complaints = []
    page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    context.close()
    assert page.complaints == []


@pytest.fixture
def visit(page, served):
    """Open an address of the explorer and wait until it is drawn."""

    def open_page(path: str) -> Any:
        sign = "&" if "?" in path else "?"
        page.goto(f"{served.address}{path}{sign}token={TOKEN}")
        page.wait_for_selector("html[data-ready]")
        return page

    return open_page
