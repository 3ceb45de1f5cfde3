"""What all tests share: one cache of prepared data, one thread, small data sets, a browser."""

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import only_loopback

WAIT = 60_000  # milliseconds; machines that test are often busy


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr != "cluster":  # Ray asks the network for this machine's address
        only_loopback.install()
    torch.set_num_threads(1)  # two workers of one thread each are faster than two of two
    # Nor do commands that tests start look how busy the machine is: their bits are compared.
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep prepared data in one folder for all workers, so that dSprites is rendered once."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    folder = base / "unweave-cache"
    os.environ["UNWEAVE_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def toy():
    from unweave.data import load_data

    return load_data("toy_xys")


@pytest.fixture(scope="session")
def tiny_run(toy, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Train a method for a few steps, once for all tests; copy the folder to write to it."""
    from tiny_methods import config_for
    from unweave.runs.config import Machine
    from unweave.training import loop

    base = tmp_path_factory.mktemp("tiny_runs")

    @functools.cache
    def trained(name: str) -> Any:
        return loop.start(config_for(name), toy, base / name, Machine(evaluations=1))

    return trained


@pytest.fixture(autouse=True)
def plugins_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the methods of a test's own after it: what it trains becomes known by name."""
    from unweave.catalog import plugins

    monkeypatch.setattr(plugins, "_given", dict(plugins._given))


@pytest.fixture
def plain_gan_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let run folders that name the plain GAN be read: a plugin, forgotten after the test."""
    from plain_gan import PlainGAN
    from unweave.catalog import plugins

    monkeypatch.setattr(plugins, "_given", {})
    plugins.add(PlainGAN)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless browser; without one tests are skipped, but not where CI promises them."""
    from unweave.explorer.headless import MISSING, chromium, find_chromium

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
