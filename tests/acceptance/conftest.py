"""What acceptance rules share: training on small data, and where results are kept.

A rule asks for the fixtures `train` and `verdict`. Each writes what it measured to
build/acceptance; `make acceptance` turns the files into docs/results/acceptance.md.
A result that this very code has given before is not measured again, so that a
stopped `make acceptance` goes on where it was; FRESH=1 measures all again.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from unweave.data import FactorImages
from unweave.methods import Method
from unweave.networks import Architecture
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.training import loop

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "acceptance"
NETWORK = MLP64(hidden=256)
QUIET = Machine(evaluations=0, threads=1, checkpoint_seconds=1e9)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.acceptance)


@pytest.fixture
def train(toy, tmp_path) -> Callable[..., Run]:
    """Train a method, by default on toy_xys with a small network, and return the run."""
    made = []

    def train_method(
        method: Method,
        *,
        data: FactorImages | None = None,
        architecture: Architecture = NETWORK,
        steps: int = 3000,
        batch_size: int = 64,
        seed: int = 0,
    ) -> Run:
        chosen = toy if data is None else data
        config = Train(
            method=method,
            data=chosen.name,
            architecture=architecture,
            steps=steps,
            batch_size=batch_size,
            seed=seed,
        )
        made.append(config)
        return loop.start(config, chosen, tmp_path / f"run{len(made)}", QUIET)

    return train_method


@pytest.fixture
def verdict(request) -> Callable[..., None]:
    """Keep what a rule measured, then fail if it was not met."""
    place = request.node.nodeid.split("acceptance/", 1)[1]
    kept = KEPT / ("".join(c if c.isalnum() else "-" for c in place) + ".json")
    code = fingerprint(Path(request.node.path))
    if kept.is_file() and not os.environ.get("FRESH"):
        result = json.loads(kept.read_text(encoding="utf-8"))
        if result.get("code") == code:
            assert result["met"], f"{result['rule']}: {result['measured']}"
            pytest.skip("met before by the same code; FRESH=1 measures again")
    began = time.process_time()

    def judge(method: str, rule: str, measured: dict[str, Any], met: bool) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        result = {
            "method": method,
            "rule": rule,
            "measured": measured,
            "met": bool(met),
            "command": f"pytest -m acceptance 'tests/acceptance/{place}'",
            "core_minutes": round((time.process_time() - began) / 60, 2),
            "date": str(datetime.now(UTC).date()),
            "code": code,
        }
        kept.write_text(json.dumps(result), encoding="utf-8")
        assert met, f"{rule}: {measured}"

    return judge


@cache
def fingerprint(rules: Path) -> str:
    """Return a digest of the library and of a file of rules."""
    digest = hashlib.sha256()
    for file in [*sorted((ROOT / "src" / "unweave").rglob("*.py")), Path(__file__), rules]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
