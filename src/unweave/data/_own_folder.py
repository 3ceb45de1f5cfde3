"""A folder of the user's own images."""

from pathlib import Path

from unweave.data._dataset import FactorImages
from unweave.data._options import DataOptions


def load_folder(path: Path, options: DataOptions) -> FactorImages:
    raise NotImplementedError
