"""What to change when a run shows this or that; `docs/choosing.md` shows the table."""

from dataclasses import dataclass

import numpy as np

from unweave.runs.model import Model
from unweave.views import CodeSample, Warned, reconstructions, sample_codes, warnings

BLURRED = 0.5
"""Share of the variance of pixels that decoded images must explain not to be called blurred."""
IMAGES = 200


@dataclass(frozen=True)
class Remedy:
    """What to change when a diagnostic shows something."""

    sign: str
    """What the report calls it."""
    seen: str
    do: tuple[str, ...]
    """What to try, the cheapest first."""


REMEDIES: dict[str, Remedy] = {
    "unfinished": Remedy(
        "unfinished",
        "the run was stopped before its last step",
        ("unweave resume RUN; what else it shows may change until then",),
    ),
    "dead": Remedy(
        "collapsed (whole code)",
        "every latent carries nothing: posterior collapse",
        (
            "lower the weight of the KL, or let it rise from 0: --method.beta 0:4:5000",
            "check that the reconstruction term is below that of the mean image; if it is not, "
            "raise the learning rate or train longer",
            "method control_vae or annealed_vae holds the KL at a set point instead",
        ),
    ),
    "collapsed": Remedy(
        "collapsed (some latents)",
        "some latents carry nothing, which is what spare ones should do",
        (
            "nothing, if every factor is carried by another latent",
            "unweave silence RUN, so that metrics do not count what is left in them",
            "lower the weight of the KL if a factor is carried by none",
        ),
    ),
    "idle": Remedy(
        "idle",
        "a latent pays for a posterior unlike the prior, but says nothing of the image",
        ("unweave silence RUN --nats 0.1", "train longer, with a learning rate that falls"),
    ),
    "entangled_latents": Remedy(
        "entangled_latents",
        "a factor is split between two latents",
        (
            "fewer latents (--method.latent-dim), or later ones dearer: cooled_tcvae with "
            "--method.stagger",
            "more weight on the total correlation: beta_tcvae, factor_vae",
            "other seeds: runs of the same settings differ more than settings do",
            "an angle or a category needs several numbers: then nothing is wrong",
        ),
    ),
    "entangled_factors": Remedy(
        "entangled_factors",
        "a latent mixes two factors",
        (
            "lower the weight of the KL: a narrow code packs factors together",
            "with pairs, more latents than factors (--method.latent-dim 16): a hue or an angle "
            "takes two, and a factor that finds none left hides in theirs",
            "a weight that falls, so that factors switch on one by one: cooled_tcvae",
            "pairs, clips or a few labels, if they can be had: likelihood does not know your axes "
            "(unweave demo impossibility)",
        ),
    ),
    "correlated": Remedy(
        "correlated",
        "two latents move together",
        (
            "more weight on the total correlation: beta_tcvae, factor_vae; dip_vae for means",
            "look whether the factors of your data are correlated: then no unsupervised method "
            "will part them, and labels or pairs are needed",
        ),
    ),
    "kl_limit": Remedy(
        "kl_limit",
        "the KL is at a limit",
        (
            "raise the capacity (--method.capacity), or weigh the KL more if it tells all images "
            "apart: then the code is a list of images",
            "the variance at its floor: a noisier likelihood (--method.likelihood calibrated)",
        ),
    ),
    "blurred": Remedy(
        "blurred",
        "decoded images explain little of what pixels vary",
        (
            "lower the weight of the KL, which is what buys axes with sharpness",
            "train longer; more latents; a larger decoder (--architecture)",
            "semi-transparent or photographic images: --method.likelihood calibrated",
        ),
    ),
}


@dataclass(frozen=True)
class Advice:
    """What was seen in a run, and what to try."""

    remedy: Remedy
    seen: str


def diagnose(model: Model, codes: CodeSample | None = None) -> list[Advice]:
    """Say what a run shows and what to change, the worst first."""
    codes = codes or sample_codes(model)
    found = [Advice(REMEDIES[_kind(w, model)], w.message) for w in warnings(model, codes).warnings]
    if (explained := explained_share(model)) is not None and explained < BLURRED:
        words = f"decoded images explain {explained:.0%} of the variance of pixels"
        found.append(Advice(REMEDIES["blurred"], words))
    order = list(REMEDIES.values())
    return sorted(found, key=lambda advice: order.index(advice.remedy))


def explained_share(model: Model) -> float | None:
    """Return how much of the variance of pixels decoded images explain; None without a decoder."""
    if not model.code.decodes or model.code.source != "images":
        return None
    view = reconstructions(model, IMAGES)
    spread = ((view.images - view.images.mean(axis=0)) ** 2).mean()
    return float(1 - np.mean(view.error) / max(float(spread), 1e-12))


def _kind(warned: Warned, model: Model) -> str:
    if warned.kind == "collapsed" and len(warned.latents) == model.latent_dim:
        return "dead"
    return warned.kind


def remedies_as_markdown() -> str:
    """Return the table of what to change."""
    lines = [
        "| the report warns of | what is seen | what to try, the cheapest first |",
        "|---|---|---|",
    ]
    for remedy in REMEDIES.values():
        tried = "; ".join(remedy.do)
        lines.append(f"| {remedy.sign} | {remedy.seen} | {tried} |")
    return "\n".join(lines)
