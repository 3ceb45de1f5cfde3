"""What all tests share: one cache of prepared data, one thread, small data sets."""

import os
from pathlib import Path

import pytest
import torch


def pytest_configure(config: pytest.Config) -> None:
    torch.set_num_threads(1)  # two workers of one thread each are faster than two of two


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
