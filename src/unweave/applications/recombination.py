"""recombination: combinations of factors that training held out, decoded and read.

M. Montero et al., "The Role of Disentanglement in Generalisation", ICLR 2021 (openreview
qbH974jKUVy), hold combinations out of training (to element, to range, extrapolation; `--split` of
`unweave train`) and compare how well the rest and what was held out is reconstructed; they find
that disentanglement does not buy recombination. Here, on both parts:

- −log p(x|z) of decoded images (Bernoulli pixels, nats per image) and its ratio, beside that of
  the mean image of the training part;
- squared error, beside that of the nearest image of the training part, which a model that only
  remembers would show;
- R² of a ridge regression from codes to factors that was fitted to the training part (L. Schott et
  al., arXiv:2107.08221), in units of the variance of the whole set, beside that of pixels;
- the composition task: the latent that carries a factor is taken from another image, and what is
  decoded is compared with the true image of that combination, beside leaving the image as it was.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.applications._applied import Applied, ResultTable, applied_to
from unweave.applications._inputs import COMPONENTS
from unweave.data import FactorImages
from unweave.editing import Finder
from unweave.errors import ConfigError, DataError
from unweave.figures import ImageGrid
from unweave.runs.model import Model
from unweave.tables import standardize
from unweave.views import CodeSample

if TYPE_CHECKING:
    from unweave.figures.style import Drawing

TINY = 1e-6
SHOWN = 10
TRAINED, HELD_OUT = "trained on", "held out"


@dataclass(frozen=True)
class Settings:
    rows: int = 1000
    """Images of each part."""
    seed: int = 0
    """Which images."""


def negative_log_likelihood(images: np.ndarray, decoded: np.ndarray) -> float:
    """Return the mean −log p(x|z) of Bernoulli pixels, in nats per image."""
    shares = np.broadcast_to(decoded, images.shape).astype(np.float64).clip(TINY, 1 - TINY)
    terms = images * np.log(shares) + (1 - images) * np.log1p(-shares)
    return float(-terms.reshape(len(images), -1).sum(axis=1).mean())


def squared_error(images: np.ndarray, decoded: np.ndarray) -> float:
    """Return the mean squared error of a pixel."""
    return float(((images - decoded) ** 2).mean())


def nearest_error(images: np.ndarray, known: np.ndarray) -> float:
    """Return the mean squared error of showing the nearest of the known images instead."""
    flat, others = images.reshape(len(images), -1), known.reshape(len(known), -1)
    squares = (flat**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * flat @ others.T
    return float(np.maximum(squares.min(axis=1), 0).mean() / flat.shape[1])


def r2_on(
    fitted: tuple[np.ndarray, np.ndarray],
    judged: tuple[np.ndarray, np.ndarray],
    variance: np.ndarray,
) -> np.ndarray:
    """Return R² by factor of a ridge regression, in units of a variance that is given."""
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(alphas=np.logspace(-4, 4, 17)).fit(*fitted)
    told = model.predict(judged[0]).reshape(len(judged[0]), -1)
    found: np.ndarray = 1 - ((told - judged[1]) ** 2).mean(axis=0) / variance
    return found


def apply(model: Model, settings: Settings = Settings()) -> Applied:
    """Compare what training held out with the rest."""
    data = _split_data(model)
    if settings.rows < 20:
        raise ConfigError(f"expected 20 rows or more, found {settings.rows}")
    model.code.require_codes_of_images(model.kind)
    rng = np.random.default_rng((settings.seed, 0x5EC))
    assert data.held_out is not None
    rows = {
        name: np.sort(_some(np.flatnonzero(data.held_out == out), settings.rows, rng))
        for name, out in ((TRAINED, False), (HELD_OUT, True))
    }
    # Readers are fitted to other images of the training part than those that are judged.
    rest = np.setdiff1d(np.flatnonzero(~data.held_out), rows[TRAINED])
    if len(rest) < 20:
        raise DataError(f"{data.name} leaves {len(rest)} images beside those that are judged")
    known = _some(rest, 2 * settings.rows, rng)
    images = {name: data.images(chosen) for name, chosen in rows.items()}
    numbers: dict[str, Any] = {
        "images": {name: len(chosen) for name, chosen in rows.items()},
        "share_held_out": float(data.held_out.mean()),
        "r2": _readers(model, data, rows, known),
    }
    decoded = None
    if model.code.decodes:
        decoded = {name: model.reconstruct(part) for name, part in images.items()}
        numbers |= _reconstructed(images, decoded, data.images(known))
        numbers["composition"] = composition(model, data, rows, known, rng)
    return applied_to(
        model,
        settings,
        numbers,
        tables=_tables(numbers),
        paragraph=_paragraph(model, numbers),
        caveats=_caveats(model, numbers),
        figure=_drawn(numbers["r2"])
        if decoded is None
        else _picture(images[HELD_OUT], decoded[HELD_OUT]),
    )


def _split_data(model: Model) -> FactorImages:
    data = model.data
    if not data.factor_list:
        raise DataError(f"{data.name} has no factors that could be combined")
    if data.held_out is None:
        raise ConfigError(
            f"nothing was held out when {model.name} was trained: train with --split RULE; for a "
            "--model, --split says what it has not seen"
        )
    return data


def _some(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    # At most half, so that enough are left to fit readers to.
    chosen: np.ndarray = rng.permutation(rows)[: min(count, max(len(rows) // 2, 1))]
    return chosen


def _reconstructed(
    images: dict[str, np.ndarray], decoded: dict[str, np.ndarray], known: np.ndarray
) -> dict[str, Any]:
    mean = known.mean(axis=0, keepdims=True)
    likelihood = {n: negative_log_likelihood(images[n], decoded[n]) for n in images}
    return {
        "nll": likelihood,
        "nll_of_mean_image": {n: negative_log_likelihood(images[n], mean) for n in images},
        "nll_ratio": likelihood[HELD_OUT] / max(likelihood[TRAINED], TINY),
        "squared_error": {n: squared_error(images[n], decoded[n]) for n in images},
        "squared_error_of_nearest": {n: nearest_error(images[n], known) for n in images},
    }


def _readers(
    model: Model, data: FactorImages, rows: dict[str, np.ndarray], known: np.ndarray
) -> dict[str, Any]:
    """Fit readers of factors to the training part, and judge them on both parts."""
    from sklearn.decomposition import PCA

    ordered = [i for i, f in enumerate(data.factor_list) if not f.categorical and f.size != 1]
    if not ordered:
        return {}
    whole = data.factors()[:, ordered].astype(np.float64)
    flat = data.images(known).reshape(len(known), -1)
    basis = PCA(min(COMPONENTS, *flat.shape), svd_solver="randomized", random_state=0).fit(flat)
    own = model.encode_rows(known, data)
    scale = standardize(own)
    found: dict[str, Any] = {"factors": [data.factor_names[i] for i in ordered]}
    for name, chosen in rows.items():
        codes = standardize(model.encode_rows(chosen, data), own)
        pixels = basis.transform(data.images(chosen).reshape(len(chosen), -1))
        truth = data.factors(chosen)[:, ordered].astype(np.float64)
        variance = whole.var(axis=0)
        found[name] = {
            "code": r2_on((scale, whole[known]), (codes, truth), variance),
            "pixels": r2_on((basis.transform(flat), whole[known]), (pixels, truth), variance),
        }
    return found


def composition(
    model: Model,
    data: FactorImages,
    rows: dict[str, np.ndarray],
    known: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, dict[str, dict[str, float]]]:
    """Take one factor from another image, by its latent, and compare with the true image.

    The result is of a combination in the part; the images it is made of are of the training part.
    Latents are found on the training part alone.
    """
    codes = CodeSample(
        known, model.encode_rows(known, data), data.factors(known), None, model.code_prior
    )
    finder = Finder(model, codes)
    found: dict[str, dict[str, dict[str, float]]] = {}
    trained = np.flatnonzero(~data.held_out) if data.held_out is not None else known
    is_trained = np.zeros(len(data), dtype=bool)
    is_trained[trained] = True
    for place, name in enumerate(data.factor_names):
        try:
            target = finder.find(name)
        except ConfigError:
            continue  # no latent carries it; nothing can be taken
        for part, chosen in rows.items():
            wanted = data.factors(chosen)
            base = wanted.copy()
            base[:, place] = rng.permutation(data.factors(known)[:, place])[
                np.arange(len(base)) % len(known)
            ]
            first = data.find_rows(np.ascontiguousarray(base))
            givers = _givers(wanted[:, place], data.factors(known)[:, place], known, rng)
            usable = (first >= 0) & (givers >= 0) & (base[:, place] != wanted[:, place])
            usable &= is_trained[np.maximum(first, 0)]
            if usable.sum() < 5:
                continue
            dimensions = list(target.unit.dimensions)
            changed = model.encode_rows(first[usable], data)
            changed[:, dimensions] = model.encode_rows(givers[usable], data)[:, dimensions]
            truth = data.images(chosen[usable])
            found.setdefault(name, {})[part] = {
                "composed": squared_error(truth, model.decode(changed)),
                "left as it was": squared_error(truth, data.images(first[usable])),
                "decoded from itself": squared_error(truth, model.reconstruct(truth)),
                "images": float(usable.sum()),
            }
    return found


def _givers(
    wanted: np.ndarray, values: np.ndarray, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return for each value a row that has it, drawn at random; -1 where none has."""
    found = np.full(len(wanted), -1)
    for value in np.unique(wanted):
        having = rows[values == value]
        if len(having):
            places = np.flatnonzero(wanted == value)
            found[places] = rng.choice(having, size=len(places))
    return found


def _tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    header = ("", TRAINED, HELD_OUT)
    found = []
    if "nll" in numbers:
        pairs = [
            ("−log p(x|z), nats per image", "nll"),
            ("the same of the mean image", "nll_of_mean_image"),
            ("squared error of a pixel", "squared_error"),
            ("the same of the nearest image trained on", "squared_error_of_nearest"),
        ]
        lines = tuple(
            (words, *(f"{numbers[key][part]:.4g}" for part in (TRAINED, HELD_OUT)))
            for words, key in pairs
        )
        found.append(ResultTable("Reconstruction", header, lines))
    if numbers["r2"]:
        read: list[tuple[Any, ...]] = []
        for place, name in enumerate(numbers["r2"]["factors"]):
            for reader in ("code", "pixels"):
                values = (float(numbers["r2"][p][reader][place]) for p in (TRAINED, HELD_OUT))
                read.append((f"{name}, from {reader}", *values))
        title = "R² of factors, read by a regression fitted to the training part"
        found.append(ResultTable(title, header, tuple(read)))
    if numbers.get("composition"):
        words = ("composed", "left as it was", "decoded from itself")
        composed = [
            (name, part, *(f"{by[part][word]:.4g}" for word in words))
            for name, by in numbers["composition"].items()
            for part in by
        ]
        title = "Composition: squared error to the true image"
        found.append(ResultTable(title, ("factor taken", "result", *words), tuple(composed)))
    return tuple(found)


def _paragraph(model: Model, numbers: dict[str, Any]) -> str:
    told = f"{numbers['share_held_out']:.1%} of the combinations were held out of training."
    if "nll" in numbers:
        nll, mean = numbers["nll"], numbers["nll_of_mean_image"]
        error, nearest = numbers["squared_error"], numbers["squared_error_of_nearest"]
        told += (
            f" {model.name} needs {nll[HELD_OUT]:,.1f} nats for an image of these and "
            f"{nll[TRAINED]:,.1f} for one of the rest, {numbers['nll_ratio']:.2f} times as many; "
            f"the mean image {mean[HELD_OUT]:,.1f} and {mean[TRAINED]:,.1f}. Its squared error is "
            f"{error[HELD_OUT]:.4g} there; that of the nearest image trained on is "
            f"{nearest[HELD_OUT]:.4g}."
        )
    if numbers["r2"]:
        code = {p: float(np.mean(numbers["r2"][p]["code"])) for p in (TRAINED, HELD_OUT)}
        pixels = float(np.mean(numbers["r2"][HELD_OUT]["pixels"]))
        told += (
            f" Factors are read off its code with an R² of {code[HELD_OUT]:.3f} on what was held "
            f"out and {code[TRAINED]:.3f} on the rest; off pixels, {pixels:.3f} on the former."
        )
    return told


def _caveats(model: Model, numbers: dict[str, Any]) -> tuple[str, ...]:
    told = [
        "That a model recombines does not say that its code is disentangled, nor the other way "
        "round: the cited study finds no such relation.",
        "Reconstructing a new combination is less than imagining it: the encoder has seen the "
        "image. The composition task has not.",
    ]
    if not model.code.decodes:
        told.append(f"{model.name} has no decoder: its reconstructions could not be judged.")
    elif not numbers.get("composition"):
        told.append("No factor is carried by a latent: the composition task could not be tried.")
    return tuple(told)


def _picture(images: np.ndarray, decoded: np.ndarray) -> ImageGrid:
    return ImageGrid(
        np.stack([images[:SHOWN], decoded[:SHOWN]]),
        row_labels=["held out", "decoded"],
        title="combinations that training never showed",
    )


def _drawn(r2: dict[str, Any]) -> "Drawing | None":
    """Draw what an encoder alone is judged by: how well factors are read, on both parts."""
    if not r2:
        return None
    from unweave.figures.style import PALETTE, Drawing, styled

    @styled
    def bars() -> Drawing:
        names = r2["factors"]
        drawing = Drawing(figsize=(1.8 + 1.3 * len(names), 3.2), layout="constrained")
        axes = drawing.add_subplot()
        arms = [(part, of) for of in ("code", "pixels") for part in (TRAINED, HELD_OUT)]
        for place, (part, of) in enumerate(arms):
            values = np.maximum(r2[part][of], -1.0)
            where = np.arange(len(names)) + 0.2 * (place - 1.5)
            alpha = 0.45 if part == HELD_OUT else 1.0
            color = PALETTE[0] if of == "code" else PALETTE[1]
            axes.bar(where, values, width=0.18, color=color, alpha=alpha, label=f"{of}, {part}")
        axes.axhline(0, color="#606060", linewidth=0.8)
        axes.set_xticks(range(len(names)), names)
        axes.set_ylabel("R², -1 or less shown as -1")
        axes.grid(visible=False, axis="x")
        drawing.legend(loc="outside upper left", ncols=2)
        return drawing

    return bars()
