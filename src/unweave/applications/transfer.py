"""transfer: a code learnt where factors are known, continued on images where they are not.

J. Dapueto et al., "Transferring disentangled representations: bridging the gap between synthetic
and real images", NeurIPS 2024, arXiv:2409.18017: a code is learnt on a synthetic world, with pairs
or labels, and trained on as a β-VAE on real images that have neither. What survives?

- on the world it comes from: scores and readable factors before and after;
- on the new images: how well they are decoded before, after, and by the same networks trained as
  long on them alone; how many latents are used; and, where factors of the new images are known,
  how well they are read off the code, beside pixels.
"""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from unweave.applications._applied import Applied, ResultTable, applied_to
from unweave.applications._inputs import principal_components
from unweave.applications.few_labels import r2_of_ridge
from unweave.data import DataOptions, FactorImages, load_data
from unweave.errors import ConfigError, DataError
from unweave.evaluation.score import score
from unweave.evaluation.untrained import untrained_twin
from unweave.figures import ImageGrid
from unweave.methods import GaussianAutoencoder
from unweave.methods.beta_vae import BetaVAE
from unweave.networks import Networks
from unweave.runs.config import Train
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.settings.schedules import constant
from unweave.tables import standardize
from unweave.training.game import Game
from unweave.training.loop import moves_of_step

METRICS = ("mig", "dci", "sap")
BEFORE, AFTER, ALONE = "before", "after", "trained on the new images alone"
SHOWN = 8


@dataclass(frozen=True)
class Settings:
    target: str = ""
    """The new images: a folder, an array file or the name of a data set."""
    steps: int = 2000
    """How long training is continued."""
    beta: float = 1.0
    """Weight of the KL meanwhile."""
    learning_rate: float = 1e-4
    """Of the continued training; a smaller one keeps more."""
    batch_size: int = 64
    """Images of a step."""
    rows: int = 2000
    """Images that are scored."""
    seed: int = 0
    """Which images, batches and noise."""


def continued(run: Run, nets: Networks, data: FactorImages, settings: Settings, rate: float) -> Run:
    """Return the networks trained on as a β-VAE on other images; those given are not changed."""
    method = run.config.method
    assert isinstance(method, GaussianAutoencoder)
    plain = BetaVAE(
        latent_dim=method.latent_dim,
        beta=constant(settings.beta),
        optimizer=replace(method.optimizer, learning_rate=rate),
        prior=method.prior,
        likelihood=method.likelihood,
        pixel_scale=method.pixel_scale,
    )
    config = Train(
        method=plain,
        data=data.name,
        architecture=run.config.architecture,
        steps=settings.steps,
        batch_size=min(settings.batch_size, len(data)),
        seed=settings.seed,
    )
    nets = copy.deepcopy(nets)
    nets.train()
    game = Game(config, data.summary, nets)
    with torch.random.fork_rng():
        for step in range(settings.steps):
            for move in moves_of_step(config, nets, data, run.device, step):
                game.play(move, step)
    nets.eval()
    return Run(config, data.summary, nets, step=settings.steps, data=data)


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Continue a run on other images, and say what survives."""
    run, target = _checked(model, settings)
    source = run.data
    rng = np.random.default_rng((settings.seed, 0x7A))
    trained, held = _parts(target, rng)
    after = continued(run, run.nets, trained, settings, settings.learning_rate)
    fresh = untrained_twin(run, settings.seed)
    assert fresh is not None
    alone = continued(run, fresh.nets, trained, settings, _own_rate(run))
    models = {BEFORE: run, AFTER: after, ALONE: alone}
    rows = rng.permutation(len(source))[: settings.rows]
    numbers: dict[str, Any] = {
        "source": source.name,
        "target": target.name,
        "on_the_source": {
            name: _on_source(one, source, rows, settings) for name, one in models.items()
        },
        "on_the_target": {name: _on_target(one, held, settings) for name, one in models.items()},
        "same_latents": _same_latents(run, after, source, rows),
    }
    if target.factor_list:
        numbers["pixels"] = _read(
            principal_components(held, np.arange(len(held))[: settings.rows], 100),
            held,
            settings,
        )
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers, settings),
        caveats=_caveats(target),
        figure=_picture(models, held),
        data=f"{source.name}, then {target.name}",
    )


def _checked(model: Model, settings: Settings) -> tuple[Run, FactorImages]:
    if not isinstance(model, Run) or not isinstance(model.config.method, GaussianAutoencoder):
        raise ConfigError(
            f"{model.kind} cannot be trained on here: transfer takes runs of methods with a "
            "Gaussian encoder and a decoder"
        )
    if not settings.target:
        raise ConfigError("to which images? Say --target DATA: a folder, a file or a data set")
    if settings.steps < 1 or settings.batch_size < 2 or settings.beta < 0:
        raise ConfigError("expected 1 step, a batch of 2 images and a β of 0 or more")
    channels, height, width = model.image_shape
    options = DataOptions()
    if height == width and _is_of_ones_own(settings.target):
        options = DataOptions(image_size=height, color="grey" if channels == 1 else "rgb")
    target = load_data(settings.target, options)
    if target.image_shape != model.image_shape:
        raise DataError(
            f"{target.name} has images of shape {target.image_shape}; {model.name} takes "
            f"{model.image_shape}"
        )
    if len(target) < 20:
        raise DataError(f"{target.name} has {len(target)} images; 20 are needed")
    return model, target


def _is_of_ones_own(source: str) -> bool:
    """Whether images come from files, which are brought to the size of the model."""
    return any(sign in source for sign in "/\\.~")


def _parts(data: FactorImages, rng: np.random.Generator) -> tuple[FactorImages, FactorImages]:
    """Return the images to train on, and a quarter to judge on."""
    order = rng.permutation(len(data))
    count = max(len(data) // 4, 10)
    return data.subset(np.sort(order[count:])), data.subset(order[:count])


def _own_rate(run: Run) -> float:
    return float(run.config.method.optimizer.learning_rate)


def _on_source(
    model: Run, source: FactorImages, rows: np.ndarray, settings: Settings
) -> dict[str, float | None]:
    codes, factors = model.encode_rows(rows, source), source.factors(rows)
    found: dict[str, float | None] = {}
    if source.factor_list:
        scored = score(codes, factors, METRICS, preset="fast", factor_names=source.factor_names)
        found = {name: result.value for name, result in scored.items()}
        found["r2"] = _read(standardize(codes), source.subset(rows), settings)
    return found


def _on_target(model: Run, held: FactorImages, settings: Settings) -> dict[str, float | None]:
    rows = np.arange(len(held))[: settings.rows]
    images = held.images(rows)
    decoded = model.reconstruct(images)
    spread = float(((images - images.mean(axis=0)) ** 2).mean())
    codes, posterior = model.encode(images), model.posterior(images)
    assert posterior is not None
    mean, logvar = (part.astype(np.float64) for part in posterior)
    kl = model.code_prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
    return {
        "explained": 1 - float(((images - decoded) ** 2).mean()) / max(spread, 1e-12),
        "active_latents": float(model.code_prior.is_active(kl).sum()),
        "kl": float(kl.sum()),
        "r2": _read(standardize(codes), held, settings),
    }


def _read(inputs: np.ndarray, data: FactorImages, settings: Settings) -> float | None:
    """Return the mean R² of the factors with an order, read off inputs of the first rows."""
    ordered = [i for i, f in enumerate(data.factor_list) if not f.categorical]
    table = data.factors(np.arange(len(inputs)))[:, ordered].astype(np.float64)
    varying = [column for column in table.T if np.ptp(column) > 0]
    if not varying:
        return None
    shares = np.stack([(column - column.min()) / np.ptp(column) for column in varying], axis=1)
    half = len(inputs) // 2
    return r2_of_ridge(inputs, shares, np.arange(half), np.arange(half, len(inputs)))


def _same_latents(before: Run, after: Run, source: FactorImages, rows: np.ndarray) -> np.ndarray:
    """Return how each latent after correlates with the same latent before, on the source."""
    first, second = (standardize(m.encode_rows(rows, source)) for m in (before, after))
    found: np.ndarray = np.abs((first * second).mean(axis=0))
    return found


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    on_source, on_target = numbers["on_the_source"], numbers["on_the_target"]
    names = list(on_source[BEFORE])
    lines = [(name, *(by.get(name) for by in on_source.values())) for name in names]
    header = ("", *on_source)
    words = {
        "explained": "variance of pixels explained",
        "active_latents": "active latents",
        "kl": "KL, nats",
        "r2": "R² of its factors",
    }
    told: list[tuple[Any, ...]] = [
        (words[name], *(by[name] for by in on_target.values()))
        for name in words
        if any(by[name] is not None for by in on_target.values())
    ]
    if numbers.get("pixels") is not None:
        told.append(("R² of its factors from pixels", numbers["pixels"], None, None))
    return (
        ResultTable(f"On {numbers['source']}, where it comes from", header, tuple(lines)),
        ResultTable(f"On {numbers['target']}, on images not trained on", header, tuple(told)),
    )


def _paragraph(model: Model, numbers: dict[str, Any], settings: Settings) -> str:
    target, source = numbers["on_the_target"], numbers["on_the_source"]
    told = (
        f"{model.name} was trained {settings.steps:,} steps further on {numbers['target']}. It "
        f"explains {target[AFTER]['explained']:.3f} of the variance of new images, before "
        f"{target[BEFORE]['explained']:.3f}; networks trained on them alone "
        f"{target[ALONE]['explained']:.3f}. Latents correlate with what they were by "
        f"{float(np.median(numbers['same_latents'])):.3f} (median, on {numbers['source']})."
    )
    if "dci" in source[BEFORE]:
        told += (
            f" DCI on {numbers['source']} is {source[AFTER]['dci']:.3f}, before "
            f"{source[BEFORE]['dci']:.3f}; of networks that never saw it "
            f"{source[ALONE]['dci']:.3f}."
        )
    if target[AFTER]["r2"] is not None:
        told += (
            f" Factors of {numbers['target']} are read with an R² of {target[AFTER]['r2']:.3f}, "
            f"before {target[BEFORE]['r2']:.3f}, from networks trained on it alone "
            f"{target[ALONE]['r2']:.3f}, from pixels {numbers['pixels']:.3f}."
        )
    return told


def _caveats(target: FactorImages) -> tuple[str, ...]:
    told = [
        "What survives on the source does not say that latents mean the same on the new images; "
        "look at the traversals (unweave figures), or label a few.",
        "Networks trained on the new images alone have as many steps on them, at the run's own "
        "learning rate; trained longer, they may come as far.",
        "One seed: the order of these numbers may turn with another.",
    ]
    if not target.factor_list:
        told.append(f"{target.name} has no factors: what its latents mean is for the eye to judge.")
    return tuple(told)


def _picture(models: dict[str, Run], held: FactorImages) -> ImageGrid:
    images = held.images(np.arange(min(SHOWN, len(held))))
    lines = [images, *(one.reconstruct(images) for one in models.values())]
    labels = ["new images", *models]
    return ImageGrid(np.stack(lines), row_labels=labels, title="images that were not trained on")
