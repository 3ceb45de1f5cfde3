"""Unfairness of codes: it falls as disentanglement rises, and it is not read into noise.

The claim of F. Locatello et al., arXiv:1905.13662, over codes that hold the same of the image along
axes of their own or turned ones. The claim over methods and their strengths on dSprites is
judged in docs/results/unfairness.md by `python benchmarks/unfairness.py`.
"""

from collections.abc import Callable

import numpy as np

from rules._applied import ADA, PLAIN, fresh, look, trained, turned
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import squares
from unweave.applications._unfairness import aggregates, unfairness
from unweave.correlation import rank_correlation
from unweave.evaluation.score import score
from unweave.runs.model import Model

TOTAL = "mean_fairness:mean_pred:mean_sens"
TRUE, OTHERS = "the true factors", "codes of other images"
TURNED = "turned"
Change = Callable[[np.ndarray], np.ndarray]


def models(seed: int) -> dict[str, Model]:
    """Return models whose codes are disentangled to very different degrees."""
    found: dict[str, Model] = {name: trained(name, seed) for name in (ADA, PLAIN)}
    found |= {f"{name}, {TURNED}": turned(model) for name, model in found.items()}
    return found | {"untrained": fresh(ADA, seed)}


def measured(changed: Change) -> Measure:
    """Measure DCI of codes as they are, and unfairness of what they were changed to."""

    def measure(seed: int) -> Finding:
        data = squares()
        rows = np.random.default_rng(0).permutation(len(data))
        factors = data.factors(rows)
        exact = factors.astype(np.float64)
        numbers = {
            f"unfairness, {TRUE}": _unfairness(exact, factors),
            f"unfairness, {OTHERS}": _unfairness(np.roll(exact, 1, axis=0), factors),
        }
        for name, model in models(seed).items():
            codes = model.encode(data.images(rows))
            numbers[f"unfairness, {name}"] = _unfairness(changed(codes), factors)
            scored = score(codes, factors, ["dci"], preset="fast")
            numbers[f"DCI, {name}"] = float(scored["dci"].value)
        return Finding(numbers, look(trained(ADA, seed)))

    return measure


def _unfairness(codes: np.ndarray, factors: np.ndarray) -> float:
    mean, largest, _ = unfairness(codes, factors)
    return aggregates(mean, largest)[TOTAL]


def of_another(codes: np.ndarray) -> np.ndarray:
    return np.roll(codes, 1, axis=0)


def with_turned_axes(codes: np.ndarray) -> np.ndarray:
    """Turn all axes, of codes that had good ones too."""
    size = codes.shape[1]
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(size, size)))[0]
    return codes @ rotation


def checks(own: Columns, others: object) -> Checks:
    names = [name.removeprefix("DCI, ") for name in own if name.startswith("DCI, ")]
    unfair = np.stack([own[f"unfairness, {name}"] for name in names])
    dci = np.stack([own[f"DCI, {name}"] for name in names])
    gained = own[f"unfairness, {ADA}, {TURNED}"] - own[f"unfairness, {ADA}"]
    return {
        "rank correlation with DCI below -0.3": rank_correlation(unfair.ravel(), dci.ravel())
        < -0.3,
        "turning the axes of Ada-GVAE makes it unfair": bool((gained > 0.002).all()),
        "untrained codes are unfair": bool((own["unfairness, untrained"] > 0.01).all()),
        "the true factors are fair": bool((own[f"unfairness, {TRUE}"] < 0.003).all()),
        "codes of other images are fair": bool((own[f"unfairness, {OTHERS}"] < 0.003).all()),
    }


RULE = Rule(
    covers=(),
    claim="codes of squares by Ada-GVAE, a VAE, both with their axes turned, and untrained: over "
    "all of them and the seeds the rank correlation of unfairness and DCI is below −0.3; in each "
    "seed turning the axes of Ada-GVAE, which changes nothing that the code holds, raises its "
    "unfairness by more than 0.002, that of untrained codes is above 0.01, and those of the true "
    "factors and of codes of other images are below 0.003",
    method=measured(lambda codes: codes),
    saboteurs={
        "unfairness of codes of other images": measured(of_another),
        "unfairness of codes that are all turned": measured(with_turned_axes),
    },
    checks=checks,
    picture="Traversals of Ada-GVAE, one line for each latent.",
)
