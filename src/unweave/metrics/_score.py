"""What a metric returns: a number, what it was made of, and under which protocol."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unweave.errors import DataError


@dataclass(frozen=True)
class Score:
    """One metric's result. `details` holds named arrays and numbers, all finite."""

    metric: str
    value: float
    protocol: str
    details: dict[str, Any] = field(default_factory=dict)
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        if not math.isfinite(self.value):
            raise DataError(f"{self.metric} is {self.value} for these tables, so it has no score.")
        for name, detail in self.details.items():
            if isinstance(detail, float | np.ndarray) and not _all_finite(detail):
                raise DataError(f"{self.metric}: {name} is not finite for these tables.")

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        direction = "" if self.higher_is_better else ", lower is better"
        lines = [f"{self.metric} {self.value:.4f} (protocol {self.protocol}{direction})"]
        for name, detail in self.details.items():
            lines.append(f"  {name}: {_in_words(detail)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary of plain numbers, lists and words."""
        return {
            "metric": self.metric,
            "value": self.value,
            "protocol": self.protocol,
            "higher_is_better": self.higher_is_better,
            "details": {name: _plain(detail) for name, detail in self.details.items()},
        }


def _all_finite(detail: Any) -> bool:
    array = np.asarray(detail)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _plain(detail: Any) -> Any:
    if isinstance(detail, np.ndarray | np.generic):
        return detail.tolist()
    if isinstance(detail, dict):
        return {str(name): _plain(value) for name, value in detail.items()}
    if isinstance(detail, list | tuple):
        return [_plain(value) for value in detail]
    return detail


def _in_words(detail: Any) -> str:
    if isinstance(detail, float | np.floating):
        return f"{detail:.4f}"
    if isinstance(detail, np.ndarray):
        if detail.ndim == 1 and detail.size <= 12:
            return np.array2string(detail, precision=3, suppress_small=True)
        return "array " + " × ".join(str(size) for size in detail.shape)
    if isinstance(detail, tuple):
        return ", ".join(str(entry) for entry in detail)
    return str(detail)
