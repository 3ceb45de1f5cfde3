"""Does a busy machine take more from a training than its share of the cores?

    python benchmarks/busy.py [--busy 0 1 2 4] [--rounds 3] [--steps 400]
    python benchmarks/busy.py --write     # renews its part of docs/results/training_speed.md

Trains the default recipe for a few steps beside processes that only count, and prints how much
longer a step takes than alone, beside how much longer it would take if all threads had an even
share of the cores. Ways turn about: with as many threads as a run takes by itself; with one for
each core, as from the command line, where threads that wait soon sleep; the same as in a notebook,
where they wait as OpenMP does by itself; and with one thread. Seconds that passed, reading of
images included. For an idle machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from marked_pages import renew

PAGE = Path(__file__).parent.parent / "docs" / "results" / "training_speed.md"
CORES = os.cpu_count() or 1
BY_ITSELF = "by itself"
WAYS: dict[str, tuple[int | None, dict[str, str]]] = {
    BY_ITSELF: (None, {}),
    f"{CORES} threads, command line": (CORES, {"GOMP_SPINCOUNT": "10000"}),
    f"{CORES} threads, notebook": (CORES, {}),
    "1 thread": (1, {}),
}
"""Threads of each way, and what it sets before torch is imported."""
WARM = 50  # steps before the clock starts


def milliseconds_of_a_step(steps: int, threads: int | None) -> float:
    """Train in this process and return how long a step took, those at the start left out."""
    from unweave import recipes, workflows
    from unweave.data import load_data
    from unweave.runs.config import Machine
    from unweave.training import loop

    config = replace(recipes.demo(), steps=WARM, silence=0.0)
    machine = Machine(threads=threads, evaluations=0, checkpoint_seconds=1e9)
    data = load_data("dsprites")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        workflows.train_config(config, data, place, machine, evaluate=False, progress=False)
        began = time.monotonic()
        loop.resume(place, data, machine, steps=WARM + steps)
        return 1e3 * (time.monotonic() - began) / steps


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes counting meanwhile."""
    counting = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
            process.wait()


def measured(way: str, steps: int) -> float:
    """Return what a step takes in a process of its own that goes this way."""
    threads, environment = WAYS[way]
    words = [sys.executable, __file__, "--one", str(threads or 0), "--steps", str(steps)]
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run(words, env=bare | environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def even_share(threads: int, others: int) -> float:
    """Return how many times longer a training takes whose threads share the cores evenly."""
    wanted = threads + others
    return max(wanted / CORES, 1.0) * min(threads, CORES) / threads


def table(found: dict[tuple[str, int], list[float]]) -> str:
    """Return what was measured as Markdown."""
    lines = [
        "| busy processes | way | ms a step | times as long as alone | of even shares |",
        "|---|---|---|---|---|",
    ]
    for (way, others), values in sorted(found.items(), key=lambda item: item[0][1]):
        times = median(values) / median(found[way, 0])
        fair = even_share(WAYS[way][0] or CORES, others)
        lines.append(f"| {others} | {way} | {median(values):.1f} | {times:.1f} | {fair:.1f} |")
    return "\n".join(lines)


def part(found: dict[tuple[str, int], list[float]], steps: int) -> str:
    """Return the part of the page, and how it was measured."""
    rounds = max(len(values) for values in found.values())
    return (
        f"`python benchmarks/busy.py` on {datetime.now(UTC).date()}, {CORES} cores: the default "
        f"recipe, {steps} steps, medians of {rounds} rounds.\n\n{table(found)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="renew the page as well")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(milliseconds_of_a_step(options.steps, options.one or None))
        return
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(options.rounds):
        for others in sorted({0, *options.busy}):
            for way in WAYS:
                with busy(others):
                    found.setdefault((way, others), []).append(measured(way, options.steps))
    text = part(found, options.steps)
    print(text)
    if options.write:
        renew(PAGE, {"busy": text})


if __name__ == "__main__":
    main()
