"""What classifiers are given: codes of rows, and the baselines that they are compared with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from unweave import catalog
from unweave.data import Factor, FactorImages
from unweave.errors import ConfigError, DataError
from unweave.evaluation.untrained import untrained_twin
from unweave.runs.model import Model
from unweave.runs.silencing import NATS
from unweave.tables import standardize

CHUNK = 1_000  # images that say which latents are silent
COMPONENTS = 100
"""Principal components that stand for pixels: nearly all of small images, and quick to fit."""


@dataclass(frozen=True)
class Sample:
    """Rows of a data set, their codes and factors."""

    rows: np.ndarray
    codes: np.ndarray
    """float64 (row, code), each of mean 0 and deviation 1; constant ones are 0."""
    factors: np.ndarray
    """(row, factor)."""
    data: FactorImages
    silent: tuple[int, ...] = ()
    """Latents that carry nothing, as `unweave silence` judges it; their codes are 0 here. What
    little their means vary no decoder reads, but a classifier would."""

    def column(self, factor: str) -> np.ndarray:
        """Return the values of one factor."""
        values: np.ndarray = self.factors[:, self.data.factor_names.index(factor)]
        return values


def sample(model: Model, rows: int, seed: int) -> Sample:
    """Encode rows drawn at random without repetition, in random order."""
    model.code.require_codes(model.kind)
    data = model.data
    if not data.factor_list:
        raise DataError(f"{data.name} has no factors, so there is nothing to predict")
    if rows < 20:
        raise ConfigError(f"expected 20 rows or more, found {rows}")
    chosen = np.random.default_rng((seed, 0xA991)).permutation(len(data))[:rows]
    codes = standardize(model.encode_rows(chosen))
    silent = silent_latents(model, chosen[:CHUNK])
    codes[:, list(silent)] = 0
    return Sample(chosen, codes, data.factors(chosen), data, silent)


def drawn_codes(model: Model, taken: Sample, seed: int) -> np.ndarray | None:
    """Return the codes of the rows as decoders see them, with the posterior's noise, or None.

    Means are exact: much can be read from their last digits that no decoder ever saw.
    """
    if model.code.source != "images" or model.posterior(taken.data.images(taken.rows[:1])) is None:
        return None
    codes = standardize(model.draw_codes(taken.data.images(taken.rows), seed))
    codes[:, list(taken.silent)] = 0
    return codes


def silent_latents(model: Model, rows: np.ndarray) -> tuple[int, ...]:
    """Return the latents whose posterior is nearly the same for all images; none without one."""
    posterior = model.posterior(model.data.images(rows)) if model.code.source == "images" else None
    if posterior is None:
        return ()
    mean, logvar = (part.astype(np.float64) for part in posterior)
    kl = model.code_prior.kl(mean, logvar, np.exp(logvar)).mean(axis=0)
    return tuple(int(i) for i in np.flatnonzero(kl < model.code_prior.least_kl + NATS))


def silent_words(taken: Sample, model: Model) -> tuple[str, ...]:
    """Say which latents were left out, as a caveat."""
    if not taken.silent:
        return ()
    named = ", ".join(model.latent_labels()[i] for i in taken.silent)
    return (
        f"{named} carry less than {NATS} nats and are counted as silent: their means vary a "
        "little with the image, which a classifier would find and a decoder does not.",
    )


def baselines(
    model: Model, taken: Sample, seed: int, *, small: bool = True
) -> dict[str, np.ndarray]:
    """Return what else a classifier could be given of the same rows, by name.

    Principal components of the pixels, many and as few as the code has numbers; the code of the
    same networks before any training, where these are known.
    """
    components = principal_components(taken.data, taken.rows, COMPONENTS)
    found = {"pixels": components}
    if small:
        size = min(model.latent_dim, components.shape[1])
        found[f"PCA, {size} numbers"] = components[:, :size]
    untrained = untrained_twin(model, seed)
    if untrained is not None:
        found["untrained"] = standardize(untrained.encode_rows(taken.rows))
    return found


def principal_components(data: FactorImages, rows: np.ndarray, count: int) -> np.ndarray:
    """Return the leading components of the pixels of rows, scaled together to deviation 1."""
    from sklearn.decomposition import PCA

    flat = data.images(rows).reshape(len(rows), -1)
    size = min(count, *flat.shape)
    found = PCA(size, svd_solver="randomized", random_state=0).fit_transform(flat)
    scale = float(found[:, 0].std()) or 1.0
    return np.asarray(found / scale, dtype=np.float64)


def factor_of(data: FactorImages, name: str, meant: str, default: int) -> Factor:
    """Return a factor by its name, or the one with this number."""
    if not name:
        varying = [f for f in data.factor_list if f.continuous or f.size > 1]
        if len(varying) <= default:
            raise DataError(
                f"{data.name} has {len(varying)} factors that vary; {default + 1} are needed"
            )
        return varying[default]
    catalog.check_name(name, data.factor_names, f"{meant} of {data.name}")
    return data.factor_list[data.factor_names.index(name)]


def halves(factor: Factor, values: np.ndarray) -> tuple[np.ndarray, str]:
    """Cut the values of a factor in two: above the median, or the first class; say how."""
    if factor.categorical:
        first = factor.labels[0] if factor.labels else "0"
        return values == 0, f"{factor.name} is {first}"
    middle = float(np.median(values))
    above = values > middle
    if not above.any():
        above = values >= middle
    return above, f"{factor.name} is large"


def in_classes(column: np.ndarray, most: int) -> np.ndarray:
    """Return classes 0, 1, …; a factor of more values is cut into so many, equally large."""
    values, places = np.unique(column, return_inverse=True)
    if len(values) <= most:
        return places
    cuts = np.quantile(column, np.linspace(0, 1, most + 1)[1:-1])
    return np.searchsorted(cuts, column, side="right")


def forest(inputs: np.ndarray, labels: np.ndarray, seed: int, trees: int = 50) -> "Predictor":
    """Fit a random forest, which finds what is there however it is bent."""
    from sklearn.ensemble import RandomForestClassifier

    fitted = RandomForestClassifier(trees, min_samples_leaf=3, random_state=seed)
    fitted.fit(inputs, labels)
    classes = list(fitted.classes_)

    def share(points: np.ndarray) -> np.ndarray:
        if True not in classes:
            return np.zeros(len(points))
        found: np.ndarray = fitted.predict_proba(points)[:, classes.index(True)]
        return found

    return Predictor(share)


@dataclass(frozen=True)
class Predictor:
    """A classifier of yes and no."""

    share: Callable[[np.ndarray], np.ndarray]
    """From inputs to how likely yes is."""

    def says(self, inputs: np.ndarray) -> np.ndarray:
        """Return the answers."""
        return self.share(inputs) > 0.5


def area_under_curve(truth: np.ndarray, share: np.ndarray) -> float:
    """Return how often a yes is held likelier than a no: 0.5 by chance, 1 at best."""
    from sklearn.metrics import roc_auc_score

    if truth.all() or not truth.any():
        return float("nan")
    return float(roc_auc_score(truth, share))


def averaged(draws: list[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the values of every draw by name."""
    return {name: [float(draw[name]) for draw in draws] for name in draws[0]}
