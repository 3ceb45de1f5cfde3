"""Which method to begin with, and what to change when a run shows this or that.

Two tables: what somebody has and wants, with the method to begin with; and what the report warns
of, with what to change. `docs/choosing.md` shows the first, and every line names the page of
results that it was decided from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from unweave.runs.model import Model
from unweave.views import CodeSample, Warned, reconstructions, sample_codes, warnings

BETA_NORM = 0.0098
"""β times latents over pixels of the β-VAE paper's β = 4 on dSprites."""
BLURRED = 0.5
"""Share of the variance of pixels that decoded images must explain not to be called blurred."""
IMAGES = 200

HAVE: dict[str, str] = {
    "nothing": "images alone",
    "pairs": "pairs of images that differ in few factors",
    "clips": "clips: successive frames",
    "groups": "groups of images that share a value",
    "classes": "the class of every image",
    "few-classes": "the class of a few images",
    "few-labels": "factors of a few images",
    "side-information": "a further observation of every image: time, sensor, segment",
}
WANT: dict[str, str] = {
    "axes": "one latent for each factor",
    "content": "content apart from style",
    "clusters": "kinds of images that nobody named",
    "generation": "new images, with codes that steer them",
    "likelihood": "the best likelihood, whatever the code",
}


@dataclass(frozen=True)
class Choice:
    """A method to begin with."""

    have: str
    want: str
    method: str
    flags: str
    """Settings to begin with, where they are not the method's own."""
    why: str
    page: str
    """Where in docs/ the evidence is."""


ACCEPTANCE = "results/acceptance.md"

CHOICES = (
    Choice(
        "nothing",
        "axes",
        "cooled_tcvae",
        "",
        "the default recipe: factors switch on one by one, the best code of a short training",
        "results/recipe.md",
    ),
    Choice(
        "nothing",
        "axes",
        "beta_tcvae",
        "--method.beta 6",
        "twice the MIG of a β-VAE of the same β in our exercises, in every pair of seeds, for a "
        "few nats of the bound; train several seeds",
        "results/exercises.md",
    ),
    Choice(
        "pairs",
        "axes",
        "ada_gvae",
        "",
        "finds by itself what two images share; three times the DCI of a β-VAE after 4,000 steps "
        "on dSprites, every seed above every one of its",
        "results/weak_supervision.md",
    ),
    Choice(
        "clips",
        "axes",
        "slow_vae",
        "",
        "from one frame to the next few things move: that alone fixes the axes",
        f"{ACCEPTANCE}#slow_vae",
    ),
    Choice(
        "few-labels",
        "axes",
        "semi_supervised+beta_tcvae",
        "",
        "holds the first latents to the labels there are; labels settle what likelihood cannot",
        f"{ACCEPTANCE}#semi_supervised",
    ),
    Choice(
        "side-information",
        "axes",
        "i_vae",
        "",
        "a prior that depends on the observation makes the code identifiable",
        f"{ACCEPTANCE}#i_vae",
    ),
    Choice(
        "groups",
        "content",
        "gvae",
        "",
        "what a group shares is averaged; the rest is each image's style",
        f"{ACCEPTANCE}#gvae",
    ),
    Choice(
        "groups",
        "content",
        "ml_vae",
        "",
        "multiplies what images say of the content: sharper with larger groups",
        f"{ACCEPTANCE}#ml_vae",
    ),
    Choice(
        "classes",
        "content",
        "lord",
        "",
        "a code for each class, a noisy one for each image, so that classes do not leak",
        "content_and_style.md#classes",
    ),
    Choice(
        "few-classes",
        "content",
        "m2",
        "",
        "the class is a latent, known of a few images; the rest is style",
        f"{ACCEPTANCE}#m2",
    ),
    Choice(
        "nothing",
        "clusters",
        "aae_clustering",
        "",
        "one cluster among many, and a style; purer than k-means of pixels, if not by much",
        f"{ACCEPTANCE}#aae_clustering",
    ),
    Choice(
        "nothing",
        "generation",
        "info_gan",
        "",
        "a generator whose codes can be read back from its images; by its paper, since it is not "
        "judged on our runs yet",
        ACCEPTANCE,
    ),
    Choice(
        "nothing",
        "likelihood",
        "very_deep_vae",
        "",
        "a ladder of stochastic layers; do not expect axes of it. By its paper, since it is not "
        "judged on our runs yet",
        ACCEPTANCE,
    ),
)


@dataclass(frozen=True)
class Use:
    """What a code is wanted for, and what our runs say it takes."""

    application: str
    """As `unweave apply` has it."""
    takes: str
    page: str
    """Where in docs/ the evidence is."""


APPLICATIONS = "results/applications.md"
SMALL = "on squares, three seeds"
USES = (
    Use(
        "few-labels",
        f"any trained code: {SMALL}, 30 labels on the code of a VAE read factors better than 100 "
        "on pixels, and axes add a little to that",
        f"{APPLICATIONS}#few-labels-r²-of-x-y-and-side",
    ),
    Use(
        "augment",
        "one latent for the target: on squares copies by Ada-GVAE help much in each of six seeds, "
        "and copies by a VAE hurt in four of them and help in two, as its latents happen to fall",
        f"{ACCEPTANCE}#apply_augment",
    ),
    Use(
        "fairness",
        f"one latent for the sensitive factor: {SMALL}, dropping it takes more than half of the "
        "parity gap with Ada-GVAE and less with a VAE; it does not make the factor unreadable. If "
        "you have its labels, hold a latent to it (ff_vae, semi_supervised)",
        f"{APPLICATIONS}#fairness-side-is-sensitive-y-the-target",
    ),
    Use(
        "intervene",
        f"one latent for each factor: {SMALL}, a latent of Ada-GVAE moves its factor alone, one of "
        "a VAE does not; values set from outside part even a VAE's code",
        f"{APPLICATIONS}#interventions",
    ),
    Use(
        "representation",
        f"depends on the task: {SMALL}, both codes are sufficient or nearly so, and Ada-GVAE's has "
        "half of the total correlation",
        f"{APPLICATIONS}#four-criteria-side-is-the-task-x-the-nuisance",
    ),
    Use(
        "correlated",
        f"data in which the factors come apart: {SMALL}, both codes lose where training was "
        "correlated; labels of independent images part the pair again",
        f"{APPLICATIONS}#correlated-factors-trained-with-xy01-judged-on-independent-ones",
    ),
    Use(
        "recombination",
        f"nothing here: {SMALL}, what was held out is decoded worse whatever the code; do not "
        "choose a method for it",
        f"{APPLICATIONS}#recombination-what-was-held-out",
    ),
)


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


def choices(have: str, want: str) -> list[Choice]:
    """Return what to begin with, the first choice first; what needs nothing fits everybody."""
    exact = [c for c in CHOICES if c.have == have and c.want == want]
    unaided = [c for c in CHOICES if c.have == "nothing" and c.want == want and have != "nothing"]
    return exact + unaided


def starting_beta(image_shape: Sequence[int], latent_dim: int = 10) -> float:
    """Return the β of a β-VAE that weighs a latent against a pixel as the paper did."""
    return BETA_NORM * prod(image_shape) / latent_dim


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


def choices_as_markdown() -> str:
    """Return the table of methods to begin with."""
    lines = [
        "| you have | you want | begin with | because | decided from |",
        "|---|---|---|---|---|",
    ]
    for choice in CHOICES:
        command = f"`{choice.method}{' ' + choice.flags if choice.flags else ''}`"
        page = f"[{choice.page.partition('#')[0].rpartition('/')[2]}]({choice.page})"
        lines.append(
            f"| {HAVE[choice.have]} | {WANT[choice.want]} | {command} | {choice.why} | {page} |"
        )
    return "\n".join(lines)


def uses_as_markdown() -> str:
    """Return the table of what a code is wanted for."""
    lines = ["| `unweave apply` | what it takes | decided from |", "|---|---|---|"]
    for use in USES:
        name = use.page.partition("#")[0].rpartition("/")[2]
        lines.append(f"| `{use.application}` | {use.takes} | [{name}]({use.page}) |")
    return "\n".join(lines)


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
