"""Lay 12,600 runs out on a cluster, with times probed on this machine: python benchmarks/scaling.py

The large unsupervised study (arXiv:1811.12359): 6 methods × 6 strengths × 50 seeds on 7
data sets, 300,000 steps of 64 images with conv64. A step of every method is timed on
images of one and of three channels, scoring once for each; the rest is arithmetic.
"""

import argparse
import math
import os

from unweave.studies import Study
from unweave.studies._estimate import estimate
from unweave.studies._expansion import expand

METHODS = [
    {"name": "beta_vae"},
    {"name": "annealed_vae"},
    {"name": "factor_vae"},
    {"name": "dip_vae", "label": "dip_vae_i", "settings": {"form": "I"}},
    {"name": "beta_tcvae"},
]
"""Both forms of DIP-VAE make the same steps, so that one is timed for the two."""

SHARES = {"beta_vae": 1, "annealed_vae": 1, "factor_vae": 1, "dip_vae_i": 2, "beta_tcvae": 1}
STRENGTHS, SEEDS = 6, 50
DATA_SETS = {"dsprites": 2, "color_dsprites": 5}
"""Timed on the first, for so many sets: two of one channel (dSprites, SmallNORB), five of three."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=64, help="cores of a node")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--price", type=float, default=0.04, help="of a core and hour; assumed")
    parser.add_argument("--overhead", type=float, default=0.03, help="executor's share, measured")
    options = parser.parse_args()
    rows, runs, core_hours, size = [], 0, 0.0, 0.0
    for data, sets in DATA_SETS.items():
        study = Study(
            name="scaling",
            data=data,
            methods=METHODS,
            seeds=1,
            metrics="default",
            settings={"architecture": "conv64"},
            budget={"steps": 300_000, "batch_size": 64},
        )
        plan = expand(study)
        for run, line in zip(plan.runs, estimate(plan, plan.runs, threads=1), strict=True):
            count = STRENGTHS * SEEDS * sets * SHARES[run.method]
            hours = count * line.seconds / 3600
            runs, core_hours, size = runs + count, core_hours + hours, size + count * line.bytes
            rows.append(
                f"| {run.method} | {data} | {count:,} | {64 * 3e5 / line.train_seconds:,.0f} "
                f"| {line.train_seconds / 3600:.1f} h | {line.score_seconds:.0f} s "
                f"| {line.bytes / 1e6:.0f} MB | {hours:,.0f} |"
            )
            print(rows[-1], flush=True)
    print("\n| method | timed on | runs | images/s | training | scoring | disk | core-hours |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    slots = options.cores * options.nodes
    with_overhead = core_hours * (1 + options.overhead)
    longest = max(float(row.split("|")[5].split()[0]) for row in rows)
    wall = max(with_overhead / slots, longest)
    waves = math.ceil(runs / slots)
    print(f"\n{runs:,} runs: {core_hours:,.0f} core-hours, {size / 1e9:,.0f} GB.")
    print(
        f"With {options.nodes} nodes of {options.cores} cores, one run per core: "
        f"{waves} waves, {wall / 24:.1f} days at full use, {with_overhead * options.price:,.0f} "
        f"at {options.price} per core-hour, executor's {100 * options.overhead:.0f} % included."
    )
    print(f"Load of this machine at the end: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
