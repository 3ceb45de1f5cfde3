"""segments: points of 5 numbers whose sources change their scale by segment, 40,000 rows.

The synthetic data of nonlinear ICA of I. Khemakhem et al., arXiv:1907.04809: 40 segments
of 1,000 points, 5 independent Gaussian sources of mean 0 whose standard deviation in each
segment is drawn from 0.5 to 3, mixed by three layers. The factors are the sources; the
column `segment` is beside them. Points are images of 1×1×5, each number scaled to [0, 1]
by its least and largest value in the set.

Chosen here: the layers are rotations, with a leaky ReLU of slope 0.4 between them. With a
smaller slope it depends on the seed whether iVAE finds the sources in a few minutes.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import Column, Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import takes_no_file
from unweave.data._pixels import FloatPixels

SEGMENTS, POINTS, SOURCES = 40, 1000, 5
LEAST_DEVIATION, LARGEST_DEVIATION = 0.5, 3.0
LAYERS, SLOPE = 3, 0.4
FACTORS = tuple(Factor(f"source_{i}", 0) for i in range(SOURCES))


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the set; always the same."""
    takes_no_file("segments", path)
    return draw(SLOPE)


def draw(slope: float) -> FactorImages:
    """Draw the set with another slope: the smaller, the less a linear method can undo."""
    rng = np.random.default_rng(0)
    size = (SEGMENTS, 1, SOURCES)
    deviations = rng.uniform(LEAST_DEVIATION, LARGEST_DEVIATION, size)
    sources = (deviations * rng.standard_normal((SEGMENTS, POINTS, SOURCES))).reshape(-1, SOURCES)
    mixed = sources
    for layer in range(LAYERS):
        if layer:
            mixed = np.where(mixed > 0, mixed, slope * mixed)
        rotation, _ = np.linalg.qr(rng.standard_normal((SOURCES, SOURCES)))
        mixed = mixed @ rotation
    least, largest = mixed.min(axis=0), mixed.max(axis=0)
    points = ((mixed - least) / (largest - least)).astype(np.float32)
    segment = Column(Factor("segment", SEGMENTS), np.repeat(np.arange(SEGMENTS), POINTS))
    return FactorImages(
        "segments", FloatPixels(points[:, None, None]), FACTORS, sources, columns=[segment]
    )
