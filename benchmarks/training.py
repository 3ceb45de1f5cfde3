"""How fast is training, against a plain loop and against the processor itself?

    python benchmarks/training.py             # ten minutes; writes docs/results/training_speed.md
    python benchmarks/training.py --quick     # a first look, prints only
    python benchmarks/training.py --networks  # the other networks as well
    python benchmarks/training.py --count     # trains nothing: operations of FactorVAE and β-VAE

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
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from math import prod
from pathlib import Path

import torch
from torch import Tensor, nn

from marked_pages import renew
from training_contenders import (
    CONTENDERS,
    ENCODING,
    FULL,
    IMAGE_SHAPE,
    LADDER,
    LATENT_DIM,
    LAYERS,
    OTHERS,
    OURS,
    PEAK,
    PLAIN,
    QUICK,
    Clock,
)
from unweave.data import load_data
from unweave.methods.factor_vae import FactorVAE
from unweave.networks import Architecture, architecture_named, code_discriminator

REPORT = Path(__file__).parent.parent / "docs" / "results" / "training_speed.md"


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


def operations_of_factor_vae() -> str:
    """Say how many operations FactorVAE needs beside a β-VAE, whatever its loop is like.

    The discriminator looks at codes for the autoencoder, forward and back to the codes, and learns
    of codes and permuted codes. The first look serves both, where codes are looked at once.
    """
    beta_vae, encoding = operations_per_image(architecture_named("conv64")())
    method = FactorVAE()
    discriminator = code_discriminator(
        LATENT_DIM, method.discriminator_width, method.discriminator_depth
    )
    look = 2 * sum(products(discriminator, torch.zeros(1, LATENT_DIM)))
    # Forward for codes and for permuted ones, back to the codes, then weights and inputs of both.
    least = (2 + 1 + 4) * look
    lines = [
        f"β-VAE, conv64: {beta_vae / 1e6:.1f} MFLOP per image.",
        f"FactorVAE besides: {encoding / 1e6:.1f} to encode the second image; discriminator "
        f"{least / 1e6:.1f} at least, {(least + look) / 1e6:.1f} as it is.",
    ]
    for name, own in (("At least", least), ("As it is", least + look)):
        lines.append(f"{name} {(beta_vae + encoding + own) / beta_vae:.2f} times a β-VAE's.")
    return "\n".join(lines)


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
        "2048×2048 matrices in float32, by the better of torch's two libraries.",
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
    parser.add_argument("--count", action="store_true", help="count operations of FactorVAE")
    options = parser.parse_args()
    if options.count:
        print(operations_of_factor_vae())
        return
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
        said = f"`{command}` on {datetime.now(UTC).date()}:"
        renew(REPORT, {"measured": f"{said}\n\n{text.rstrip()}"})


if __name__ == "__main__":
    main()
