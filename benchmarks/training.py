"""How fast is training, against a plain loop and against the processor itself?

    python benchmarks/training.py             # ten minutes; writes docs/results/training_speed.md
    python benchmarks/training.py --quick     # a first look, prints only
    python benchmarks/training.py --networks  # the other networks as well

Measures images per second of conv64 on dSprites, data included, for

- our loop (`unweave.training.loop`) as `unweave train` runs it;
- a plain loop: eager, NCHW, plain layers, Adam, a torch DataLoader, the C library's
  allocator as it comes; then the same loop with one thing changed after another;
- our layers against plain ones, which matter less than the noise between processes;
- encoding, which scoring needs, by a run and by the plain loop;
- a product of two square matrices, the peak that fractions refer to.

Every contender runs in a process of its own, since the allocator's settings stay
with a process. Contenders alternate and the median over the rounds counts, since
machines are noisy. With `--clock processor` seconds are those of the processor,
divided by the threads; for machines that others use as well.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, Dataset

from unweave import devices
from unweave.config import Machine, Train
from unweave.data import load_data
from unweave.methods import method_named
from unweave.networks import Architecture, architecture_named
from unweave.runs import Run
from unweave.training import loop

REPORT = Path(__file__).parent.parent / "docs" / "results" / "training_speed.md"
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
    clock: Clock, sizes: Sizes, method: str, architecture: str, data: str, batch_size: int
) -> float:
    """Return images per second of our loop."""
    config = Train(
        method=method_named(method)(),
        data=data,
        architecture=architecture_named(architecture)(),
        steps=WARM_UP_STEPS + sizes.steps,
        batch_size=batch_size,
    )
    watcher = StepTimes(clock)
    with tempfile.TemporaryDirectory() as folder:
        loop.start(
            config,
            load_data(data),
            Path(folder) / "run",
            Machine(device="cpu", threads=clock.threads, evaluations=0, checkpoint_seconds=1e9),
            [watcher],
        )
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
    """Return the floating-point operations per second of a product of square matrices."""
    torch.set_num_threads(clock.threads)
    a, b = torch.randn(side, side), torch.randn(side, side)
    out = a @ b
    rates = []
    for _ in range(10):
        start = clock.now()
        torch.mm(a, b, out=out)
        rates.append(2 * side**3 / (clock.now() - start))
    return statistics.median(rates)


def conv64_loop(method: str) -> Callable[[Clock, Sizes], float]:
    return lambda clock, sizes: measure_loop(clock, sizes, method, "conv64", "dsprites", 64)


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
    "+ last layer as a matrix product": plain_loop(
        allocator=True, channels_last=True, our_layers=True
    ),
}
OURS = {"our loop, vae": conv64_loop("vae"), "our loop, beta_vae": conv64_loop("beta_vae")}
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


def products(network: nn.Sequential, inputs: Tensor) -> list[int]:
    """Count the multiplications of each layer with weights, for one image.

    A weight of a convolution is used once per output pixel, one of a transposed
    convolution once per input pixel, one of a linear layer once. Products with
    the zeros of the padding count too, as they do in every count.
    """
    counts = []
    for layer in network:
        outputs = layer(inputs)
        if isinstance(layer, nn.ConvTranspose2d):
            counts.append(layer.weight.numel() * prod(inputs.shape[2:]))
        elif isinstance(layer, nn.Conv2d):
            counts.append(layer.weight.numel() * prod(outputs.shape[2:]))
        elif isinstance(layer, nn.Linear):
            counts.append(layer.weight.numel())
        inputs = outputs
    return counts


def operations_per_image(architecture: Architecture) -> tuple[int, int]:
    """Return the floating-point operations of a training step and of encoding, per image."""
    encoder = products(
        architecture.encoder(IMAGE_SHAPE, 2 * LATENT_DIM), torch.zeros(1, *IMAGE_SHAPE)
    )
    decoder = products(architecture.decoder(LATENT_DIM, IMAGE_SHAPE), torch.zeros(1, LATENT_DIM))
    # Forward, gradient of the weights, gradient of the inputs; images need none of the last.
    training = 2 * (3 * sum(encoder) + 3 * sum(decoder) - encoder[0])
    return training, 2 * sum(encoder)


def in_own_process(contender: str, threads: int, clock: str, quick: bool) -> float:
    command = [sys.executable, __file__, "--contender", contender, "--threads", str(threads)]
    command += ["--clock", clock] + ["--quick"] * quick
    # As a plain script would start: what the parent's environment says of threads is left out.
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def measure_all(
    threads: list[int], clock: str, quick: bool, with_networks: bool, loads: list[float]
) -> dict[int, dict[str, list[float]]]:
    """Return the rates by threads and contender; append the load after each of them."""
    rates: dict[int, dict[str, list[float]]] = {count: {} for count in threads}
    rounds = (QUICK if quick else FULL).rounds
    for number in range(rounds):
        for count in threads:
            for contender in CONTENDERS:
                if contender in OTHERS and not with_networks:
                    continue
                rate = in_own_process(contender, count, clock, quick)
                rates[count].setdefault(contender, []).append(rate)
                loads.append(os.getloadavg()[0])
                print(
                    f"round {number + 1}/{rounds}, {count} threads, {contender}: {rate:.4g}",
                    file=sys.stderr,
                    flush=True,
                )
    return rates


def report(rates: dict[int, dict[str, list[float]]], clock: str, loads: list[float]) -> str:
    median = {
        count: {name: statistics.median(values) for name, values in of.items()}
        for count, of in rates.items()
    }
    training, encoding = operations_per_image(architecture_named("conv64")())
    lines = [
        "Images per second on dSprites, conv64, batch 64, data included. Peak: a product of two",
        "2048×2048 matrices in float32.",
        "",
        "| threads | what | images/s | range | against plain | of peak |",
        "|---|---|---|---|---|---|",
    ]
    for count, of in median.items():
        for name in (*LADDER, *OURS, *ENCODING):
            baseline, operations = of[PLAIN], training
            if name in ENCODING:
                baseline, operations = of["plain encoding"], encoding
            values = rates[count][name]
            lines.append(
                f"| {count} | {name} | {of[name]:.0f} | {min(values):.0f}–{max(values):.0f} "
                f"| {of[name] / baseline:.2f} × | {of[name] * operations / of[PEAK]:.2f} |"
            )
    peaks = ", ".join(
        f"{of[PEAK] / 1e9:.0f} GFLOP/s with {count} thread{'s' * (count > 1)}"
        for count, of in median.items()
    )
    seconds = {
        "wall": "seconds that passed",
        "processor": "seconds of the processor divided by the threads",
    }[clock]
    rounds = len(next(iter(rates.values()))[PEAK])
    lines += [
        "",
        f"Peak: {peaks}. Medians of {rounds} alternating rounds, {seconds}; "
        f"load of the machine during the rounds {min(loads):.1f} to {max(loads):.1f}.",
        "",
        "Operations per image: two (a multiplication and an addition) for each weight and place",
        "it is used at, three times (forward, gradient of the weights, gradient of the inputs)",
        "less the gradient of the images, which nobody needs. Biases, ReLU, loss and Adam are not",
        "counted.",
        f"Training conv64: {training / 1e6:.1f} MFLOP per image; encoding: {encoding / 1e6:.1f}.",
    ]
    lines += ["", "Our layers against plain ones, steps alternating in one process:"]
    lines += [
        f"{name} {of[name]:.2f} × (threads: {count})."
        for count, of in median.items()
        for name in LAYERS
    ]
    for count, of in median.items():
        others = [f"| {name} | {of[name]:.0f} |" for name in OTHERS if name in of]
        if others:
            lines += ["", f"Other networks in our loop, beta_vae, threads: {count}", ""]
            lines += ["| network, data, batch | images/s |", "|---|---|", *others]
    lines += ["", f"{processor()}, {os.cpu_count()} cores, torch {torch.__version__}."]
    return "\n".join(lines) + "\n"


def processor() -> str:
    """Return the name of the processor."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one short round; prints only")
    parser.add_argument("--networks", action="store_true", help="the other networks as well")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--contender", choices=CONTENDERS, help="measure one, in this process")
    options = parser.parse_args()
    if options.contender:
        (threads,) = options.threads
        sizes = QUICK if options.quick else FULL
        rate = CONTENDERS[options.contender](Clock(options.clock, threads), sizes)
        print(json.dumps(rate))
        return
    load_data("dsprites")  # rendered before anything is timed
    loads = [os.getloadavg()[0]]
    rates = measure_all(options.threads, options.clock, options.quick, options.networks, loads)
    text = report(rates, options.clock, loads)
    print(text)
    if not options.quick:
        command = " ".join(["python benchmarks/training.py", *sys.argv[1:]])
        REPORT.write_text(f"# Speed of training\n\n`{command}` printed:\n\n{text}")


if __name__ == "__main__":
    main()
