"""Look at the machine: what is installed, what computes, and whether it is as fast as it should.

Speed is told as a ratio: images trained on in a second, over billions of multiplications of a
plain matrix product in the same moment. The ratio is about the same on every healthy machine,
however fast; threads that fight each other lower it.
"""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from unweave.data import FactorImages, from_arrays
from unweave.devices import choose_device
from unweave.files.cache import cache_folder
from unweave.methods.beta_vae import BetaVAE
from unweave.networks.quick64 import Quick64
from unweave.runs.config import Machine, Train
from unweave.training import loop

SIDE = 1024  # of the matrices multiplied
BATCH = 64
USUAL = 45.0
"""Images per second and GFLOP/s with one thread, as `unweave doctor` measured on two idle cores
of a server; beside other work it was 38 to 47."""
ROOM = 2e9  # bytes that dSprites, cached folders and codes may take
BUSY = 0.5  # load by core from which other work slows ours


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    what: str
    found: str
    advice: str = ""
    """What to do about it; nothing if it is well."""


def examine(*, speed: bool = True) -> list[Finding]:
    """Look at everything; `speed` takes some seconds."""
    found = [_python(), *_packages(), *_extras(), _device(), _cores(), _threads(), _cache()]
    return [*found, *_speed()] if speed else found


def _python() -> Finding:
    system = f"{platform.system()} {platform.machine()}"
    return Finding("Python", f"{platform.python_version()} on {system}, {sys.executable}")


def _packages() -> list[Finding]:
    names = ("unweave", "torch", "numpy", "scipy", "scikit-learn", "lightgbm")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return [Finding("packages", versions)]


def _extras() -> list[Finding]:
    """Say of each extra whether all it asks for is installed."""
    wanted: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("unweave") or []:
        package = re.match(r"[\w.-]+", line)
        wish = re.search(r"extra == ['\"](\w+)['\"]", line)
        if package and wish and wish[1] != "dev" and package[0] != "unweave":
            wanted.setdefault(wish[1], []).append(package[0])
    found = []
    for extra, packages in sorted(wanted.items()):
        missing = [name for name in packages if not _is_installed(name)]
        if missing:
            advice = f"if you want it: pip install 'unweave[{extra}]'"
            found.append(Finding(f"extra {extra}", f"lacks {', '.join(missing)}", advice))
        else:
            found.append(Finding(f"extra {extra}", "installed"))
    return found


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _device() -> Finding:
    device = choose_device("auto")
    if device.type == "cuda":
        return Finding("device", f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}")
    if device.type == "cpu" and torch.version.cuda:
        advice = "this torch was made for CUDA, and finds no device: look at the driver"
        return Finding("device", "cpu", advice)
    return Finding("device", str(device))


def _cores() -> Finding:
    """Say how many cores there are for us, and how busy they are."""
    all_cores = os.cpu_count() or 1
    ours = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else all_cores
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    advice = ""
    if load > BUSY * ours:
        advice = "other work is running: trainings take longer, and speeds below are too low"
    return Finding("cores", f"{ours} of {all_cores}, load {load:.1f}", advice)


def _threads() -> Finding:
    """Say how many threads compute, and whether two libraries keep threads of their own."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "openmp"]
    names = sorted({Path(pool["filepath"]).name for pool in pools})
    asked = os.environ.get("OMP_NUM_THREADS")
    found = f"{torch.get_num_threads()} of torch"
    found += f", OMP_NUM_THREADS={asked}" if asked else ""
    found += f"; OpenMP of {', '.join(names)}" if names else ""
    kinds = {pool["prefix"] for pool in pools}
    advice = ""
    if len(kinds) > 1:
        advice = f"{' and '.join(sorted(kinds))} both keep threads: give --threads 1 if it is slow"
    return Finding("threads", found, advice)


def _cache() -> Finding:
    folder = cache_folder()
    place = next(path for path in (folder, *folder.parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    advice = ""
    if not os.access(place, os.W_OK):
        advice = "it may not be written to: set UNWEAVE_CACHE to a folder of yours"
    elif free < ROOM:
        advice = f"{ROOM / 1e9:.0f} GB are good to have: set UNWEAVE_CACHE to a folder with more"
    return Finding("cache", f"{folder}, {free / 1e9:,.1f} GB free", advice)


def _speed() -> list[Finding]:
    before = torch.get_num_threads()
    data = _images()
    try:
        product = products_per_second(1)
        one = images_per_second(data, 1)
        ratio = one / product
        advice = ""
        if ratio < USUAL / 2:
            advice = f"less than half of the usual ratio of {USUAL:.0f}: is the machine busy?"
        words = f"{one:,.0f} images/s, {product:.0f} GFLOP/s: ratio {ratio:.1f}, usual {USUAL:.0f}"
        found = [Finding("speed of 1 thread", words, advice)]
        if before > 1:
            several = images_per_second(data, before)
            advice = "" if several > one else "more threads are slower here: give --threads 1"
            words = f"{several:,.0f} images/s, {several / one:.2f} × one thread"
            found.append(Finding(f"speed of {before} threads", words, advice))
    finally:
        torch.set_num_threads(before)
    return found


def products_per_second(threads: int, seconds: float = 0.5) -> float:
    """Return billions of operations per second in products of matrices."""
    torch.set_num_threads(threads)
    one, two = torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)
    one @ two
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        one @ two
        count += 1
    return 2 * SIDE**3 * count / (time.perf_counter() - began) / 1e9


def images_per_second(data: FactorImages, threads: int, steps: int = 60) -> float:
    """Return how many images a β-VAE of a small network is trained on in a second."""
    machine = Machine(threads=threads, device="cpu", evaluations=0)
    moments = []
    with tempfile.TemporaryDirectory() as folder:
        for part, length in enumerate((5, 5, 5 + steps)):  # the first one warms up
            config = Train(
                method=BetaVAE(),
                data=data.name,
                architecture=Quick64(),
                steps=length,
                batch_size=BATCH,
            )
            began = time.perf_counter()
            loop.start(config, data, Path(folder) / str(part), machine)
            moments.append(time.perf_counter() - began)
    return steps * BATCH / max(moments[2] - moments[1], 1e-9)


def _images() -> FactorImages:
    pixels = np.random.default_rng(0).random((256, 64, 64)) > 0.9
    return from_arrays(pixels, name="noise")
