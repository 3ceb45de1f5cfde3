"""Would a decision have been another? Latents exchanged between images, and decisions compared."""

import numpy as np
from sklearn.decomposition import PCA

from unweave.applications._inputs import COMPONENTS, Sample, forest
from unweave.runs.model import Model


def exchanged(codes: np.ndarray, latents: list[int], partners: np.ndarray) -> np.ndarray:
    """Return codes in which some latents are those of other rows."""
    changed = codes.copy()
    changed[:, latents] = codes[partners][:, latents]
    return changed


def flip_rates(
    model: Model,
    taken: Sample,
    latents: list[int],
    factor: str,
    decisions: np.ndarray,
    seed: int,
) -> dict[str, float | None]:
    """Return the shares of decisions that change when the latents of another image are taken.

    Classifiers learn the decisions about one half of the rows and decide about the other. Of
    images, all are asked about with the same partners: the decoded ones with the latents of their
    partners, and the true ones with the partners' value of the factor.
    """
    half = len(decisions) // 2
    rng = np.random.default_rng((seed, 0xF11))
    partners = rng.permutation(len(decisions) - half)
    own, everything = taken.codes[half:], list(range(taken.codes.shape[1]))
    of_codes = forest(taken.codes[:half], decisions[:half], seed)
    before = of_codes.says(own)
    found: dict[str, float | None] = {
        "codes": _differ(before, of_codes.says(exchanged(own, latents, partners))),
        "codes_all_exchanged": _differ(before, of_codes.says(exchanged(own, everything, partners))),
        "decoded": None,
        "decoded_unchanged": None,
        "true": None,
        "not_as_true": None,
    }
    if not model.code.decodes or model.code.source != "images":
        return found
    images = taken.data.images(taken.rows)
    learnt = images[:half].reshape(half, -1)
    basis = PCA(min(COMPONENTS, *learnt.shape), svd_solver="randomized", random_state=0)
    of_images = forest(basis.fit_transform(learnt), decisions[:half], seed)

    def says(pictures: np.ndarray) -> np.ndarray:
        return of_images.says(basis.transform(pictures.reshape(len(pictures), -1)))

    raw, seen = model.encode(images[half:]), says(images[half:])
    unchanged = says(model.decode(raw))
    changed = says(model.decode(exchanged(raw, latents, partners)))
    found["decoded_unchanged"] = _differ(unchanged, seen)
    found["decoded"] = _differ(changed, unchanged)
    if taken.data.is_grid:
        truly = says(true_counterfactuals(taken, half, factor, partners))
        found["true"] = _differ(truly, seen)
        found["not_as_true"] = _differ(truly, changed)
    return found


def true_counterfactuals(
    taken: Sample, first: int, factor: str, partners: np.ndarray
) -> np.ndarray:
    """Return the images of a row and those after it, each with its partner's value of a factor."""
    wanted = taken.factors[first:].copy()
    column = taken.data.factor_names.index(factor)
    wanted[:, column] = wanted[partners, column]
    return taken.data.images(taken.data.rows_of(wanted))


def _differ(some: np.ndarray, others: np.ndarray) -> float:
    return float((some != others).mean())
