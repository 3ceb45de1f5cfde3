"""Thousands of spoilt files and commands: none may end in a traceback, hang or fill the memory.

    python tests/fuzz/fuzz.py --cases 10000 --seed 0

Each case follows from its kind and number alone, so `--kind study --first 17 --cases 1` does
one again. What once failed is named in corpus/found.txt, which the ordinary suite repeats.
"""

import argparse
import contextlib
import io
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from cases import CORPUS as CORPUS
from cases import KINDS, Command

from unweave.cli import main
from unweave.errors import UnweaveError

LONGEST_SECONDS = 60.0
SAID_EVERY = 300  # cases
MOST_MEMORY = 12 << 30  # bytes of addresses; bombs ask for more


class Hung(BaseException):
    """A case took too long."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise after some seconds of this process's own time, so that a busy machine is no hang."""

    def stop(number: int, frame: Any) -> None:
        raise Hung

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def problem_of(command: Command) -> str | None:
    """Run one command in this process; say what is wrong with how it ended, if anything is."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            code = main(command) if isinstance(command, list) else _call(command)
    except SystemExit as exit_:  # help and wrong flags
        code = exit_.code if isinstance(exit_.code, int) else 1
        return None if code in (0, 2) else f"exit code {code}"
    except Hung:
        return "hung"
    except BaseException as error:  # what would be a traceback, of any kind
        return f"traceback {_where(error)}: {type(error).__name__}: {str(error)[:200]}"
    said = err.getvalue()
    if "not enough memory" in said:
        return f"memory: {said.strip()[:200]}"
    if code not in (0, 1, 2) or "Traceback" in said:
        return f"exit code {code}: {said.strip()[-300:]}"
    if code == 2 and not _is_one_line(said):
        return f"not one line: {said[:300]!r}"
    return None


def _call(call: Callable[[], Any]) -> int:
    try:
        call()
    except UnweaveError:
        return 0  # the explorer says it to the browser
    return 0


def _is_one_line(said: str) -> bool:
    """Whether errors are a line, or a list of mistakes; what was left out may stand before."""
    told = ("warning: ", "They are left out")
    lines = [
        line
        for line in said.splitlines()
        if not line.startswith(told[0]) and not line.endswith(told[1])
    ]
    errors = [line for line in lines if line.startswith("error: ")]
    return len(errors) == 1 and all(
        line.startswith(("error: ", "  - ", "step ")) for line in lines if line.strip()
    )


def _where(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "unweave" in f.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside"


def try_case(kind: str, number: int) -> tuple[Command | None, str | None]:
    """Make one case in a folder of its own and run it; return what failed, and how."""
    rng = random.Random(f"{kind} {number}")
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        # As if it was made again after its end: what a case writes no other one reads.
        folder = Path(place)
        with _own_cache(folder / "cache" if kind in ("array_data", "image_data") else None):
            for command in KINDS[kind](rng, folder):
                try:
                    with at_most(LONGEST_SECONDS):
                        problem = problem_of(command)
                except Hung:
                    problem = "hung"
                if problem is not None:
                    return command, problem
    return None, None


@contextlib.contextmanager
def _own_cache(folder: Path | None) -> Iterator[None]:
    before = os.environ.get("UNWEAVE_CACHE")
    if folder is not None:
        os.environ["UNWEAVE_CACHE"] = str(folder)
    try:
        yield
    finally:
        if before is not None:
            os.environ["UNWEAVE_CACHE"] = before


def fuzz(kinds: list[str], first: int, cases: int) -> Counter[str]:
    """Run cases of every kind in turn; print each that fails, and return how they ended."""
    found: Counter[str] = Counter()
    for index in range(cases):
        kind, number = kinds[index % len(kinds)], first + index // len(kinds)
        command, problem = try_case(kind, number)
        found[kind] += 1
        if problem is not None:
            found[problem.partition(" ")[0].rstrip(":")] += 1
            found["failed"] += 1
            words = command if isinstance(command, list) else "a call of the explorer"
            print(f"{kind} {number}: {problem}\n    {str(words)[:300]}", flush=True)
        if (index + 1) % SAID_EVERY == 0:
            print(f"{index + 1:,} cases so far, {found['failed']} failures", flush=True)
    return found


def run(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kind", choices=sorted(KINDS), action="append")
    flags = parser.parse_args(argv)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    began, cpu = time.monotonic(), time.process_time()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["UNWEAVE_CACHE"] = cache
        found = fuzz(flags.kind or list(KINDS), flags.first, flags.cases)
    by_kind = ", ".join(f"{found[kind]} {kind}" for kind in KINDS if found[kind])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{flags.cases:,} cases ({by_kind}): {found['traceback']} tracebacks, {found['hung']} "
        f"hangs, {found['failed']} failures in all; {time.process_time() - cpu:,.0f} CPU seconds, "
        f"{time.monotonic() - began:,.0f} s, peak {peak:,.0f} MB"
    )
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(run())
