"""A model of the user's own, wrapped to look like a run."""

import inspect
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data import FactorImages, load_data
from unweave.errors import ConfigError, DataError
from unweave.methods import Code, CodeSource, Part
from unweave.runs.folder import checked_latent_name
from unweave.runs.given import FEW, Form, given_function, is_module, same_numbers
from unweave.runs.model import Model, in_parts
from unweave.runs.own_weights import load_weights
from unweave.runs.returned import (
    Returned,
    as_floats,
    checked_finite,
    describe,
    is_array,
    read_returned,
)

Function = Callable[..., Any]
log = logging.getLogger(__name__)

DIMENSIONS = {"encode": 2, "posterior": 3, "decode": 4, "swap": 4}
"""How many axes an ability's result has."""


class WrappedModel(Model):
    """A model of the user's own and a data set, with the face of a run.

    Images are float32 (row, channel, height, width) in [0, 1], codes (row, code). `given.py`
    says what may encode, `returned.py` what it may return.
    """

    def __init__(
        self,
        encode: Any,
        data: FactorImages,
        *,
        decode: Any = None,
        posterior: Any = None,
        prior: Callable[[int, int], Any] | None = None,
        swap: Any = None,
        name: str = "model",
        latent_names: dict[int, str] | None = None,
        parts: Sequence[Part] | None = None,
        takes: Form | None = None,
    ):
        if takes not in (None, "arrays", "tensors"):
            raise ConfigError(f'takes: expected "arrays" or "tensors", found {takes!r}')
        self._name, self._data = name, data
        self.image_shape = data.image_shape
        given = {"encode": encode, "decode": decode, "posterior": posterior, "swap": swap}
        self._functions = {
            ability: given_function(found, self._called(ability), self._reader(ability), takes)
            for ability, found in given.items()
            if found is not None
        }
        if encode is None and (decode is None or (prior is None and parts is None)):
            raise ConfigError(
                f"{name}: without encode, give decode and the prior its codes are drawn from"
            )
        self._prior = prior
        self.step = 0
        self._scores: dict[str, Any] = {}
        self.taken = ""
        """What of what encode returns its codes are."""
        self.notes: tuple[str, ...] = ()
        """What a reader of its scores must know."""
        self._gaussian = posterior is not None
        self._latent_names = {i: checked_latent_name(n) for i, n in (latent_names or {}).items()}
        source: CodeSource = "images" if encode is not None else "nowhere"
        abilities = {"decodes": decode is not None, "swaps": swap is not None}
        size = None
        if encode is not None:
            size = self._try_encoder()
        elif parts is None:
            assert prior is not None
            size = int(as_floats(prior(1, 0), self._called("prior")).shape[1])
        if parts is None:
            parts = [Part(size)] if size else []
        self._code = Code(tuple(parts), source, **abilities)
        if size is not None and size != self._code.size:
            raise ConfigError(f"{name}: parts of {self._code.size} dimensions for codes of {size}")

    def _called(self, ability: str) -> str:
        return self._name if ability == "encode" else f"{ability} of {self._name}"

    def _try_encoder(self) -> int:
        """Encode a few images, again, and fewer of them: the codes of an image must stay."""
        rows = np.unique(np.linspace(0, len(self._data) - 1, FEW).astype(np.int64))
        images = self._data.images(rows)
        first = self._encoded(images)
        self.taken = first.found
        self._gaussian = self._gaussian or first.logvar is not None
        if not same_numbers(first.arrays(), self._encoded(images).arrays()):
            self.notes = (
                "codes of the same images change from call to call: the model draws at random "
                "(dropout, sampling)",
            )
        elif len(rows) > 1:
            fewer = self._encoded(images[:-1])
            if not same_numbers([array[:-1] for array in first.arrays()], fewer.arrays()):
                self.notes = (
                    "codes of an image change with the other images of its batch: is a network "
                    "in training mode?",
                )
        for note in self.notes:
            log.warning("%s: %s", self._name, note)
        return int(first.codes.shape[1])

    def _encoded(self, images: np.ndarray) -> Returned:
        who = self._called("encode")
        found = read_returned(self._functions["encode"](images), len(images), who)
        return checked_finite(found, who)

    def _reader(self, ability: str) -> Callable[[Any, int], list[np.ndarray]]:
        def read(result: Any, rows: int) -> list[np.ndarray]:
            who = self._called(ability)
            if DIMENSIONS[ability] < 4:
                return read_returned(result, rows, who).arrays()
            if not is_array(result) or len(result.shape) != 4 or len(result) != rows:
                raise DataError(
                    f"{who} returned {describe(result)} for {rows} rows; expected images "
                    f"({rows}, {', '.join(map(str, self.image_shape))})"
                )
            return [as_floats(result, who)]

        return read

    @property
    def name(self) -> str:
        return self._name

    @property
    def data(self) -> FactorImages:
        return self._data

    @property
    def code(self) -> Code:
        return self._code

    @property
    def latent_names(self) -> dict[int, str]:
        return dict(self._latent_names)

    @property
    def scores(self) -> dict[str, Any]:
        return self._scores

    def keep_scores(self, scores: dict[str, Any]) -> None:
        """Keep scores by metric, as JSON can hold them, for reports and heat maps."""
        self._scores = dict(scores)

    def __repr__(self) -> str:
        return f"<wrapped model {self.name} on {self.data.name}: codes of {self.latent_dim}>"

    def compute(self, ability: str, *arrays: np.ndarray, seed: int | None = None) -> Any:
        if ability == "posterior" and not self._gaussian:
            return None
        if ability == "draw_codes":
            return self._drawn(arrays[0], seed or 0)
        if ability == "draw_images":  # what such a model draws besides its codes is not known
            ability = "decode"
        used = "encode" if ability == "posterior" and ability not in self._functions else ability
        function = self._functions.get(used)
        if function is None:
            raise ConfigError(f"{self.name} was wrapped without {ability}")
        results = []
        for parts in zip(*(in_parts(array) for array in arrays), strict=True):
            returned, rows = function(*parts), len(parts[0])
            if DIMENSIONS[ability] == 4:
                images = self._reader(ability)(returned, rows)[0]
                self._check_images(ability, images)
                results.append(np.clip(images, 0, 1))
            else:
                results.append(self._table(ability, returned, rows))
        return np.concatenate(results)

    def _table(self, ability: str, returned: Any, rows: int) -> np.ndarray:
        who = self._called(ability)
        found = checked_finite(read_returned(returned, rows, who), who)
        if ability == "encode":
            return found.codes
        if found.logvar is None:
            raise DataError(
                f"{who} returned {describe(returned)} for {rows} images; "
                "expected a pair (mean, logvar) of tables (row, code)"
            )
        return np.stack([found.codes, found.logvar], axis=1)

    def _check_images(self, ability: str, images: np.ndarray) -> None:
        if images.shape[1:] != self.image_shape:
            raise DataError(
                f"{ability} of {self.name}: expected images of shape {self.image_shape}, "
                f"found {images.shape[1:]}"
            )

    def _drawn(self, images: np.ndarray, seed: int) -> np.ndarray:
        found = self.compute("posterior", images)
        if found is None:
            codes: np.ndarray = self.compute("encode", images)
            return codes
        noise = np.random.default_rng(seed).standard_normal(found[:, 0].shape)
        return (found[:, 0] + np.exp(0.5 * found[:, 1]) * noise).astype(np.float32)

    def encode_rows(self, rows: np.ndarray, data: FactorImages | None = None) -> np.ndarray:
        data = data or self.data
        return np.concatenate([self.encode(data.images(part)) for part in in_parts(rows)])

    def prior_codes(self, count: int, seed: int = 0) -> np.ndarray:
        """Return codes drawn from the prior; standard normal unless one was given."""
        if self._prior is not None:
            return as_floats(self._prior(count, seed), self._called("prior"))
        rng = np.random.default_rng(seed)
        return rng.standard_normal((count, self.latent_dim)).astype(np.float32)


def wrap(
    encode: Any,
    data: str | Path | FactorImages,
    *,
    decode: Any = None,
    posterior: Any = None,
    prior: Callable[[int, int], Any] | None = None,
    swap: Any = None,
    name: str = "model",
    latent_names: dict[int, str] | None = None,
    parts: Sequence[Part] | None = None,
    takes: Form | None = None,
    checkpoint: str | Path | None = None,
) -> WrappedModel:
    """Wrap a model of your own, so that it can be scored, drawn and reported as a run is.

    `encode` is a network of torch, a function of arrays or of tensors (`takes` says which, where
    trying both cannot tell), an object with encode, a scikit-learn transformer, or the path of
    an ONNX file. It returns codes, or (mean, logvar), which is a posterior. `checkpoint` holds
    the weights of a network. `posterior` returns means and log-variances; `prior(count, seed)`
    returns codes; `swap(content_images, style_images)` pairs row with row. `parts` says what
    the dimensions are, where they are not just numbers. A generator has no encode: give None.
    """
    opened = data if isinstance(data, FactorImages) else load_data(data)
    found = _abilities(encode) if encode is not None else {}
    if checkpoint is not None:
        if not is_module(encode):
            raise ConfigError(f"{name}: a checkpoint is of a network, not of {describe(encode)}")
        load_weights(encode, checkpoint)
    stated = {"decode": decode, "posterior": posterior, "prior": prior, "swap": swap}
    found |= {ability: function for ability, function in stated.items() if function is not None}
    return WrappedModel(
        found.pop("encode", None),
        opened,
        **found,
        name=name,
        latent_names=latent_names,
        parts=parts,
        takes=takes,
    )


def wrap_object(
    model: Any,
    data: FactorImages,
    name: str,
    *,
    takes: Form | None = None,
    checkpoint: str | Path | None = None,
) -> WrappedModel:
    """Wrap what a name stands for: a model, or a class or function without arguments making one.

    Of an object, encode must be there, or decode and prior.
    """
    if inspect.isclass(model) or (inspect.isfunction(model) and _takes_nothing(model)):
        try:
            model = model()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"{name} cannot be made without arguments: {reason}") from error
    return wrap(model, data, name=name, takes=takes, checkpoint=checkpoint)


def _abilities(model: Any) -> dict[str, Any]:
    """Return what of a model encodes, decodes and so on; by itself it encodes."""
    if is_module(model):
        # Parts of networks are often called prior; only what is written as a method counts.
        found = {
            ability: method
            for ability in ("decode", "posterior", "prior", "swap")
            if inspect.ismethod(method := getattr(model, ability, None))
        }
        return {"encode": model, **(found if hasattr(model, "encode") else {})}
    found = {
        ability: function
        for ability in ("decode", "posterior", "prior", "swap")
        if callable(function := getattr(model, ability, None))
    }
    if isinstance(model, str | Path):
        return {"encode": model}
    if not hasattr(model, "encode") and {"decode", "prior"} <= set(found):
        return found
    return {"encode": getattr(model, "encode", model), **found}


def _takes_nothing(function: Callable[..., Any]) -> bool:
    return not inspect.signature(function).parameters
