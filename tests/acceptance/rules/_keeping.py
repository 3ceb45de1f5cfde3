"""Numbers kept between runs, each with a digest of the code that it depends on.

One file for each rule under docs/results/acceptance, a line for each arm and seed; what pictures
are drawn from is large and lies under build/. A stopped `make acceptance` goes on after the last
run it trained. A number is measured again once the code behind it has changed: the rule's own
file and every module of the library and of these rules that it imports, directly or not. Comments,
docstrings and the words of errors do not count, nor does what a rule makes of its numbers: its
claim and its checks; nor code that reads and writes files, finds things by name and speaks to the
user, which has tests of its own that what it passes on is what it was given.

Most changes of code change no number. So of an arm whose code has changed one seed is measured
again, and if every number comes out as it was to the last digit, what is kept of the arm's other
seeds stands for the new code as well. FRESH=1 measures all again.
"""

import ast
import hashlib
import io
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rules._rule import Finding, Measure
from unweave.files.writing import write_atomically

RULES = Path(__file__).parent
ROOT = RULES.parents[2]
KEPT = ROOT / "docs" / "results" / "acceptance"
LOOKS = ROOT / "build" / "acceptance"
PACKAGES = {"unweave": ROOT / "src" / "unweave", "rules": RULES}
JUDGING = ("__init__.py", "_rule.py", "_keeping.py")
"""Files of the rules that numbers do not depend on."""
PASSING_ON = (
    "applications/_applied.py",
    "applications/_kept.py",
    "catalog/",
    "errors.py",
    "evaluation/scores.py",
    "figures/",
    "files/",
    "metrics/_score.py",
    "pages/",
    "process.py",
    "runs/config.py",
    "runs/folder.py",
    "runs/foreign_data.py",
    "runs/notebook.py",
    "runs/plugins.py",
    "runs/stored.py",
    "settings/machine.py",
    "settings/plain.py",
    "training/checkpoint.py",
    "training/record.py",
    *(f"data/_{name}.py" for name in ("image_files", "options", "original", "own_arrays")),
    *(
        f"data/_{name}.py"
        for name in ("own_folder", "own_gaps", "progress", "archives", "hdf5_files")
    ),
)
"""Files and folders of the library that make no number. No rule trains on a user's files."""
WORDS_OF_A_RULE = {"claim", "checks", "covers", "margin", "picture", "reformed", "share"}
NUMBERS = "digest of the numbers"
"""Of what was measured with it, in the file of what a picture shows."""


class Kept:
    """What was measured of one rule: a file of lines, and what its picture shows."""

    def __init__(self, rule: str, folder: Path = KEPT, looks: Path = LOOKS):
        self.rule = rule
        self.file = folder / f"{rule}.jsonl"
        self.looks = looks / rule
        self.code = fingerprint(RULES / f"{rule}.py")

    def measured(self, arm: str, measure: Measure, seed: int) -> dict[str, Any]:
        """Return what is kept of an arm and a seed, measuring it first if need be."""
        kept = None if os.environ.get("FRESH") else self.read(arm, seed)
        if kept is None or kept["code"] != self.code:
            began = time.process_time()
            finding = measure(seed)
            found = self.write(arm, seed, finding, time.process_time() - began)
            if kept is not None and found["numbers"] == kept["numbers"]:
                self._let_stand(arm, kept["code"])
            return found
        return kept

    def read(self, arm: str, seed: int) -> dict[str, Any] | None:
        """Return what is kept of an arm and a seed, whichever code measured it."""
        return self._lines().get((arm, seed))

    def arms(self) -> set[str]:
        """Return the arms of which something is kept."""
        return {arm for arm, _ in self._lines()}

    def seeds(self) -> set[int]:
        """Return the seeds of which something is kept."""
        return {seed for _, seed in self._lines()}

    def write(self, arm: str, seed: int, finding: Finding, seconds: float) -> dict[str, Any]:
        """Keep a finding in place of what was kept of this arm and seed; all at once or not."""
        numbers = {name: float(value) for name, value in finding.numbers.items()}
        if finding.look:
            stored = io.BytesIO()
            np.savez_compressed(stored, **finding.look, **{NUMBERS: np.array(digest_of(numbers))})
            place = self._place(arm, seed)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(stored.getvalue())
        kept = {
            "arm": arm,
            "seed": seed,
            "numbers": numbers,
            "core_seconds": round(seconds, 1),
            "date": str(datetime.now(UTC).date()),
            "code": self.code,
        }
        self._write_lines(self._lines() | {(arm, seed): kept})
        return kept

    def _let_stand(self, arm: str, older: str) -> None:
        """Take what older code measured of an arm for what the code as it is would measure."""
        lines = self._lines()
        for (of, seed), line in lines.items():
            if of == arm and line["code"] == older:
                lines[of, seed] = line | {"code": self.code}
        self._write_lines(lines)

    def _write_lines(self, lines: Mapping[tuple[str, int], Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines.values())
        self.file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.file, text)

    def look(self, arm: str, seed: int) -> Mapping[str, np.ndarray]:
        """Return what the picture of an arm shows; nothing if it is not that of its numbers."""
        place, kept = self._place(arm, seed), self.read(arm, seed)
        if kept is None or not place.is_file():
            return {}
        with np.load(place) as stored:
            shown = dict(stored)
        return shown if str(shown.pop(NUMBERS, "")) == digest_of(kept["numbers"]) else {}

    def _lines(self) -> dict[tuple[str, int], dict[str, Any]]:
        if not self.file.is_file():
            return {}
        lines = map(json.loads, self.file.read_text(encoding="utf-8").splitlines())
        return {(line["arm"], line["seed"]): line for line in lines}

    def _place(self, arm: str, seed: int) -> Path:
        plain = "".join(letter if letter.isalnum() else "-" for letter in arm)
        return self.looks / f"{plain}-{seed}.npz"


def digest_of(numbers: Mapping[str, Any]) -> str:
    """Return a digest of numbers, by which a picture is known to be of them."""
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]


def fingerprint(file: Path) -> str:
    """Return a digest of a file and of all it imports of the library and of the rules."""
    digest = hashlib.sha256()
    for path in sorted(filter(makes_numbers, imported(file))):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(code_of(path).meaning)
    return digest.hexdigest()[:16]


def makes_numbers(path: Path) -> bool:
    """Whether what is measured may depend on a file."""
    if path.is_relative_to(PACKAGES["rules"]):
        return path.name not in JUDGING
    return not str(path.relative_to(PACKAGES["unweave"])).startswith(PASSING_ON)


def imported(file: Path) -> set[Path]:
    """Return a file and, of the library and of the rules, every file it imports in the end."""
    found, waiting = set(), [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            for module, name in code_of(path).imports:
                waiting += files_behind(module, name)
    return found


def files_behind(module: str, name: str) -> list[Path]:
    """List the files behind `from module import name`; none if the module is not ours.

    The __init__ of a folder passes names on; the file behind a name is where it comes from.
    """
    package, *parts = module.split(".")
    if package not in PACKAGES:
        return []
    place = PACKAGES[package].joinpath(*parts)
    if place.with_suffix(".py").is_file():
        return [place.with_suffix(".py")]
    init = place / "__init__.py"
    if not name:
        return []
    if (place / f"{name}.py").is_file() or (place / name).is_dir():
        return files_behind(f"{module}.{name}", "")
    if not init.is_file():
        return []
    passed_on = code_of(init).passed_on
    return files_behind(*passed_on[name]) if name in passed_on else [init]


@dataclass(frozen=True)
class Code:
    """What a file says."""

    imports: list[tuple[str, str]]
    """Modules and names it imports, anywhere in it; of an __init__ those it uses itself."""
    passed_on: dict[str, tuple[str, str]]
    """Where each name comes from that it imports."""
    meaning: bytes
    """Digest of its code without texts that make no number, layout, claims and checks."""


def code_of(file: Path) -> Code:
    """Read a file, or remember it if it has not changed."""
    return _code_of(file, file.stat().st_mtime_ns)


@cache
def _code_of(file: Path, changed: int) -> Code:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    of_a_rule = file.is_relative_to(PACKAGES["rules"])
    words = WORDS_OF_A_RULE | ({"seeds"} if of_a_rule else set())
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    imports, passed_on = [], {}
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                own_name = alias.asname or alias.name
                passed_on[own_name] = (node.module, alias.name)
                if file.name != "__init__.py" or own_name in used:
                    imports.append((node.module, alias.name))
    for node in nodes:
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not is_beside(line)]  # type: ignore[attr-defined]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args, node.exc.keywords = [], []  # what it says makes no number
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg not in words]
    return Code(imports, passed_on, hashlib.sha256(ast.dump(tree).encode()).digest())


def is_beside(line: ast.stmt) -> bool:
    """Whether a line is nothing but a text, as docstrings are, or a function called checks."""
    if isinstance(line, ast.FunctionDef):
        return line.name == "checks"
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
