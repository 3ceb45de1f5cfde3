"""Arrays of the user's own images."""

from pathlib import Path
from typing import Any

from unweave.data._dataset import FactorImages
from unweave.data._options import DataOptions


def from_arrays(images: Any, factors: Any = None) -> FactorImages:
    raise NotImplementedError


def load_array_file(path: Path, options: DataOptions) -> FactorImages:
    raise NotImplementedError
