"""What the tests of data share."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch) -> Path:
    """Use a cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("UNWEAVE_CACHE", str(folder))
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
