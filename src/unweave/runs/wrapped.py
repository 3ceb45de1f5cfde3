"""A model of the user's own, wrapped to look like a run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data import FactorImages, load_data
from unweave.errors import ConfigError, DataError
from unweave.methods import Code, CodeSource, Part
from unweave.runs.folder import checked_latent_name
from unweave.runs.model import Model, in_parts
from unweave.tables import to_numpy

Function = Callable[..., Any]

DIMENSIONS = {"encode": 2, "posterior": 3, "decode": 4, "swap": 4}
"""How many axes an ability's result has."""


class WrappedModel(Model):
    """Functions of the user's own and a data set, with the face of a run.

    Images are float32 (row, channel, height, width) in [0, 1], codes (row, code);
    arrays and torch tensors may be returned.
    """

    def __init__(
        self,
        encode: Function | None,
        data: FactorImages,
        *,
        decode: Function | None = None,
        posterior: Function | None = None,
        prior: Callable[[int, int], Any] | None = None,
        swap: Function | None = None,
        name: str = "model",
        latent_names: dict[int, str] | None = None,
        parts: Sequence[Part] | None = None,
    ):
        given = {"encode": encode, "decode": decode, "posterior": posterior, "swap": swap}
        self._functions = {ability: found for ability, found in given.items() if found is not None}
        if encode is None and (decode is None or (prior is None and parts is None)):
            raise ConfigError(
                f"{name}: without encode, give decode and the prior its codes are drawn from"
            )
        self._prior = prior
        self._name, self._data = name, data
        self.image_shape = data.image_shape
        self.step = 0
        self._scores: dict[str, Any] = {}
        self._latent_names = {i: checked_latent_name(n) for i, n in (latent_names or {}).items()}
        source: CodeSource = "images" if encode is not None else "nowhere"
        abilities = {"decodes": decode is not None, "swaps": swap is not None}
        if parts is None:
            size = self._code_size(encode is not None)
            parts = [Part(size)] if size else []
        self._code = Code(tuple(parts), source, **abilities)
        if encode is not None and (size := self._code_size(True)) != self._code.size:
            raise ConfigError(f"{name}: parts of {self._code.size} dimensions for codes of {size}")

    def _code_size(self, has_encoder: bool) -> int:
        if has_encoder:
            return int(self.compute("encode", self._data.images([0])).shape[1])
        assert self._prior is not None
        return int(_as_array(self._prior(1, 0)).shape[1])

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
        if ability == "posterior" and ability not in self._functions:
            return None
        if ability == "draw_codes":
            return self._drawn(arrays[0], seed or 0)
        if ability == "draw_images":  # what such a model draws besides its codes is not known
            ability = "decode"
        function = self._functions.get(ability)
        if function is None:
            raise ConfigError(f"{self.name} was wrapped without {ability}")
        results = []
        for parts in zip(*(in_parts(array) for array in arrays), strict=True):
            given = function(*parts)
            result = _stacked(given) if ability == "posterior" else _as_array(given)
            self._check(ability, result, len(parts[0]))
            results.append(np.clip(result, 0, 1) if DIMENSIONS[ability] == 4 else result)
        return np.concatenate(results)

    def _check(self, ability: str, result: np.ndarray, rows: int) -> None:
        dimensions = DIMENSIONS[ability]
        if result.ndim != dimensions or len(result) != rows:
            raise DataError(
                f"{ability} of {rows} rows must return {rows} rows in {dimensions} "
                f"dimensions, found shape {result.shape}"
            )
        if dimensions == 4 and result.shape[1:] != self.image_shape:
            raise DataError(
                f"{ability} of {self.name}: expected images of shape {self.image_shape}, "
                f"found {result.shape[1:]}"
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
            return _as_array(self._prior(count, seed))
        rng = np.random.default_rng(seed)
        return rng.standard_normal((count, self.latent_dim)).astype(np.float32)


def wrap(
    encode: Function | None,
    data: str | Path | FactorImages,
    *,
    decode: Function | None = None,
    posterior: Function | None = None,
    prior: Callable[[int, int], Any] | None = None,
    swap: Function | None = None,
    name: str = "model",
    latent_names: dict[int, str] | None = None,
    parts: Sequence[Part] | None = None,
) -> WrappedModel:
    """Wrap functions of your own, so that figures can be drawn of them as of a run.

    `posterior` returns means and log-variances; `prior(count, seed)` returns codes;
    `swap(content_images, style_images)` pairs row with row. `parts` says what the dimensions
    are, where they are not just numbers. A generator has no encode: give None.
    """
    opened = data if isinstance(data, FactorImages) else load_data(data)
    return WrappedModel(
        encode,
        opened,
        decode=decode,
        posterior=posterior,
        prior=prior,
        swap=swap,
        name=name,
        latent_names=latent_names,
        parts=parts,
    )


def wrap_object(model: Any, data: FactorImages, name: str) -> WrappedModel:
    """Wrap an object by its methods encode, decode, posterior, prior and swap; a function encodes.

    Only encode must be there, or decode and prior.
    """
    optional = {
        part: found
        for part in ("decode", "posterior", "prior", "swap")
        if callable(found := getattr(model, part, None))
    }
    encode = getattr(model, "encode", None if {"decode", "prior"} <= set(optional) else model)
    if encode is not None and not callable(encode):
        raise ConfigError(f"{name} has no method encode and is no function from images to codes")
    return WrappedModel(encode, data, name=name, **optional)


def _stacked(mean_and_logvar: Any) -> np.ndarray:
    mean, logvar = mean_and_logvar
    return np.stack([_as_array(mean), _as_array(logvar)], axis=1)


def _as_array(result: Any) -> np.ndarray:
    return to_numpy(result).astype(np.float32, copy=False)
