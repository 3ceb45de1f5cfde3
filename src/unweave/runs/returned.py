"""What a model of the user's own returned, read as codes or as a Gaussian posterior.

Nothing is imported to know it by: an object of a Hugging Face model is known by its
`pooler_output`, a distribution by its `mean` and `variance`. What could mean two things
is refused in one line that says what was found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import DataError
from unweave.tables import to_numpy

EXPECTED = "expected codes (row, code), or a pair (mean, logvar) of such tables"
MEANS = ("mean", "mu", "loc", "z_mean", "means")
LOG_VARIANCES = ("logvar", "log_var", "z_logvar", "z_log_var", "logvars")
POOLED = ("pooler_output", "image_embeds")
TOKENS = "last_hidden_state"
NAMED_CODES = ("codes", "code", "z", "latents", "latent", "embeddings", "embedding", "features")


@dataclass(frozen=True)
class Returned:
    """Codes of images, and log-variances where they are means of a Gaussian."""

    codes: np.ndarray
    """float32 (row, code)."""
    logvar: np.ndarray | None = None
    found: str = "a table"
    """What was taken of what the model returned."""

    def arrays(self) -> list[np.ndarray]:
        """Return codes, and log-variances if there are any."""
        return [self.codes] if self.logvar is None else [self.codes, self.logvar]


def read_returned(result: Any, rows: int, who: str) -> Returned:
    """Return the codes in what `who` returned for so many images, or say why there are none."""
    found = _read(result, rows, who)
    if found is None:
        raise DataError(f"{who} returned {describe(result)} for {rows} images; {EXPECTED}")
    return found


def checked_finite(found: Returned, who: str) -> Returned:
    """Refuse numbers that are infinite or missing, and say whose they are."""
    for array, what in ((found.codes, "codes"), (found.logvar, "log-variances")):
        wrong = np.zeros(0) if array is None else np.argwhere(~np.isfinite(array))
        if array is None or not len(wrong):
            continue
        row, column = wrong[0].tolist()
        images = len(np.unique(wrong[:, 0]))
        raise DataError(
            f"{who} returned {array[row, column]} among its {what} (column {column}), for "
            f"{images:,} of {len(array):,} images; expected finite numbers"
        )
    return found


def _read(result: Any, rows: int, who: str) -> Returned | None:
    if is_array(result):
        array = as_floats(result, who)
        return Returned(array) if _is_table(array, rows) else None
    if _has(result, "mean") and _has(result, "variance"):  # a distribution of torch's
        mean, variance = as_floats(result.mean, who), as_floats(result.variance, who)
        if not (_is_table(mean, rows) and variance.shape == mean.shape and (variance > 0).all()):
            return None
        return Returned(mean, np.log(variance), "mean and variance of a distribution")
    if isinstance(result, Mapping) or any(_has(result, name) for name in (*POOLED, TOKENS)):
        return _read_named(result, rows, who)
    if isinstance(result, tuple | list) and all(is_array(part) for part in result):
        return _read_parts([as_floats(part, who) for part in result], rows)
    return None


def _read_named(result: Any, rows: int, who: str) -> Returned | None:
    if isinstance(result, Mapping):
        entries = {str(name): value for name, value in result.items() if is_array(value)}
    else:
        names = (*POOLED, TOKENS)
        entries = {n: getattr(result, n) for n in names if is_array(getattr(result, n, None))}
    arrays = {name: as_floats(value, who) for name, value in entries.items()}
    mean = next((arrays[name] for name in MEANS if name in arrays), None)
    logvar = next((arrays[name] for name in LOG_VARIANCES if name in arrays), None)
    if mean is not None and logvar is not None:
        return _read_parts([mean, logvar], rows)
    for name in POOLED:
        pooled = _without_ones(arrays[name]) if name in arrays else None
        if pooled is not None and _is_table(pooled, rows):
            return Returned(pooled, None, name)
    if TOKENS in arrays:
        return _read_tokens(arrays[TOKENS], rows)
    tables = {name: array for name, array in arrays.items() if _is_table(array, rows)}
    named = [name for name in NAMED_CODES if name in tables]
    chosen = list(tables) if len(tables) == 1 else named
    if len(chosen) != 1:
        return None
    return Returned(tables[chosen[0]], None, f"entry {chosen[0]!r}")


def _read_tokens(states: np.ndarray, rows: int) -> Returned | None:
    if _is_table(states, rows):
        return Returned(states, None, TOKENS)
    if states.ndim not in (3, 4) or len(states) != rows:
        return None
    # (row, token, code) of transformers, (row, code, height, width) of convolutions.
    axes = (1,) if states.ndim == 3 else (2, 3)
    places = int(np.prod([states.shape[axis] for axis in axes]))
    return Returned(states.mean(axis=axes), None, f"mean of {TOKENS} over {places} places")


def _read_parts(parts: list[np.ndarray], rows: int) -> Returned | None:
    """Read (mean, logvar), (image, mean, logvar), or the only table among several arrays."""
    tables = [part for part in parts if _is_table(part, rows)]
    if len(tables) == 2 and tables[0].shape == tables[1].shape:
        others = [part for part in parts if part.ndim != 2]
        if len(others) + 2 == len(parts):
            return Returned(tables[0], tables[1], "mean and log-variance")
    if len(tables) == 1:
        among = f" among {len(parts)} arrays" if len(parts) > 1 else ""
        return Returned(tables[0], None, f"the only table{among}")
    return None


def as_floats(value: Any, who: str) -> np.ndarray:
    """Return an array or tensor of any precision as float32."""
    if hasattr(value, "detach"):
        value = value.detach()
        if value.is_floating_point():
            value = value.float()  # numpy knows no bfloat16
    if hasattr(value, "toarray"):  # sparse tables of scikit-learn
        value = value.toarray()
    array = to_numpy(value)
    if array.dtype.kind not in "fiub":
        raise DataError(f"{who} returned numbers of type {array.dtype}; expected real numbers")
    return array.astype(np.float32, copy=False)


def is_array(value: Any) -> bool:
    """Say whether this is an array, a tensor, a frame or a sparse table."""
    has_shape = isinstance(getattr(value, "shape", None), tuple)
    return has_shape and (hasattr(value, "dtype") or hasattr(value, "to_numpy"))


def describe(result: Any) -> str:
    """Say in a few words what a value is: its type, shapes, names."""
    kind = type(result).__name__
    if is_array(result):
        return f"{kind} of shape {tuple(result.shape)}"
    if isinstance(result, Mapping):
        inside = ", ".join(f"{name}: {describe(value)}" for name, value in list(result.items())[:6])
        return f"{kind} ({inside})"
    if isinstance(result, tuple | list):
        inside = ", ".join(describe(value) for value in result[:4])
        more = ", …" if len(result) > 4 else ""
        return f"{kind} of {len(result)} ({inside}{more})"
    return kind


def _has(result: Any, name: str) -> bool:
    return is_array(getattr(result, name, None)) and not is_array(result)


def _is_table(array: np.ndarray, rows: int) -> bool:
    return array.ndim == 2 and len(array) == rows and array.shape[1] > 0


def _without_ones(array: np.ndarray) -> np.ndarray:
    """Drop trailing axes of length one, as pooled feature maps have them."""
    while array.ndim > 2 and array.shape[-1] == 1:
        array = array[..., 0]
    return array
