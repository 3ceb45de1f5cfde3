"""MNIST: handwritten digits, 70,000 grey images of 28×28; the class is the digit.

Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, 1998. The original is a folder of
four IDX files, train-images-idx3-ubyte and so on, as they are or with .gz.
"""

from pathlib import Path

from unweave.data._dataset import Factor, FactorImages
from unweave.data._idx_files import load_idx_set
from unweave.data._options import DataOptions

DIGIT = Factor("digit", 10, tuple("0123456789"), categorical=True)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read a folder with the original files: 60,000 rows to train on, then 10,000 to test."""
    return load_idx_set("mnist", path, DIGIT, options)
