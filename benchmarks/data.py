"""Measure how fast images come out of every set that is made here, and what they take.

    python benchmarks/data.py [--names shapes3d faces] [--batch 64] [--seconds 2]
    python benchmarks/data.py --sources     # rows drawn evenly, by weights, of a split
    python benchmarks/data.py --sizes       # images per second in training, by their side

Each set is measured in a process of its own: what making it takes the first time (in an empty
cache), how many images a second it then hands out in random batches, how much disk its cache
takes, and how much memory the process gained. Rates are per second of the clock and of the
processor: they agree on an idle machine. Threads are as the environment sets them
(OMP_NUM_THREADS).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from unweave import catalog
from unweave.data import DataOptions, load_data

NEED_FILES = (
    *("cars3d", "celeba", "chairs3d", "fashion_mnist", "mnist", "mpi3d", "smallnorb", "yale_b"),
)


def memory() -> float:
    """Return the largest size the process has had, in MB."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1e6 if sys.platform == "darwin" else 1e3)


def measure(name: str, batch: int, seconds: float) -> dict[str, float]:
    """Make a set in an empty cache, then draw batches of it."""
    before = memory()
    began, worked = time.perf_counter(), time.process_time()
    data = load_data(name)
    rng = np.random.default_rng(0)
    data.images(data.draw_rows(batch, rng), rng)
    made, work = time.perf_counter() - began, time.process_time() - worked
    count, began, worked = 0, time.perf_counter(), time.process_time()
    while time.process_time() - worked < seconds:
        images = data.images(data.draw_rows(batch, rng), rng)
        assert images.dtype == np.float32
        count += batch
    cache = Path(os.environ["UNWEAVE_CACHE"])
    disk = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    return {
        "images": len(data),
        "made": made,
        "work": work,
        "rate": count / (time.perf_counter() - began),
        "rate_of_work": count / (time.process_time() - worked),
        "disk": disk / 1e6,
        "memory": memory() - before,
    }


def say_sets(names: list[str], batch: int, seconds: float) -> None:
    print("| set | images | made in s (CPU) | images/s (CPU) | cache (MB) | memory (MB) |")
    print("|---|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            words = [sys.executable, __file__, "--one", name]
            words += ["--batch", str(batch), "--seconds", str(seconds)]
            out = subprocess.run(
                words, env={**os.environ, "UNWEAVE_CACHE": cache}, check=True, capture_output=True
            )
        found = json.loads(out.stdout)
        print(
            f"| `{name}` | {found['images']:,} | {found['made']:.1f} ({found['work']:.1f}) "
            f"| {found['rate']:,.0f} ({found['rate_of_work']:,.0f}) | {found['disk']:,.0f} "
            f"| {found['memory']:,.0f} |",
            flush=True,
        )


def say_sources(batch: int, seconds: float) -> None:
    """Compare even draws with draws by weights, and with those of what a split leaves."""
    print("| rows drawn from dsprites | rows per CPU second |")
    print("|---|---|")
    for words, options in (
        ("evenly", DataOptions()),
        ("by weights", DataOptions(correlate="orientation~x:0.1")),
        ("of what a split leaves", DataOptions(split="range")),
    ):
        data = load_data("dsprites", options)
        data = data.part("train") if data.held_out is not None else data
        rng, count, began = np.random.default_rng(0), 0, time.process_time()
        while time.process_time() - began < seconds:
            count += len(data.draw_rows(batch, rng))
        print(f"| {words} | {count / (time.process_time() - began):,.0f} |", flush=True)


def say_sizes(seconds: float) -> None:
    """Train the usual networks on colour images of several sides."""
    import torch

    from unweave import devices
    from unweave.batches import Batch
    from unweave.data import DataSummary
    from unweave.methods.beta_vae import BetaVAE
    from unweave.networks import Architecture, architecture_for
    from unweave.networks.conv_any import ConvAny

    method, device, batch = BetaVAE(likelihood="calibrated"), torch.device("cpu"), 16

    def rate(architecture: Architecture, side: int) -> float:
        nets = method.networks(architecture, DataSummary((3, side, side), 1000, {}))
        devices.place(nets, device)
        optimizer = torch.optim.Adam(nets.parameters(), 1e-4)
        images = devices.place_images(torch.rand(batch, 3, side, side), device)
        count, began = -batch, time.process_time()  # the first step only warms up
        while time.process_time() - began < seconds or count <= 0:
            loss = method.loss(nets, Batch(images, 1000), 0)
            optimizer.zero_grad()
            loss.total.backward()
            optimizer.step()
            count += batch
            began = time.process_time() if count == 0 else began
        return count / (time.process_time() - began)

    torch.set_num_threads(1)
    print("images per CPU second of one thread\n")
    print("| side | conv_any | the usual architecture |")
    print("|---|---|---|")
    for side in (64, 128, 256):
        usual = architecture_for((3, side, side))
        print(f"| {side} | {rate(ConvAny(), side):,.0f} | {rate(usual, side):,.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", nargs="*", default=[])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.batch, options.seconds)))
    elif options.sizes:
        say_sizes(options.seconds)
    elif options.sources:
        say_sources(options.batch, options.seconds)
    else:
        every = [name for name in catalog.names("unweave.data") if name not in NEED_FILES]
        say_sets(options.names or every, options.batch, options.seconds)


if __name__ == "__main__":
    main()
