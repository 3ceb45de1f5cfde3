"""transfer: a code learnt where factors are known, continued on images where they are not.

J. Dapueto et al., "Transferring disentangled representations: bridging the gap between synthetic
and real images", NeurIPS 2024, arXiv:2409.18017: a code is learnt on a synthetic world, with pairs
or labels, and trained on as a β-VAE on real images that have neither. What survives?

- on the world it comes from: scores and readable factors before and after;
- on the new images: how well they are decoded before, after, and by the same networks trained as
  long on them alone; how many latents are used; and, where factors of the new images are known,
  how well they are read off the code, beside pixels and codes of other images.

A model that cannot be trained on here, such as a foreign encoder, is judged on the new images as it
is.
"""

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from unweave.figures.style import Drawing

METRICS = ("mig", "dci", "sap")
BEFORE, AFTER, ALONE = "before", "after", "trained on the new images alone"
AS_IT_IS = "as it is"
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
    """Continue a run on other images, and say what survives; judge other models as they are."""
    target = _checked(model, settings)
    source = model.data
    rng = np.random.default_rng((settings.seed, 0x7A))
    trained, held = _parts(target, rng)
    models = _compared(model, trained, settings)
    rows = rng.permutation(len(source))[: settings.rows]
    numbers: dict[str, Any] = {
        "source": source.name,
        "target": target.name,
        "on_the_source": {
            name: _on_source(one, source, rows, settings) for name, one in models.items()
        },
        "on_the_target": {name: _on_target(one, held, settings) for name, one in models.items()},
    }
    if AFTER in models:
        numbers["same_latents"] = _same_latents(model, models[AFTER], source, rows)
    if target.factor_list:
        some = np.arange(len(held))[: settings.rows]
        numbers["pixels"] = _read(principal_components(held, some, 100), held, settings)
        others = np.roll(standardize(model.encode(held.images(some))), 1, axis=0)
        numbers["codes_of_other_images"] = _read(others, held, settings)
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers, settings),
        caveats=_caveats(model, target),
        figure=_picture(models, held) if model.code.decodes else _bars(numbers),
        data=f"{source.name}, then {target.name}",
    )


def _compared(model: Model, trained: FactorImages, settings: Settings) -> dict[str, Model]:
    """Return the model before and after, and one of the new images alone; or the model as it is."""
    if not _can_go_on(model):
        return {AS_IT_IS: model}
    assert isinstance(model, Run)
    fresh = untrained_twin(model, settings.seed)
    assert fresh is not None
    return {
        BEFORE: model,
        AFTER: continued(model, model.nets, trained, settings, settings.learning_rate),
        ALONE: continued(model, fresh.nets, trained, settings, _own_rate(model)),
    }


def _can_go_on(model: Model) -> bool:
    return isinstance(model, Run) and isinstance(model.config.method, GaussianAutoencoder)


def _checked(model: Model, settings: Settings) -> FactorImages:
    if not settings.target:
        raise ConfigError("to which images? Say --target DATA: a folder, a file or a data set")
    if settings.steps < 1 or settings.batch_size < 2 or settings.beta < 0:
        raise ConfigError("expected 1 step, a batch of 2 images and a β of 0 or more")
    if model.code.source != "images":
        raise ConfigError(f"{model.kind} encodes rows of its own data, and no new images")
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
    if all(f.categorical for f in target.factor_list) and not model.code.decodes:
        raise DataError(
            f"{target.name} has no factors with an order and {model.name} no decoder: nothing "
            "could be said of its codes there"
        )
    return target


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
    model: Model, source: FactorImages, rows: np.ndarray, settings: Settings
) -> dict[str, float | None]:
    codes, factors = model.encode_rows(rows, source), source.factors(rows)
    found: dict[str, float | None] = {}
    if source.factor_list:
        scored = score(codes, factors, METRICS, preset="fast", factor_names=source.factor_names)
        found = {name: result.value for name, result in scored.items()}
        found["r2"] = _read(standardize(codes), source.subset(rows), settings)
    return found


def _on_target(model: Model, held: FactorImages, settings: Settings) -> dict[str, float | None]:
    images = held.images(np.arange(len(held))[: settings.rows])
    found: dict[str, float | None] = {"explained": None, "active_latents": None, "kl": None}
    if model.code.decodes:
        spread = float(((images - images.mean(axis=0)) ** 2).mean())
        missed = float(((images - model.reconstruct(images)) ** 2).mean())
        found["explained"] = 1 - missed / max(spread, 1e-12)
    posterior = model.posterior(images)
    if posterior is not None:
        mean, logvar = (part.astype(np.float64) for part in posterior)
        kl = model.code_prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
        found |= {"active_latents": float(model.code_prior.is_active(kl).sum())}
        found |= {"kl": float(kl.sum())}
    return found | {"r2": _read(standardize(model.encode(images)), held, settings)}


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


def _same_latents(
    before: Model, after: Model, source: FactorImages, rows: np.ndarray
) -> np.ndarray:
    """Return how each latent after correlates with the same latent before, on the source."""
    first, second = (standardize(m.encode_rows(rows, source)) for m in (before, after))
    found: np.ndarray = np.abs((first * second).mean(axis=0))
    return found


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    on_source, on_target = numbers["on_the_source"], numbers["on_the_target"]
    first, *others = on_source
    names = list(on_source[first])
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
    for name, words_of_it in (("pixels", "pixels"), ("codes_of_other_images", "other codes")):
        if numbers.get(name) is not None:
            told.append(
                (f"R² of its factors from {words_of_it}", numbers[name], *[None for _ in others])
            )
    return (
        ResultTable(f"On {numbers['source']}, where it comes from", header, tuple(lines)),
        ResultTable(f"On {numbers['target']}, on images not trained on", header, tuple(told)),
    )


def _paragraph(model: Model, numbers: dict[str, Any], settings: Settings) -> str:
    target, source = numbers["on_the_target"], numbers["on_the_source"]
    if AFTER not in target:
        return _as_it_is(model, numbers)
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


def _as_it_is(model: Model, numbers: dict[str, Any]) -> str:
    there, here = numbers["on_the_target"][AS_IT_IS], numbers["on_the_source"][AS_IT_IS]
    told = f"{model.name} was not trained on {numbers['target']}, which it is shown as it is."
    if there["explained"] is not None:
        told += f" It explains {there['explained']:.3f} of the variance of the new images."
    if there["r2"] is not None:
        told += (
            f" Their factors are read off the code with an R² of {there['r2']:.3f}, from pixels "
            f"{numbers['pixels']:.3f}, from codes of other images "
            f"{numbers['codes_of_other_images']:.3f}."
        )
    if here.get("r2") is not None:
        told += f" On {numbers['source']} the R² is {here['r2']:.3f}, DCI {here['dci']:.3f}."
    return told


def _caveats(model: Model, target: FactorImages) -> tuple[str, ...]:
    told = [
        "What survives on the source does not say that latents mean the same on the new images; "
        "look at the traversals (unweave figures), or label a few.",
    ]
    if _can_go_on(model):
        told += [
            "Networks trained on the new images alone have as many steps on them, at the run's own "
            "learning rate; trained longer, they may come as far.",
            "One seed: the order of these numbers may turn with another.",
        ]
    else:
        told.append(
            "Only runs of methods with a Gaussian encoder and a decoder can be trained further "
            "here; what further training would do for this model is not known."
        )
    if not target.factor_list:
        told.append(f"{target.name} has no factors: what its latents mean is for the eye to judge.")
    return tuple(told)


def _picture(models: dict[str, Model], held: FactorImages) -> ImageGrid:
    images = held.images(np.arange(min(SHOWN, len(held))))
    lines = [images, *(one.reconstruct(images) for one in models.values())]
    labels = ["new images", *models]
    return ImageGrid(np.stack(lines), row_labels=labels, title="images that were not trained on")


def _bars(numbers: dict[str, Any]) -> "Drawing":
    """Draw how well factors of the new images are read, where nothing is decoded."""
    from unweave.figures.style import PALETTE, Drawing, styled

    values = {
        "the code": numbers["on_the_target"][AS_IT_IS]["r2"],
        "pixels": numbers["pixels"],
        "codes of other images": numbers["codes_of_other_images"],
    }
    known = {name: value for name, value in values.items() if value is not None}

    @styled
    def bars() -> Drawing:
        drawing = Drawing(figsize=(5.0, 2.4), layout="constrained")
        axes = drawing.add_subplot(1, 1, 1)
        axes.barh(list(known), list(known.values()), color=PALETTE[0])
        axes.invert_yaxis()
        axes.set_xlabel(f"R² of the factors of {numbers['target']}")
        return drawing

    return bars()
