"""Which method to begin with, by what somebody has and wants, and what uses of a code take.

`docs/choosing.md` shows both tables; every line names the page of results that it was decided from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

BETA_NORM = 0.0098
"""β times latents over pixels of the β-VAE paper's β = 4 on dSprites."""

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
        "factors switch on one by one: the best code of a short training; of one object on a plain "
        "ground with the network posed, as the default recipe",
        "results/recipe.md",
    ),
    Choice(
        "nothing",
        "axes",
        "beta_tcvae",
        "--method.beta 6",
        "twice the MIG of a β-VAE of the same β in our exercises, at a better bound; seeds "
        "differ as much: train several",
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
        "a generator whose codes are read back from images, real ones too: where kinds differ "
        "more than anything else, its category names them",
        f"{ACCEPTANCE}#info_gan",
    ),
    Choice(
        "nothing",
        "likelihood",
        "very_deep_vae",
        "",
        "a ladder of stochastic layers, with a learnt top a nat or more below a VAE of as many "
        "weights; do not expect axes of it",
        f"{ACCEPTANCE}#very_deep_vae",
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


def choices(have: str, want: str) -> list[Choice]:
    """Return what to begin with, the first choice first; what needs nothing fits everybody."""
    exact = [c for c in CHOICES if c.have == have and c.want == want]
    unaided = [c for c in CHOICES if c.have == "nothing" and c.want == want and have != "nothing"]
    return exact + unaided


def starting_beta(image_shape: Sequence[int], latent_dim: int = 10) -> float:
    """Return the β of a β-VAE that weighs a latent against a pixel as the paper did."""
    return BETA_NORM * prod(image_shape) / latent_dim


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
