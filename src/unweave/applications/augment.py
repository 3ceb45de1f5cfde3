"""augment: few labelled images, and copies of them in which what does not matter is drawn anew.

A classifier of a factor is fitted to few labelled images, to these and decoded copies in which the
latents that do not carry the factor are those of other images, and to what that is compared with:
copies that are only decoded, copies shifted by a few pixels, and copies in which all latents are
drawn anew, so that their labels are wrong: the control that must hurt. It is judged on images that
nothing was fitted to.

The classifier, a logistic regression on the principal components of all images without labels, is
weak on purpose: what is asked is what the copies add.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.applications._applied import Applied, ResultTable, applied_to, mean_and_deviation
from unweave.applications._inputs import COMPONENTS, factor_of, in_classes
from unweave.editing import Finder
from unweave.errors import ConfigError, DataError
from unweave.figures import ImageGrid
from unweave.runs.model import Model
from unweave.views import CodeSample

MOST_CLASSES = 8
NONE = "the labelled images alone"
DECODED, SHIFTED = "and decoded copies", "and shifted copies"
NUISANCE, ALL = "and nuisance drawn anew", "and all latents drawn anew (control)"


@dataclass(frozen=True)
class Settings:
    target: str = ""
    """Factor that is classified; by default the first without an order, else the first."""
    labels: int = 30
    """How many images are labelled."""
    copies: int = 10
    """Copies of each."""
    shift: int = 3
    """Pixels by which shifted copies are moved at most."""
    draws: int = 5
    """How often labelled images are drawn."""
    judged: int = 1000
    """Images that are judged on."""
    pool: int = 3000
    """Images without labels: for principal components, and to take latents from."""
    seed: int = 0
    """Which images."""


def resampled(
    codes: np.ndarray, others: np.ndarray, latents: list[int], copies: int, rng: np.random.Generator
) -> np.ndarray:
    """Return copies of codes in which some latents are those of other images, each a draw."""
    made = np.repeat(codes, copies, axis=0)
    drawn = others[rng.integers(len(others), size=len(made))]
    made[:, latents] = drawn[:, latents]
    return made


def shifted(images: np.ndarray, most: int, copies: int, rng: np.random.Generator) -> np.ndarray:
    """Return copies of images moved by some pixels; what comes in repeats the edge."""
    made = np.repeat(images, copies, axis=0)
    padded = np.pad(made, ((0, 0), (0, 0), (most, most), (most, most)), mode="edge")
    height, width = images.shape[2:]
    for row, (down, right) in enumerate(rng.integers(2 * most + 1, size=(len(made), 2))):
        made[row] = padded[row, :, down : down + height, right : right + width]
    return made


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Compare classifiers fitted with and without copies."""
    _check(settings)
    model.code.require_codes_of_images(model.kind)
    model.code.require_decoder(model.kind)
    data = model.data
    categorical = [i for i, f in enumerate(data.factor_list) if f.categorical and f.size > 1]
    named = settings.target or (data.factor_names[categorical[0]] if categorical else "")
    target = factor_of(data, named, "target", 0)
    rng = np.random.default_rng((settings.seed, 0xA06))
    order = rng.permutation(len(data))
    count = min(settings.judged, len(data) // 3)
    judged, pool = order[:count], order[count : count + settings.pool]
    if len(pool) < 2 * settings.labels:
        raise DataError(
            f"{data.name} leaves {len(pool)} images to learn from; {2 * settings.labels} are needed"
        )
    place = data.factor_names.index(target.name)
    classes = in_classes(data.factors(np.concatenate([judged, pool]))[:, place], MOST_CLASSES)
    truth, known = classes[:count], classes[count:]
    codes = model.encode_rows(pool, data)
    sampled = CodeSample(pool, codes, data.factors(pool), None, model.code_prior)
    carrier = Finder(model, sampled, settings.seed).find(target.name)
    kept = set(carrier.unit.dimensions)
    nuisance = [i for i in range(model.latent_dim) if i not in kept]
    project = _projection(data.images(pool))
    seen = project(data.images(judged))
    scores: dict[str, list[float]] = {}
    shown = None
    for draw in range(settings.draws):
        draws = np.random.default_rng((settings.seed, draw, 0xA07))
        chosen = _some_of_each(known, settings.labels, draws)
        images = data.images(pool[chosen])
        copies = _copies(model, images, codes[chosen], codes, nuisance, settings, draws)
        for name, made in copies.items():
            inputs = images if made is None else np.concatenate([images, made])
            times = 0 if made is None else settings.copies
            labels = np.concatenate([known[chosen], np.repeat(known[chosen], times)])
            right = _accuracy(project(inputs), labels, seen, truth)
            scores.setdefault(name, []).append(right)
        shown = shown or (images, copies)
    assert shown is not None
    chance = float(np.bincount(truth).max() / len(truth))
    gains = {name: _gain(scores[name], scores[NONE]) for name in scores if name != NONE}
    numbers: dict[str, Any] = {
        "target": target.name,
        "kept": sorted(kept),
        "evidence": carrier.evidence,
        "accuracy": scores,
        "gain": gains,
        "chance": chance,
        "all_labels": _accuracy(project(data.images(pool)), known, seen, truth),
    }
    return applied_to(
        model,
        settings,
        numbers,
        tables=(_table(numbers, settings, len(pool)),),
        paragraph=_paragraph(model, numbers, settings),
        caveats=_caveats(),
        figure=_picture(*shown, settings.copies),
    )


def _check(settings: Settings) -> None:
    least = {"labels": 2, "copies": 1, "draws": 1, "judged": 10, "shift": 1}
    for name, bound in least.items():
        if getattr(settings, name) < bound:
            raise ConfigError(f"{name} must be {bound} or more, found {getattr(settings, name)}")


def _copies(
    model: Model,
    images: np.ndarray,
    own: np.ndarray,
    others: np.ndarray,
    nuisance: list[int],
    settings: Settings,
    rng: np.random.Generator,
) -> dict[str, np.ndarray | None]:
    everything = list(range(model.latent_dim))
    times = settings.copies
    return {
        NONE: None,
        DECODED: model.decode(np.repeat(own, times, axis=0)),
        SHIFTED: shifted(images, settings.shift, times, rng),
        NUISANCE: model.decode(resampled(own, others, nuisance, times, rng)),
        ALL: model.decode(resampled(own, others, everything, times, rng)),
    }


def _projection(images: np.ndarray) -> Any:
    from sklearn.decomposition import PCA

    flat = images.reshape(len(images), -1)
    basis = PCA(min(COMPONENTS, *flat.shape), svd_solver="randomized", random_state=0).fit(flat)
    scale = float(np.sqrt(basis.explained_variance_[0])) or 1.0

    def project(some: np.ndarray) -> np.ndarray:
        return np.asarray(basis.transform(some.reshape(len(some), -1)) / scale)

    return project


def _some_of_each(classes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows, as many of one class as of any other as far as that goes."""
    rows = rng.permutation(len(classes))
    by_class = rows[np.argsort(classes[rows], kind="stable")]
    _, first, sizes = np.unique(classes[by_class], return_index=True, return_counts=True)
    turn = np.arange(len(rows)) - np.repeat(first, sizes)
    return by_class[np.argsort(turn, kind="stable")][:count]


def _accuracy(inputs: np.ndarray, labels: np.ndarray, seen: np.ndarray, truth: np.ndarray) -> float:
    from sklearn.linear_model import LogisticRegression

    return float(LogisticRegression(max_iter=300).fit(inputs, labels).score(seen, truth))


def _gain(with_copies: list[float], without: list[float]) -> list[float]:
    return [a - b for a, b in zip(with_copies, without, strict=True)]


def _table(numbers: dict[str, Any], settings: Settings, pool: int) -> ResultTable:
    lines: list[tuple[Any, ...]] = [
        (
            name,
            mean_and_deviation(values),
            mean_and_deviation(numbers["gain"][name]) if name in numbers["gain"] else None,
        )
        for name, values in numbers["accuracy"].items()
    ]
    lines.append((f"{pool:,} labelled images", numbers["all_labels"], None))
    lines.append(("always the commonest class", numbers["chance"], None))
    header = (f"fitted to {settings.labels} labelled images", "accuracy", "gain, draw by draw")
    return ResultTable(f"Accuracy of {numbers['target']}", header, tuple(lines))


def _paragraph(model: Model, numbers: dict[str, Any], settings: Settings) -> str:
    mean = {name: float(np.mean(values)) for name, values in numbers["accuracy"].items()}
    return (
        f"{numbers['evidence']}. With {settings.labels} labelled images the accuracy of "
        f"{numbers['target']} is {mean[NONE]:.3f} (chance {numbers['chance']:.3f}). With "
        f"{settings.copies} copies of each, in which {model.name} draws all latents but that one "
        f"anew, it is {mean[NUISANCE]:.3f}; with shifted copies {mean[SHIFTED]:.3f}, with decoded "
        f"ones {mean[DECODED]:.3f}, and with all latents drawn anew, which makes labels wrong, "
        f"{mean[ALL]:.3f}."
    )


def _caveats() -> tuple[str, ...]:
    return (
        "The latent that carries the factor was found with labels of the images without labels; "
        "with few labels alone it may be another.",
        "Copies are as good as the decoder and as the code is cut: where other latents tell the "
        "class too, copies have wrong labels.",
        "A classifier that knows about shifts by itself, such as a convolutional one, gains less.",
    )


def _picture(images: np.ndarray, copies: dict[str, np.ndarray | None], times: int) -> ImageGrid:
    names = [name for name, made in copies.items() if made is not None]
    count = min(8, len(images))
    lines = [images[:count]]
    for name in names:
        made = copies[name]
        assert made is not None
        lines.append(made[::times][:count])
    labels = ["labelled", *(name.removeprefix("and ") for name in names)]
    return ImageGrid(np.stack(lines), row_labels=labels, title="a copy of each labelled image")
