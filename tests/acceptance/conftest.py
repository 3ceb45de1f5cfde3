"""What acceptance runs share: the toy, its network, and where results are kept.

Each rule writes what it measured to build/acceptance; `make acceptance` turns
the files into docs/results/acceptance.md.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unweave.config import Machine, Train
from unweave.methods import Method
from unweave.networks.mlp64 import MLP64
from unweave.runs import Run
from unweave.training import loop

KEPT = Path(__file__).parents[2] / "build" / "acceptance"
NETWORK = MLP64(hidden=256)
QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.acceptance)


@pytest.fixture
def train(toy, tmp_path) -> Callable[..., Run]:
    """Train a method on the toy and return the run."""
    made = []

    def train_method(method: Method, *, steps: int = 3000, seed: int = 0) -> Run:
        config = Train(method=method, data="toy_xys", architecture=NETWORK, steps=steps, seed=seed)
        made.append(config)
        return loop.start(config, toy, tmp_path / f"run{len(made)}", QUIET)

    return train_method


@pytest.fixture
def verdict(request) -> Callable[..., None]:
    """Keep what a rule measured, then fail if it was not met."""
    began = time.monotonic()

    def judge(method: str, rule: str, measured: dict[str, Any], met: bool) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        place = request.node.nodeid.split("acceptance/", 1)[1]
        result = {
            "method": method,
            "rule": rule,
            "measured": measured,
            "met": met,
            "command": f"pytest -m acceptance tests/acceptance/{place}",
            "minutes": round((time.monotonic() - began) / 60, 2),
        }
        name = "".join(c if c.isalnum() else "-" for c in place)
        (KEPT / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")
        assert met, f"{rule}: {measured}"

    return judge
