"""What can be looked at: a run, or a model of the user's wrapped to look like one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unweave.code_prior import GAUSSIAN, CodePrior
from unweave.data import FactorImages, load_data
from unweave.errors import ConfigError, DataError
from unweave.runs.folder import checked_latent_name

CHUNK = 128  # images given to a user's function at once


class Model(Protocol):
    """The part of a run that views need; `Run` and `WrappedModel` have it."""

    @property
    def name(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def data(self) -> FactorImages: ...
    @property
    def image_shape(self) -> tuple[int, int, int]: ...
    @property
    def latent_dim(self) -> int: ...
    @property
    def latent_names(self) -> dict[int, str]: ...
    @property
    def scores(self) -> dict[str, Any]: ...
    @property
    def has_encoder(self) -> bool: ...
    @property
    def has_decoder(self) -> bool: ...
    @property
    def has_swap(self) -> bool: ...
    @property
    def kl_limit(self) -> float | None: ...
    @property
    def code_prior(self) -> CodePrior: ...
    def encode(self, images: Any) -> np.ndarray: ...
    def encode_rows(self, rows: np.ndarray, data: FactorImages | None = None) -> np.ndarray: ...
    def posterior(self, images: Any) -> tuple[np.ndarray, np.ndarray] | None: ...
    def decode(self, codes: Any) -> np.ndarray: ...
    def prior_codes(self, count: int, seed: int = 0) -> np.ndarray: ...
    def swap(self, content_images: Any, style_images: Any) -> np.ndarray: ...


class WrappedModel:
    """Functions of the user's own and a data set, with the face of a run.

    Images are float32 (row, channel, height, width) in [0, 1], codes (row, code);
    arrays and torch tensors may be returned.
    """

    def __init__(
        self,
        encode: Callable[[np.ndarray], Any],
        data: FactorImages,
        *,
        decode: Callable[[np.ndarray], Any] | None = None,
        posterior: Callable[[np.ndarray], tuple[Any, Any]] | None = None,
        prior: Callable[[int, int], Any] | None = None,
        swap: Callable[[np.ndarray, np.ndarray], Any] | None = None,
        name: str = "model",
        latent_names: dict[int, str] | None = None,
    ):
        self._encode, self._decode, self._posterior = encode, decode, posterior
        self._prior, self._swap = prior, swap
        self.name = name
        self.data = data
        self.image_shape = data.image_shape
        self.step = 0
        self.scores: dict[str, Any] = {}
        self.kl_limit: float | None = None
        self.code_prior = GAUSSIAN
        self.latent_names = {i: checked_latent_name(n) for i, n in (latent_names or {}).items()}
        self.latent_dim = self.encode(data.images([0])).shape[1]
        self.has_encoder = True
        self.has_decoder = decode is not None
        self.has_swap = swap is not None

    def __repr__(self) -> str:
        return f"<wrapped model {self.name} on {self.data.name}: codes of {self.latent_dim}>"

    def encode(self, images: Any) -> np.ndarray:
        """Return the codes of images: float32 (row, code)."""
        return _in_parts(self._encode, "encode", 2, np.asarray(images, dtype=np.float32))

    def encode_rows(self, rows: np.ndarray, data: FactorImages | None = None) -> np.ndarray:
        """Return the codes of rows of the data set."""
        data = data or self.data
        parts = [rows[i : i + CHUNK] for i in range(0, len(rows), CHUNK)]
        return np.concatenate([self.encode(data.images(part)) for part in parts])

    def posterior(self, images: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Return mean and log-variance of q(z|x), or None if the model has none."""
        if self._posterior is None:
            return None
        function = self._posterior

        def both(part: np.ndarray) -> np.ndarray:
            mean, logvar = function(part)
            return np.stack([_as_array(mean), _as_array(logvar)], axis=1)

        stacked = _in_parts(both, "posterior", 3, np.asarray(images, dtype=np.float32))
        return stacked[:, 0], stacked[:, 1]

    def decode(self, codes: Any) -> np.ndarray:
        """Return the images of codes: float32 (row, channel, height, width) in [0, 1]."""
        if self._decode is None:
            raise ConfigError(f"{self.name} was wrapped without decode: it makes no images")
        images = _in_parts(self._decode, "decode", 4, np.asarray(codes, dtype=np.float32))
        if images.shape[1:] != self.image_shape:
            raise DataError(
                f"decode of {self.name}: expected images of shape {self.image_shape}, "
                f"found {images.shape[1:]}"
            )
        return np.clip(images, 0, 1)

    def prior_codes(self, count: int, seed: int = 0) -> np.ndarray:
        """Return codes drawn from the prior; standard normal unless one was given."""
        if self._prior is not None:
            return _as_array(self._prior(count, seed))
        rng = np.random.default_rng(seed)
        return rng.standard_normal((count, self.latent_dim)).astype(np.float32)

    def swap(self, content_images: Any, style_images: Any) -> np.ndarray:
        """Return images with the content of each row and the style of the same row of another."""
        if self._swap is None:
            raise ConfigError(f"{self.name} was wrapped without swap")
        images = [np.asarray(part, dtype=np.float32) for part in (content_images, style_images)]
        return np.clip(_as_array(self._swap(*images)), 0, 1)


def wrap(
    encode: Callable[[np.ndarray], Any],
    data: str | Path | FactorImages,
    *,
    decode: Callable[[np.ndarray], Any] | None = None,
    posterior: Callable[[np.ndarray], tuple[Any, Any]] | None = None,
    prior: Callable[[int, int], Any] | None = None,
    swap: Callable[[np.ndarray, np.ndarray], Any] | None = None,
    name: str = "model",
    latent_names: dict[int, str] | None = None,
) -> WrappedModel:
    """Wrap functions of your own, so that figures can be drawn of them as of a run.

    `posterior` returns means and log-variances; `prior(count, seed)` returns codes;
    `swap(content_images, style_images)` pairs row with row.
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
    )


def wrap_object(model: Any, data: FactorImages, name: str) -> WrappedModel:
    """Wrap an object by its methods encode, decode, posterior, prior and swap; a function encodes.

    Only encode must be there.
    """
    encode = getattr(model, "encode", model)
    if not callable(encode):
        raise ConfigError(f"{name} has no method encode and is no function from images to codes")
    optional = {
        part: found
        for part in ("decode", "posterior", "prior", "swap")
        if callable(found := getattr(model, part, None))
    }
    return WrappedModel(encode, data, name=name, **optional)


def latent_labels(model: Model) -> list[str]:
    """Return what to write beside each latent: z3, or z3 and the name it was given."""
    names = model.latent_names
    return [f"z{i} {names[i]}" if i in names else f"z{i}" for i in range(model.latent_dim)]


def _as_array(result: Any) -> np.ndarray:
    if hasattr(result, "detach"):  # a torch tensor
        result = result.detach().cpu()
    return np.asarray(result, dtype=np.float32)


def _in_parts(
    function: Callable[[np.ndarray], Any], what: str, dimensions: int, array: np.ndarray
) -> np.ndarray:
    results = []
    for start in range(0, max(len(array), 1), CHUNK):
        part = array[start : start + CHUNK]
        result = _as_array(function(part))
        if result.ndim != dimensions or len(result) != len(part):
            raise DataError(
                f"{what} of {len(part)} rows must return {len(part)} rows in {dimensions} "
                f"dimensions, found shape {result.shape}"
            )
        results.append(result)
    return np.concatenate(results)
