"""A slice of `make fuzz`, and every case that once failed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cases import KINDS

from fuzz import CORPUS, problem_of, try_case

FOUND = [line.split() for line in (CORPUS / "found.txt").read_text().splitlines() if line.strip()]


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_files_and_commands_end_in_a_line(kind):
    for number in range(1_000_000, 1_000_012):
        command, problem = try_case(kind, number)
        assert problem is None, (number, command, problem)


def test_what_once_failed_ends_in_a_line():
    for kind, number in FOUND:
        command, problem = try_case(kind, int(number))
        assert problem is None, (kind, number, command, problem)


def test_the_fuzzer_notices_tracebacks_hangs_and_talk(monkeypatch):
    def raises() -> None:
        raise KeyError("a bug")

    def hangs() -> None:
        while True:
            pass

    monkeypatch.setattr("fuzz.KINDS", {"bad": lambda rng, folder: [raises]})
    assert "KeyError" in (try_case("bad", 0)[1] or "")
    monkeypatch.setattr("fuzz.LONGEST_SECONDS", 0.2)
    monkeypatch.setattr("fuzz.KINDS", {"bad": lambda rng, folder: [hangs]})
    assert try_case("bad", 0)[1] == "hung"
    monkeypatch.setattr("fuzz.main", lambda words: print("two\nlines", file=sys.stderr) or 2)
    assert "not one line" in (problem_of(["list"]) or "")
