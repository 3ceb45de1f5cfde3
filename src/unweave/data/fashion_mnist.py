"""Fashion-MNIST: articles of clothing, 70,000 grey images of 28×28, in ten classes.

H. Xiao, K. Rasul and R. Vollgraf, 2017, arXiv:1708.07747. The original is a
folder of four IDX files named like those of MNIST.
"""

from pathlib import Path

from unweave.data._dataset import Factor, FactorImages
from unweave.data._idx_files import load_idx_set
from unweave.data._options import DataOptions

ARTICLES = (
    *("T-shirt or top", "trousers", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
ARTICLE = Factor("article", 10, ARTICLES, categorical=True)


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read a folder with the original files: 60,000 rows to train on, then 10,000 to test."""
    return load_idx_set("fashion_mnist", path, ARTICLE, options)
