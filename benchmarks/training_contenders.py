"""What `training.py` measures: our loop, a plain loop, layers, encoding, a matrix product.

Each contender is a function from a clock and sizes to a rate.
"""

import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, Dataset

from unweave import devices
from unweave.data import load_data
from unweave.devices import Precision
from unweave.methods import method_named
from unweave.networks import architecture_named
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.training import loop
from unweave.wide_products import linear_by_onednn, there_is_a_product

LATENT_DIM = 10
IMAGE_SHAPE = (1, 64, 64)
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int
    steps: int
    encoded: int
    """Images encoded."""


FULL = Sizes(rounds=3, steps=40, encoded=8192)
QUICK = Sizes(rounds=1, steps=15, encoded=1024)
WARM_UP_STEPS = 5


class Clock:
    """Seconds that pass, or seconds of the processor divided by the threads."""

    def __init__(self, kind: str, threads: int):
        self.kind, self.threads = kind, threads

    def now(self) -> float:
        if self.kind == "wall":
            return time.perf_counter()
        used = resource.getrusage(resource.RUSAGE_SELF)
        return (used.ru_utime + used.ru_stime) / self.threads


class StepTimes(loop.Watcher):
    """Notes when steps are done."""

    def __init__(self, clock: Clock):
        self.clock = clock
        self.times: list[float] = []

    def stepped(self, step: int) -> None:
        self.times.append(self.clock.now())


def rate_of(times: list[float], batch_size: int) -> float:
    """Return images per second after the warm-up."""
    times = times[WARM_UP_STEPS - 1 :]
    return batch_size * (len(times) - 1) / (times[-1] - times[0])


def measure_loop(
    clock: Clock,
    sizes: Sizes,
    method: str,
    architecture: str,
    data: str,
    batch_size: int,
    *,
    precision: Precision = "float32",
    compiled: bool = False,
) -> float:
    """Return images per second of our loop."""
    config = Train(
        method=method_named(method)(),
        data=data,
        architecture=architecture_named(architecture)(),
        steps=WARM_UP_STEPS + sizes.steps,
        batch_size=batch_size,
        precision=precision,
    )
    machine = Machine(
        device="cpu",
        threads=clock.threads,
        evaluations=0,
        checkpoint_seconds=1e9,
        compile=compiled,
    )
    watcher = StepTimes(clock)
    with tempfile.TemporaryDirectory() as folder:
        loop.start(config, load_data(data), Path(folder) / "run", machine, [watcher])
    return rate_of(watcher.times[:-1], batch_size)  # the last step also writes the checkpoint


def measure_run_encoding(clock: Clock, sizes: Sizes) -> float:
    """Return images per second of a run that encodes rows of the data set, as scoring does."""
    torch.set_num_threads(clock.threads)
    devices.tune_allocator()
    data = load_data("dsprites")
    method = method_named("beta_vae")(latent_dim=LATENT_DIM)
    nets = devices.place(method.networks(architecture_named("conv64")(), data.summary), CPU)
    run = Run(Train(method=method, data="dsprites"), data.summary, nets, step=0, data=data)
    rows = np.random.default_rng(0).permutation(len(data))
    run.encode_rows(rows[:512])
    start = clock.now()
    run.encode_rows(rows[: sizes.encoded])
    return sizes.encoded / (clock.now() - start)


class PlainImages(Dataset[Tensor]):
    """Some images of dSprites, one byte per pixel, as people keep them in memory."""

    def __init__(self, count: int = 32_768):
        data = load_data("dsprites")
        rows = np.random.default_rng(0).choice(len(data), size=count, replace=False)
        self.images = np.concatenate(
            [data.images(part).astype(np.uint8) for part in np.array_split(rows, count // 1024)]
        )

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Tensor:
        return torch.from_numpy(self.images[index]).float()

    def loader(self) -> DataLoader[Tensor]:
        return DataLoader(self, batch_size=64, shuffle=True, drop_last=True)


def plain_layers(networks: nn.Module, *, in_place: bool) -> nn.Module:
    """Turn our layers into torch's own, and set whether ReLUs work in place."""
    for module in networks.modules():
        for kind in (nn.Conv2d, nn.ConvTranspose2d):
            if isinstance(module, kind):
                module.__class__ = kind
        if isinstance(module, nn.ReLU):
            module.inplace = in_place
    return networks


def endless(loader: DataLoader[Tensor]) -> Iterator[Tensor]:
    while True:
        yield from loader


def autoencoder(architecture: str) -> nn.ModuleList:
    """Return encoder and decoder with our layers."""
    settings = architecture_named(architecture)()
    encoder = settings.encoder(IMAGE_SHAPE, 2 * LATENT_DIM)
    return nn.ModuleList([encoder, settings.decoder(LATENT_DIM, IMAGE_SHAPE)])


def plain_step(networks: nn.ModuleList, optimizer: torch.optim.Optimizer, images: Tensor) -> None:
    """Make one step of β-VAE, written out."""
    encoder, decoder = networks
    mean, logvar = encoder(images).chunk(2, dim=1)
    z = mean + (0.5 * logvar).exp() * torch.randn_like(mean)
    error = binary_cross_entropy_with_logits(decoder(z), images, reduction="sum") / len(images)
    kl = 0.5 * (mean.square() + logvar.exp() - 1 - logvar).sum(1).mean()
    optimizer.zero_grad()
    (error + 4 * kl).backward()
    optimizer.step()


def measure_plain_loop(
    clock: Clock, sizes: Sizes, *, allocator: bool, channels_last: bool, our_layers: bool
) -> float:
    """Return images per second of a loop as people write it, with some of our changes."""
    torch.set_num_threads(clock.threads)
    if allocator:
        devices.tune_allocator()
    networks = autoencoder("conv64")
    if not our_layers:
        plain_layers(networks, in_place=channels_last)
    if channels_last:
        devices.place(networks, CPU)
    optimizer = torch.optim.Adam(networks.parameters(), lr=1e-4, fused=channels_last or None)
    times = []
    batches = endless(PlainImages().loader())
    for _ in range(WARM_UP_STEPS + sizes.steps):
        plain_step(networks, optimizer, next(batches))
        times.append(clock.now())
    return rate_of(times, 64)


def measure_layers(clock: Clock, sizes: Sizes, architecture: str) -> float:
    """Return how much faster steps are with our layers than with plain ones, all else equal.

    The two alternate step by step in one process, which tells small gains from noise.
    """
    torch.set_num_threads(clock.threads)
    devices.tune_allocator()
    images = next(iter(PlainImages().loader()))
    ours, plain = autoencoder(architecture), autoencoder(architecture)
    seconds: list[list[float]] = []
    players = []
    for networks in (ours, plain_layers(plain, in_place=True)):
        devices.place(networks, CPU)
        players.append((networks, torch.optim.Adam(networks.parameters(), lr=1e-4, fused=True)))
        seconds.append([])
    for step in range(WARM_UP_STEPS + sizes.steps):
        for (networks, optimizer), taken in zip(players, seconds, strict=True):
            start = clock.now()
            plain_step(networks, optimizer, images)
            if step >= WARM_UP_STEPS:
                taken.append(clock.now() - start)
    return statistics.median(b / a for a, b in zip(*seconds, strict=True))


def measure_plain_encoding(clock: Clock, sizes: Sizes) -> float:
    """Return images per second of a plain encoder fed by a DataLoader."""
    torch.set_num_threads(clock.threads)
    encoder = plain_layers(autoencoder("conv64")[0], in_place=False)
    times = []
    with torch.no_grad():
        batches = endless(PlainImages().loader())
        for _ in range(WARM_UP_STEPS + sizes.encoded // 64):
            encoder(next(batches))
            times.append(clock.now())
    return rate_of(times, 64)


def measure_peak(clock: Clock, side: int = 2048) -> float:
    """Return the floating-point operations per second of a product of square matrices.

    By the better of the two libraries that torch has them from: on AMD's processors the usual one
    takes half the width of their vectors.
    """
    torch.set_num_threads(clock.threads)
    a, b = torch.randn(side, side), torch.randn(side, side)
    products = [lambda: a @ b]
    if there_is_a_product():
        products.append(lambda: linear_by_onednn(a, b, None, "none", [], ""))
    return max(2 * side**3 / _median_seconds(product, clock) for product in products)


def _median_seconds(call: Callable[[], object], clock: Clock, times: int = 10) -> float:
    call()
    seconds = []
    for _ in range(times):
        start = clock.now()
        call()
        seconds.append(clock.now() - start)
    return statistics.median(seconds)


def conv64_loop(
    method: str, precision: Precision = "float32", compiled: bool = False
) -> Callable[[Clock, Sizes], float]:
    return lambda clock, sizes: measure_loop(
        clock,
        sizes,
        method,
        "conv64",
        "dsprites",
        64,
        precision=precision,
        compiled=compiled,
    )


def plain_loop(**changes: bool) -> Callable[[Clock, Sizes], float]:
    settings = {"allocator": False, "channels_last": False, "our_layers": False} | changes
    return lambda clock, sizes: measure_plain_loop(clock, sizes, **settings)


def other_loop(architecture: str, data: str, batch_size: int) -> Callable[[Clock, Sizes], float]:
    return lambda clock, sizes: measure_loop(
        clock, sizes, "beta_vae", architecture, data, batch_size
    )


def layers_of(architecture: str) -> Callable[[Clock, Sizes], float]:
    return lambda clock, sizes: measure_layers(clock, sizes, architecture)


PEAK = "matrix product"
PLAIN = "plain loop"
LADDER = {
    PLAIN: plain_loop(),
    "+ allocator keeps large blocks": plain_loop(allocator=True),
    "+ channels_last, ReLU in place, fused Adam": plain_loop(allocator=True, channels_last=True),
    "+ our layers": plain_loop(allocator=True, channels_last=True, our_layers=True),
}
OURS = {
    "our loop, vae": conv64_loop("vae"),
    "our loop, beta_vae": conv64_loop("beta_vae"),
    "our loop, beta_tcvae": conv64_loop("beta_tcvae"),
    "our loop, factor_vae": conv64_loop("factor_vae"),
    "our loop, beta_vae, --compile": conv64_loop("beta_vae", compiled=True),
    "our loop, beta_vae, --precision bfloat16": conv64_loop("beta_vae", "bfloat16"),
}
ENCODING = {"plain encoding": measure_plain_encoding, "our encoding": measure_run_encoding}
LAYERS = {f"layers of {name}": layers_of(name) for name in ("conv64", "quick64")}
OTHERS = {
    f"{architecture} on {data}, batch {batch_size}": other_loop(architecture, data, batch_size)
    for architecture, data in [
        ("conv64", "dsprites"),
        ("burgess64", "dsprites"),
        ("mlp64", "dsprites"),
        ("quick64", "dsprites"),
        ("conv_any", "toy_xys"),
    ]
    for batch_size in (64, 256)
}
CONTENDERS: dict[str, Callable[[Clock, Sizes], float]] = {
    PEAK: lambda clock, sizes: measure_peak(clock),
    **LADDER,
    **OURS,
    **ENCODING,
    **LAYERS,
    **OTHERS,
}
