"""Lay 12,600 runs out on a cluster, from times measured on this machine.

python benchmarks/scaling.py                                  # times a few steps of each method
python benchmarks/scaling.py --rate 453 --score-seconds 30    # from figures known already

The large unsupervised study (arXiv:1811.12359): 6 methods × 6 strengths × 50 seeds on 7
data sets, 300,000 steps of 64 images with conv64. Steps are timed on images of one and of
three channels, scoring once for each; the rest is arithmetic. With --rate every method is
taken to be as fast, and disk is left out.
"""

import argparse
import math
import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass

METHODS = [
    {"name": "beta_vae"},
    {"name": "annealed_vae"},
    {"name": "factor_vae"},
    {"name": "dip_vae", "settings": {"form": "I"}},
    {"name": "beta_tcvae"},
]
TWICE = "dip_vae"
"""Both its forms are in the study and make the same steps, so that one is timed for the two."""

STRENGTHS, SEEDS, STEPS, BATCH = 6, 50, 300_000, 64
DATA_SETS = {"dsprites": 2, "color_dsprites": 5}
"""Timed on these, for so many sets: two of one channel (dSprites, SmallNORB), five of three."""


@dataclass(frozen=True)
class Kind:
    """Runs that take as long as each other."""

    method: str
    data: str
    runs: int
    train_seconds: float
    score_seconds: float
    bytes: int

    @property
    def core_hours(self) -> float:
        return self.runs * (self.train_seconds + self.score_seconds) / 3600

    def line(self) -> str:
        return (
            f"| {self.method} | {self.data} | {self.runs:,} "
            f"| {BATCH * STEPS / self.train_seconds:,.0f} | {self.train_seconds / 3600:.1f} h "
            f"| {self.score_seconds:.0f} s | {self.bytes / 1e6:.0f} MB | {self.core_hours:,.0f} |"
        )


def timed() -> Iterator[Kind]:
    """Time a few steps of every method."""
    from unweave.studies import Study, estimate, expand

    for data, sets in DATA_SETS.items():
        study = Study(
            name="scaling",
            data=data,
            methods=METHODS,
            seeds=1,
            settings={"architecture": "conv64"},
            budget={"steps": STEPS, "batch_size": BATCH},
        )
        plan = expand(study)
        for run, line in zip(plan.runs, estimate(plan, plan.runs, threads=1), strict=True):
            runs = STRENGTHS * SEEDS * sets * (2 if run.method == TWICE else 1)
            name = f"{run.method}, I and II" if run.method == TWICE else run.method
            yield Kind(name, data, runs, line.train_seconds, line.score_seconds, line.bytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, help="images per second and core, instead of timing")
    parser.add_argument("--score-seconds", type=float, default=30.0, help="with --rate")
    parser.add_argument("--cores", type=int, default=64, help="cores of a node")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--price", type=float, default=0.04, help="of a core and hour; assumed")
    parser.add_argument("--overhead", type=float, default=0.01, help="executor's share, measured")
    options = parser.parse_args()
    if options.rate:
        seconds = BATCH * STEPS / options.rate
        count = 6 * STRENGTHS * SEEDS * sum(DATA_SETS.values())
        kinds = [Kind("all", "all", count, seconds, options.score_seconds, 0)]
    else:
        kinds = list(timed())
    print("| method | timed on | runs | images/s | training | scoring | disk | core-hours |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in kinds:
        print(kind.line())
    runs, hours = sum(k.runs for k in kinds), sum(k.core_hours for k in kinds)
    size = sum(k.runs * k.bytes for k in kinds)
    slots = options.cores * options.nodes
    paid = hours * (1 + options.overhead)
    longest = max(k.train_seconds + k.score_seconds for k in kinds) / 3600
    # Long runs begun last keep single cores busy when all others are done.
    wall = paid / slots + longest / 2
    print(f"\n{runs:,} runs: {hours:,.0f} core-hours, {size / 1e9:,.0f} GB.")
    print(
        f"{options.nodes} nodes of {options.cores} cores, one run per core: "
        f"{math.ceil(runs / slots)} runs after another on each, {wall / 24:.1f} days; "
        f"{paid * options.price:,.0f} at {options.price} per core-hour, "
        f"with {100 * options.overhead:.0f} % for the executor."
    )
    print(f"Load of this machine: {os.getloadavg()[0]:.1f}.", end=" ")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory of this process: {peak:,.0f} MB, mapped data included.")


if __name__ == "__main__":
    main()
