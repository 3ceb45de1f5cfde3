"""A transformer of scikit-learn: images or any table in, codes out, and back.

    codes = uw.Disentangler("beta_tcvae", image_shape=(64, 64), steps=5_000).fit_transform(X)

It stands in pipelines and searches as any other transformer does. What it trains is a run like
all others, `run_`, to look at or to keep: with `out` its folder stays.
"""

import tempfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from unweave import catalog, metrics
from unweave.data import FactorImages, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods import method_named
from unweave.networks import Architecture, architecture_named
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.settings.plain import from_plain
from unweave.training import loop

ROWS = 64
"""Rows computed together, always as many: a row's code then does not depend on its neighbours."""


class Disentangler(TransformerMixin, BaseEstimator):
    """Learn a code whose single dimensions each carry one factor of variation."""

    def __init__(
        self,
        method: str = "beta_tcvae",
        *,
        settings: Mapping[str, Any] | None = None,
        architecture: str | Architecture | None = None,
        image_shape: tuple[int, ...] | None = None,
        steps: int = 5_000,
        batch_size: int = 64,
        metric: str = "mig",
        random_state: Any = 0,
        out: str | Path | None = None,
        machine: Machine | None = None,
    ):
        """Take settings; nothing is looked at before `fit`.

        - `method`: name of a method, and `settings`: what it should not have its usual value in,
          such as `{"beta": 4, "latent_dim": 6}`;
        - `architecture`: encoder and decoder; the usual ones for images, linear layers for tables;
        - `image_shape`: (height, width) or (height, width, channel) of images whose pixels are
          the columns of X, each from 0 to 1. Images as an array of three axes or more need none;
          without it, columns are numbers of any scale, each brought to [0, 1];
        - `metric`: what `score` returns where factors are given;
        - `out`: a new folder in which the run stays.
        """
        self.method = method
        self.settings = settings
        self.architecture = architecture
        self.image_shape = image_shape
        self.steps = steps
        self.batch_size = batch_size
        self.metric = metric
        self.random_state = random_state
        self.out = out
        self.machine = machine

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train; `y` holds the factors or labels, (row[, factor]), for methods that use them."""
        shape = _shape_of(X) or self.image_shape
        table = validate_data(self, _flat(X), dtype=np.float32, ensure_min_samples=2)
        self.image_shape_ = _three_axes(shape, table.shape[1])
        self._learn_scale(table, is_image=shape is not None)
        images = self._images(table)
        data = from_arrays(images, None if y is None else _factors(y), channels="last")
        config = Train(
            method=from_plain(method_named(self.method), dict(self.settings or {}), "settings"),
            data=data.name,
            architecture=self._architecture(is_image=shape is not None),
            steps=self.steps,
            batch_size=self.batch_size,
            seed=self._seed(),
        )
        self.run_ = self._trained(config, data)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the codes, (row, dimension)."""
        images = self._checked(X)
        self.run_.code.require_codes(self.method)
        return _row_by_row(self.run_.encode, images)

    def inverse_transform(self, X: Any) -> NDArray[np.float32]:
        """Return what codes decode to, as the rows of a table like that which was fitted."""
        check_is_fitted(self, "run_")
        codes = check_array(X, dtype=np.float32)
        decoded = _row_by_row(self.run_.decode, codes)
        table = decoded.transpose(0, 2, 3, 1).reshape(len(codes), -1)
        return np.asarray(table * self.range_ + self.low_, dtype=np.float32)

    def score(self, X: Any, y: Any = None) -> float:
        """Return `metric` of the codes if factors are given, else the evidence bound in nats.

        Of a method without a bound it is the squared error of reconstructions, negative.
        """
        images = self._checked(X)
        if y is not None:
            catalog.check_name(self.metric, metrics.__all__, "metric")
            codes = _row_by_row(self.run_.encode, images)
            return float(getattr(metrics, self.metric)(codes, _factors(y)).value)
        chosen = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
        terms = self.run_.terms(chosen)
        if "elbo" in terms:
            return terms["elbo"]
        error = np.square(self.run_.reconstruct(chosen) - chosen).sum((1, 2, 3))
        return -float(error.mean())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return what the dimensions are called."""
        check_is_fitted(self, "run_")
        return np.array([f"z{i}" for i in range(self.run_.latent_dim)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _learn_scale(self, table: NDArray[np.float32], *, is_image: bool) -> None:
        if not is_image:
            self.low_ = table.min(axis=0)
            spread = table.max(axis=0) - self.low_
            self.range_ = np.where(spread > 0, spread, np.float32(1))
            return
        low, high = float(table.min()), float(table.max())
        if low < 0 or high > 1:
            raise DataError(
                f"X: expected pixels from 0 to 1, found values from {low:g} to {high:g}; divide "
                f"them by the value of white, or leave out image_shape if they are no pixels"
            )
        self.low_, self.range_ = np.zeros(1, np.float32), np.ones(1, np.float32)

    def _images(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows of a table as images, (row, height, width, channel)."""
        scaled = np.clip((table - self.low_) / self.range_, 0, 1)
        return np.asarray(scaled.reshape(len(table), *self.image_shape_), dtype=np.float32)

    def _checked(self, X: Any) -> NDArray[np.float32]:
        check_is_fitted(self, "run_")
        return self._images(validate_data(self, _flat(X), dtype=np.float32, reset=False))

    def _architecture(self, *, is_image: bool) -> Architecture | None:
        if isinstance(self.architecture, str):
            return architecture_named(self.architecture)()
        if self.architecture is None and not is_image:
            return MLP64(hidden=256, decoder_activation="relu")
        return self.architecture

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _trained(self, config: Train, data: FactorImages) -> Run:
        machine = self.machine or Machine(evaluations=0)
        if self.out is not None:
            return loop.start(config, data, Path(self.out), machine)
        with tempfile.TemporaryDirectory() as folder:
            run = loop.start(config, data, Path(folder) / "run", machine)
        # Without its folder, which is gone, and without the data, which the user has.
        return Run(run.config, run.summary, run.nets, step=run.step)


def _shape_of(X: Any) -> tuple[int, ...] | None:
    """Return the form of images that come as an array of three axes or more."""
    shape = getattr(X, "shape", ())
    return tuple(shape[1:]) if len(shape) > 2 else None


def _flat(X: Any) -> Any:
    """Return images as rows of a table; anything else as it is."""
    return np.asarray(X).reshape(len(X), -1) if _shape_of(X) else X


def _three_axes(shape: tuple[int, ...] | None, columns: int) -> tuple[int, ...]:
    """Return (height, width, channel) of images, or one pixel of many channels for a table."""
    if shape is None:
        return 1, 1, columns
    full = (*shape, 1) if len(shape) == 2 else tuple(shape)
    if len(full) != 3 or prod(full) != columns:
        raise ConfigError(
            f"image_shape: expected (height, width) or (height, width, channel) of {columns} "
            f"columns, found {shape}"
        )
    return full


def _factors(y: Any) -> Any:
    """Return factors as a table with one column for each; a data frame as it is."""
    if hasattr(y, "columns"):
        return y
    type_of_target(y, input_name="y", raise_unknown=True)  # objects that are no labels
    table = np.asarray(y)
    return table[:, None] if table.ndim == 1 else table


def _row_by_row(function: Any, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute rows in parts of one size, the last filled up with copies of its last row."""
    if rows.ndim == 4:
        rows = np.ascontiguousarray(rows.transpose(0, 3, 1, 2))
    padding = -len(rows) % ROWS
    padded = np.concatenate([rows, np.repeat(rows[-1:], padding, axis=0)])
    parts = [function(padded[i : i + ROWS]) for i in range(0, len(padded), ROWS)]
    return np.asarray(np.concatenate(parts)[: len(rows)], dtype=np.float32)
