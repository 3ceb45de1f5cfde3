"""A cache for the tests of data: prepared files never reach the user's own."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session", autouse=True)
def session_cache(tmp_path_factory):
    """Keep what is rendered for the session, unless a cache was chosen for all tests."""
    if os.environ.get("UNWEAVE_CACHE"):
        yield
        return
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # one for all workers, so that dSprites is rendered once
    os.environ["UNWEAVE_CACHE"] = str(folder / "unweave-cache")
    yield
    del os.environ["UNWEAVE_CACHE"]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch) -> Path:
    """Use a cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("UNWEAVE_CACHE", str(folder))
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
