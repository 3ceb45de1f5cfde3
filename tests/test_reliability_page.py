"""Every promise of docs/reliability.md names tests that are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
PROMISES = 24


def test_every_promise_names_a_test_that_exists():
    parts = re.split(r"^\*\*(\d+)\. ", PAGE, flags=re.MULTILINE)
    assert [int(number) for number in parts[1::2]] == list(range(1, PROMISES + 1))
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
        assert named, f"promise {number} names no test"
        for file, test in named:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            found = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
            assert test in found, f"promise {number}: no {test} in {file}"


def test_every_target_of_make_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make (\w+)", PAGE))
    assert named >= {"test", "cluster", "soak"}
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []
