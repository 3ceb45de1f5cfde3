"""impossibility: a twin of a model with the same likelihood of the data, and another code.

F. Locatello et al., "Challenging Common Assumptions in the Unsupervised Learning of Disentangled
Representations", ICML 2019, arXiv:1811.12359, theorem 1: from images alone, and without more
than their likelihood, nothing can tell a disentangled code from an entangled one. For a prior
N(0, I) and any rotation R,

    p(x) = ∫ p(x|z) N(z; 0, I) dz = ∫ p(x|R⁻¹z') N(z'; 0, I) dz',    z' = R z

so the model whose decoder is preceded by R⁻¹, and whose codes are turned by R, has the same
likelihood of every image: its posterior is N(R μ, R diag(σ²) Rᵀ), and so has the same bound.
Here R mixes all latents that carry anything, as evenly as a discrete cosine transform does.

What breaks the tie in practice is not the likelihood: a VAE's posterior is held to be diagonal,
which the twin's is not (M. Rolinek et al., CVPR 2019, arXiv:1812.06775), networks are better at
some functions than at others, and labels, pairs or groups say which axes are meant.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.fft import dct
from scipy.special import logsumexp

from unweave import views
from unweave.applications._applied import Applied, ResultTable, applied_to
from unweave.errors import ConfigError
from unweave.evaluation.score import score
from unweave.figures import ImageGrid
from unweave.methods import GaussianAutoencoder
from unweave.methods.ada_gvae import AdaGVAE
from unweave.networks.mlp64 import MLP64
from unweave.probability.likelihood import negative_log_likelihoods
from unweave.runs.config import Train
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.runs.silencing import NATS
from unweave.runs.wrapped import WrappedModel, wrap
from unweave.settings.optimizers import Adam

METRICS = ("mig", "dci", "sap", "modularity", "explicitness")
TINY = 1e-6  # of a Bernoulli pixel that a decoder of one's own says is black
MOST_LATENTS = 6  # of each model in the picture
COLUMNS = 9


@dataclass(frozen=True)
class Settings:
    images: int = 128
    """Images whose likelihood is estimated."""
    draws: int = 32
    """Draws of the posterior for each image."""
    seed: int = 0
    """Which images and draws."""


@dataclass(frozen=True)
class Bound:
    """The evidence of some images, in nats per image."""

    elbo: np.ndarray
    """Evidence lower bound of each image."""
    log_likelihood: np.ndarray
    """log p(x) of each image by importance sampling (arXiv:1509.00519), a tighter bound."""


def demo() -> Train:
    """Return the settings of a small model whose code is disentangled, by the pairs it is shown."""
    return Train(
        method=AdaGVAE(latent_dim=6, optimizer=Adam(1e-3)),
        architecture=MLP64(hidden=256, decoder_activation="relu"),
        data="toy_xys",
        steps=3000,
    )


def rotation_of(active: np.ndarray) -> np.ndarray:
    """Return an orthogonal matrix (code, code) that mixes the active dimensions evenly."""
    mixing = np.eye(len(active))
    places = np.flatnonzero(active)
    mixing[np.ix_(places, places)] = dct(np.eye(len(places)), norm="ortho", axis=0)
    return mixing


def twin_of(model: Model, rotation: np.ndarray) -> WrappedModel:
    """Return the model whose codes are turned, with a decoder that turns them back."""
    turned = rotation.astype(np.float64)

    def encode(images: np.ndarray) -> np.ndarray:
        return np.asarray(model.encode(images).astype(np.float64) @ turned.T, dtype=np.float32)

    def decode(codes: np.ndarray) -> np.ndarray:
        return model.decode((codes.astype(np.float64) @ turned).astype(np.float32))

    return wrap(encode, model.data, decode=decode, takes="arrays", name=f"twin of {model.name}")


def bound_of(
    model: Model,
    images: np.ndarray,
    *,
    rotation: np.ndarray | None,
    draws: int,
    seed: int,
) -> Bound:
    """Estimate the evidence of images for a model, or for its twin.

    The twin's densities are computed from its own posterior, with a full covariance, and its own
    decoder: nothing of the sum is the model's.
    """
    found = model.posterior(images)
    assert found is not None
    mean, logvar = (part.astype(np.float64) for part in found)
    size = mean.shape[1]
    turn = np.eye(size) if rotation is None else rotation
    rng = np.random.default_rng((seed, 0x1B))
    log_weights = np.empty((draws, len(images)))
    covariance = np.einsum("ij,nj,kj->nik", turn, np.exp(logvar), turn)
    precision = np.linalg.inv(covariance)
    log_volume = np.linalg.slogdet(covariance)[1]
    centre = mean @ turn.T
    for draw in range(draws):
        noise = rng.standard_normal(mean.shape)
        codes = centre + (np.exp(0.5 * logvar) * noise) @ turn.T
        away = codes - centre
        log_q = -0.5 * (
            np.einsum("ni,nij,nj->n", away, precision, away)
            + log_volume
            + size * math.log(2 * math.pi)
        )
        log_prior = -0.5 * ((codes**2).sum(axis=1) + size * math.log(2 * math.pi))
        decoded = codes @ turn  # what the twin's decoder does first
        log_weights[draw] = _log_likelihoods(model, decoded, images) + log_prior - log_q
    return Bound(log_weights.mean(axis=0), logsumexp(log_weights, axis=0) - math.log(draws))


def _log_likelihoods(model: Model, codes: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return log p(x|z) of each image: by the method's likelihood, or by Bernoulli pixels."""
    method = model.config.method if isinstance(model, Run) else None
    if isinstance(model, Run) and isinstance(method, GaussianAutoencoder):
        was_training = model.nets.training
        model.nets.eval()
        with torch.inference_mode():
            z = torch.from_numpy(codes.astype(np.float32)).to(model.device)
            x = torch.from_numpy(images).to(model.device)
            output = model.nets.decoder(z)
            losses = negative_log_likelihoods(method.likelihood, output, x, method.pixel_scale)
        model.nets.train(was_training)
        return -losses.double().cpu().numpy()
    shares = model.decode(codes).astype(np.float64).clip(TINY, 1 - TINY)
    terms = images * np.log(shares) + (1 - images) * np.log1p(-shares)
    found: np.ndarray = terms.reshape(len(images), -1).sum(axis=1)
    return found


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Make the twin, compare likelihoods and codes, and draw both."""
    codes = _checked(model, settings)
    kl = codes.kl()
    assert kl is not None
    active = kl > model.code_prior.least_kl + NATS
    if active.sum() < 2:
        raise ConfigError(
            f"{int(active.sum())} latents of {model.name} carry anything; there is nothing to mix"
        )
    rotation = rotation_of(active)
    twin = twin_of(model, rotation)
    rng = np.random.default_rng((settings.seed, 0x1A))
    count = min(settings.images, len(model.data))
    rows = np.sort(rng.choice(len(model.data), size=count, replace=False))
    images = model.data.images(rows)
    own = bound_of(model, images, rotation=None, draws=settings.draws, seed=settings.seed)
    same = bound_of(model, images, rotation=rotation, draws=settings.draws, seed=settings.seed)
    fresh = bound_of(model, images, rotation=rotation, draws=settings.draws, seed=settings.seed + 1)
    gap = float(np.abs(same.log_likelihood - own.log_likelihood).max())
    scores = _scores(model, codes, rotation)
    numbers = {
        "latents_mixed": np.flatnonzero(active),
        "rotation": rotation,
        "elbo": {"model": own.elbo.mean(), "twin": same.elbo.mean()},
        "log_likelihood": {
            "model": own.log_likelihood.mean(),
            "twin": same.log_likelihood.mean(),
            "twin_other_draws": fresh.log_likelihood.mean(),
            "standard_error": _standard_error(own.log_likelihood - fresh.log_likelihood),
        },
        "largest_difference_of_an_image": gap,
        "rounding": _rounding(own.log_likelihood),
        "scores": scores,
    }
    return applied_to(
        model,
        settings,
        numbers,
        tables=(_table(own, same, fresh, scores),),
        paragraph=_paragraph(model, int(active.sum()), own, same, gap, scores),
        caveats=_caveats(model),
        figure=_picture(model, twin, rotation, active),
    )


def _checked(model: Model, settings: Settings) -> views.CodeSample:
    if settings.images < 2 or settings.draws < 1:
        raise ConfigError(
            f"expected 2 images and 1 draw or more, found {settings.images} and {settings.draws}"
        )
    model.code.require_decoder(model.kind)
    codes = views.sample_codes(model, seed=settings.seed)
    if codes.posterior is None:
        raise ConfigError(f"{model.kind} has no Gaussian posterior, so its bound is not known")
    if model.code_prior.power != 2:
        raise ConfigError(
            f"the prior of {model.name} is {model.code_prior.name}, which changes when it is "
            "turned: its likelihood has no such twin. That is a way around the theorem."
        )
    return codes


def _scores(
    model: Model, codes: views.CodeSample, rotation: np.ndarray
) -> dict[str, dict[str, float]]:
    """Score the codes of the model, those of the twin, and codes that know nothing."""
    if not model.data.factor_list:
        return {}
    rng = np.random.default_rng(3)
    tables = {
        "model": (codes.codes, codes.factors),
        "twin": (codes.codes @ rotation.T, codes.factors),
        "shuffled": (codes.codes, codes.factors[rng.permutation(len(codes.factors))]),
    }
    found: dict[str, dict[str, float]] = {}
    for who, (table, factors) in tables.items():
        scored = score(table, factors, METRICS, preset="fast", factor_names=model.data.factor_names)
        for metric, result in scored.items():
            found.setdefault(metric, {})[who] = result.value
    return found


def _table(
    own: Bound, same: Bound, fresh: Bound, scores: dict[str, dict[str, float]]
) -> ResultTable:
    lines: list[tuple[Any, ...]] = [
        ("log p(x), nats per image", own.log_likelihood.mean(), same.log_likelihood.mean(), None),
        ("the same, other draws", None, fresh.log_likelihood.mean(), None),
        ("bound (ELBO), nats per image", own.elbo.mean(), same.elbo.mean(), None),
    ]
    lines += [
        (metric, by.get("model"), by.get("twin"), by.get("shuffled"))
        for metric, by in scores.items()
    ]
    floats = tuple(
        tuple(float(c) if isinstance(c, np.floating) else c for c in line) for line in lines
    )
    header = ("", "the model", "its twin", "factors shuffled")
    return ResultTable("The same likelihood, another code", header, floats)


def _paragraph(
    model: Model,
    mixed: int,
    own: Bound,
    same: Bound,
    gap: float,
    scores: dict[str, dict[str, float]],
) -> str:
    told = (
        f"The twin of {model.name} turns its {mixed} latents that carry something by a rotation, "
        f"and its decoder turns them back. It gives {len(own.elbo)} images a likelihood of "
        f"{same.log_likelihood.mean():,.2f} nats on average; the model gives them "
        f"{own.log_likelihood.mean():,.2f}, and no image differs by more than {gap:.1e} nats; "
        f"sums of this size are off by {_rounding(own.log_likelihood):.1e} in single precision."
    )
    if "mig" in scores:
        by = scores["mig"]
        told += (
            f" MIG is {by['model']:.3f} for the model and {by['twin']:.3f} for the twin "
            f"({by['shuffled']:.3f} for shuffled factors): nothing in the likelihood tells the two "
            f"apart."
        )
    return told


def _caveats(model: Model) -> tuple[str, ...]:
    told = [
        "log p(x) is estimated by importance sampling, a lower bound; the theorem is about p(x) "
        "itself, for which the equality is exact.",
        "The twin's posterior has a full covariance. A VAE that must have a diagonal one pays for "
        "the rotation in its bound, which is one reason why such methods find axes at all.",
        "That the likelihood cannot tell the two apart does not say that training cannot: "
        "architectures, data and labels prefer one of them.",
    ]
    if not model.data.factor_list:
        told.append(f"{model.data.name} has no factors, so the codes could not be scored.")
    return tuple(told)


def _standard_error(differences: np.ndarray) -> float:
    return float(differences.std(ddof=1) / math.sqrt(len(differences)))


def _rounding(values: np.ndarray) -> float:
    """Return by how much a sum of this size may be off in single precision."""
    return float(np.abs(values).max() * np.finfo(np.float32).eps * 8)


def _picture(model: Model, twin: Model, rotation: np.ndarray, active: np.ndarray) -> ImageGrid:
    shown = [int(i) for i in np.flatnonzero(active)[:MOST_LATENTS]]
    rows, labels = [], []
    start = views.start_code(model)
    for one, who, code in ((model, "", start), (twin, "twin ", rotation @ start)):
        rows.append(one.traverse(code, dimensions=shown, steps=COLUMNS))
        labels += [f"{who}z{latent}" for latent in shown]
    values = np.linspace(-model.code_prior.reach, model.code_prior.reach, COLUMNS)
    return ImageGrid(
        np.concatenate(rows),
        row_labels=labels,
        column_labels=[f"{value:.1f}" for value in values],
        title="the model, and below it a twin with the same likelihood",
    )
