"""Settings for any images: chosen by looking at them and by short trials, with the reasons.

The objective is that of the default recipe, see docs/results/recipe.md. What it needs of
new images is the KL weight at which the first latent switches on, which trials of a few
hundred steps find; the rest follows from the size of the images and the time there is.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from unweave import catalog, devices
from unweave.data import DataOptions, FactorImages
from unweave.errors import ConfigError
from unweave.evaluation.without_labels import RunModel, model_centrality, udr_of_runs
from unweave.free_cores import fewer_threads_if_busy
from unweave.methods.cooled_tcvae import CooledTCVAE
from unweave.networks import Architecture
from unweave.networks.patches_any import PatchesAny
from unweave.networks.posed import POSE, Posed
from unweave.recipes import after_the_pose, falling
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.runs.silencing import NATS
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import constant
from unweave.training import loop
from unweave.training.game import Game

LOOKED_AT = 512  # images
BATCH = 64
LATENTS = 10
RATE = 2e-3
TRIALS, TRIAL_STEPS = 5, 300
HEADROOM = 8.0  # near the weight at which a latent switches on, it takes longer than a trial
WIDEST = 256.0  # ratio of the largest weight that is tried to the smallest
TRAINING = 0.9  # share of the time; the rest is for scores and pictures
FEWEST_STEPS = 500
SEVERAL = 3  # seeds, where there is time
ENOUGH_STEPS = 8000  # of each of them: nearly as many images as the recipe has
BLOCKS_FROM = 48  # pixels of a side from which blocks of 2×2 are drawn as one


@dataclass(frozen=True)
class Choice:
    """Settings of a run, and why they are these."""

    config: Train
    seeds: tuple[int, ...]
    """Seeds to train it with; `agreement` says which of several to take."""
    reasons: tuple[str, ...]

    @property
    def configs(self) -> list[Train]:
        """Return the settings of each run."""
        return [replace(self.config, seed=seed) for seed in self.seeds]


@dataclass(frozen=True)
class Threshold:
    """The KL weight at which latents begin to switch on."""

    weight: float
    """The largest weight tried at which one did."""
    tried: tuple[tuple[float, bool], ...]
    """Weights in the order of the trials, and whether a latent switched on."""
    step_seconds: float
    """What a step of the trials took."""


def choose(
    data: FactorImages,
    minutes: float,
    *,
    source: str = "",
    options: DataOptions = DataOptions(),
    seed: int = 0,
    seeds: int | None = None,
    machine: Machine = Machine(),
) -> Choice:
    """Choose settings for runs that take about so many minutes together, the choosing included."""
    if not (math.isfinite(minutes) and minutes > 0):
        raise ConfigError(f"minutes must be above 0, found {minutes}")
    if seeds is not None and seeds < 1:
        raise ConfigError(f"seeds must be 1 or more, found {seeds}")
    began = time.monotonic()
    devices.tune_allocator()
    devices.use_threads(machine.threads)
    images = some_images(data, seed)
    architecture, why = network_for(images)
    posed = isinstance(architecture, Posed)
    device = devices.choose_device(machine.device)
    # Of posed a trial tells how long a step takes, and nothing else.
    trials = 1 if posed else TRIALS
    with fewer_threads_if_busy(machine.threads, device):
        found = threshold(data, architecture, seed, device, trials=trials)
    hottest = start_of_fall(found.weight, images, architecture)
    left = 60 * minutes - (time.monotonic() - began)
    affordable = int(TRAINING * left / found.step_seconds)
    count = seeds or (SEVERAL if affordable >= SEVERAL * ENOUGH_STEPS else 1)
    steps = max(affordable // count, FEWEST_STEPS)
    config = Train(
        method=objective(steps, hottest, architecture),
        data=source or data.name,
        data_options=options,
        architecture=architecture,
        steps=steps,
        batch_size=BATCH,
        seed=seed,
        silence=NATS,
    )
    tried = ", ".join(f"{weight:.3g} {'on' if on else 'off'}" for weight, on in found.tried)
    weights = (
        "KL weight 1 throughout: the first codes of posed need no fall to keep factors apart"
        if posed
        else f"KL weight from {hottest:.3g} to 1: up to {HEADROOM:g} times above the largest of "
        f"those tried at which a latent switches on within {TRIAL_STEPS} steps ({tried})"
    )
    reasons = (
        f"network {catalog.name_of(architecture)}: {why}",
        weights,
        f"{LATENTS} latents: those that stay off are silenced at the end",
        "likelihood bernoulli: its scale is fixed, so that a KL weight keeps its meaning; a "
        "deviation that is learnt shrinks meanwhile and weighs the pixels ever more",
        _why_so_many(count, affordable, asked=seeds is not None),
        f"{steps:,} steps of {BATCH} images: {1e3 * found.step_seconds:.1f} ms each, "
        f"of {minutes:g} minutes {left / 60:.1f} were left",
    )
    return Choice(config, tuple(range(seed, seed + count)), reasons)


def _why_so_many(count: int, affordable: int, *, asked: bool) -> str:
    """Say why so many seeds are trained."""
    if asked:
        return f"{count} seeds, as asked for"
    needed = f"{SEVERAL} seeds of {ENOUGH_STEPS:,} steps or more"
    if count > 1:
        return f"{needed} fit the time ({affordable:,} steps): the one is taken that agrees most"
    return f"1 seed: the time is enough for {affordable:,} steps, too few for {needed}"


@dataclass(frozen=True)
class Agreement:
    """How much several runs of the same settings agree, which needs no labels."""

    centrality: tuple[float, ...]
    """ModelCentrality of each run."""
    udr: tuple[float, ...]
    """UDR of each run."""

    @property
    def chosen(self) -> int:
        """Return the run that the others agree with most, by the sum of both."""
        return int(np.argmax(np.add(self.centrality, self.udr)))


def agreement(runs: Sequence[Run], data: FactorImages, seed: int = 0) -> Agreement:
    """Compare runs that differ by their seed, as `udr` and ModelCentrality do."""
    images = some_images(data, seed)
    central = model_centrality([RunModel(run) for run in runs], seed=seed)
    return Agreement(tuple(central.scores.tolist()), tuple(udr_of_runs(runs, images)))


def some_images(data: FactorImages, seed: int) -> np.ndarray:
    """Return the images that are looked at."""
    rng = np.random.default_rng((seed, 0xA070))
    rows = rng.choice(len(data), size=min(LOOKED_AT, len(data)), replace=False)
    return data.images(np.sort(rows), rng)


def network_for(images: np.ndarray) -> tuple[Architecture, str]:
    """Return the network for such images, and why it is that one."""
    block = 2 if min(images.shape[2:]) >= BLOCKS_FROM else 1
    size = (
        f"{images.shape[2]}×{images.shape[3]} pixels, seen and drawn in blocks of {block}×{block}"
    )
    share = share_with_one_object(images)
    if share >= 0.95:
        return Posed(block=block), f"one object on a plain ground; {size}"
    return (
        PatchesAny(block=block),
        f"{share:.0%} of the images show one object on a plain ground, and 95 % would be "
        f"needed for posed; {size}",
    )


def share_with_one_object(images: np.ndarray) -> float:
    """Return how many images have a plain ground and on it something of limited extent."""
    ground = np.median(images, axis=(2, 3), keepdims=True)
    differs = (np.abs(images - ground) > 0.1).any(axis=1)
    rows, columns = differs.any(axis=2), differs.any(axis=1)
    fits = (_extent(rows) <= 2 / 3) & (_extent(columns) <= 2 / 3)
    return float((fits & differs.any(axis=(1, 2))).mean())


def _extent(lines: np.ndarray) -> np.ndarray:
    """Return how much of a side lies between the first and the last line that is marked."""
    first = lines.argmax(axis=1)
    last = lines.shape[1] - lines[:, ::-1].argmax(axis=1)
    extent: np.ndarray = np.where(lines.any(axis=1), last - first, 0) / lines.shape[1]
    return extent


def threshold(
    data: FactorImages,
    architecture: Architecture,
    seed: int,
    device: torch.device,
    steps: int = TRIAL_STEPS,
    trials: int = TRIALS,
) -> Threshold:
    """Find the largest KL weight at which a latent switches on, to within a fifth.

    No code can save more nats than the mean image leaves to explain, so that a larger
    weight than this is never worth a nat; below it the range is halved trial by trial.
    """
    images = some_images(data, seed)
    high = max(explainable(images), WIDEST)
    low = high / WIDEST
    tried: list[tuple[float, bool]] = []
    seconds = 0.0
    for _ in range(trials):
        weight = math.sqrt(low * high)
        began = time.monotonic()
        on = _switches_on(data, images, architecture, weight, seed, device, steps)
        seconds = (time.monotonic() - began) / steps
        tried.append((weight, on))
        low, high = (weight, high) if on else (low, weight)
    return Threshold(low, tuple(tried), seconds)


def start_of_fall(weight: float, images: np.ndarray, architecture: Architecture) -> float:
    """Return where the KL weight begins, given the largest at which a latent switched on soon.

    Nearer to the threshold it takes longer to switch on than trials last, so the fall begins
    higher, though not above what no code could be worth. With posed nothing falls: its pose keeps
    factors apart from the first step on.
    """
    if isinstance(architecture, Posed):
        return 1.0
    return max(min(HEADROOM * weight, explainable(images)), weight)


def explainable(images: np.ndarray) -> float:
    """Return the nats of an image that its code could save, over the mean image."""
    mean = np.clip(images.mean(axis=0, dtype=np.float64), 1e-6, 1 - 1e-6)
    left = _binary_entropy(mean).sum() - _binary_entropy(images).sum() / len(images)
    return float(left)


def _binary_entropy(shares: np.ndarray) -> np.ndarray:
    inside = np.clip(shares.astype(np.float64), 1e-12, 1 - 1e-12)
    entropy: np.ndarray = -inside * np.log(inside) - (1 - inside) * np.log1p(-inside)
    return entropy


def _switches_on(
    data: FactorImages,
    images: np.ndarray,
    architecture: Architecture,
    weight: float,
    seed: int,
    device: torch.device,
    steps: int,
) -> bool:
    """Return whether a latent is on after a short training with this KL weight."""
    method = CooledTCVAE(
        latent_dim=LATENTS,
        likelihood="bernoulli",
        kl_weight=constant(weight),
        stagger=constant(0.7),
        optimizer=Adam(RATE, warmup_steps=min(100, steps)),
    )
    config = Train(
        method=method,
        data=data.name,
        architecture=architecture,
        steps=steps,
        batch_size=BATCH,
        seed=seed,
    )
    nets = loop.make_networks(config, data)
    devices.place(nets, device)
    run = Run(config, data.summary, nets, step=0, data=data)
    game = Game(config, data.summary, nets)
    with torch.random.fork_rng(devices=[]):
        for step in range(steps):
            for move in loop.moves_of_step(config, nets, data, device, step):
                game.play(move, step)
    posterior = run.posterior(images)
    assert posterior is not None, "the method has one"
    mean, logvar = posterior
    kl = run.code_prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
    return bool((kl > run.code_prior.least_kl + NATS).any())


def objective(steps: int, weight: float, architecture: Architecture) -> CooledTCVAE:
    """Return the recipe's objective for a run of so many steps, its KL weight falling from this."""
    method = CooledTCVAE(latent_dim=LATENTS, likelihood="bernoulli", optimizer=falling(steps))
    if isinstance(architecture, Posed):
        method = replace(method, unstaggered=POSE, stagger=after_the_pose(steps))
    return method.over(steps, weight)
