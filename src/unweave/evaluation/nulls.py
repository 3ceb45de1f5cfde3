"""What a score would be if codes were not aligned with factors, or knew nothing of them.

A score of many codes can be high without any alignment: of 512 random mixtures of five
factors some follow one factor by chance. Two nulls stand beside a value:

- `rotated`: the same codes, standardised and turned by a random rotation. They know as much
  of the factors, linearly, but along directions that nobody chose. A value that is not
  above it says nothing about the axes of a representation.
- `shuffled`: the same codes with factors of other rows. A value that is not above it says
  nothing about the factors.
"""

import numpy as np
from numpy.typing import NDArray

from unweave.tables import FactorTable, standardize

ROTATED, SHUFFLED = "rotated", "shuffled"


def rotated(codes: NDArray[np.floating], draw: int) -> NDArray[np.float64]:
    """Standardise codes and turn them by a rotation drawn at random; constant codes stay."""
    rng = np.random.default_rng((11, draw))
    table = standardize(codes)
    turning = np.flatnonzero(table.any(axis=0))
    normal = rng.standard_normal((len(turning), len(turning)))
    axes, triangle = np.linalg.qr(normal)
    # With the signs of the diagonal no direction is preferred.
    table[:, turning] = table[:, turning] @ (axes * np.sign(np.diag(triangle)))
    return table


def shuffled(factors: FactorTable, draw: int) -> FactorTable:
    """Give rows the factors of other rows; factors stay together."""
    return factors.rows(np.random.default_rng((12, draw)).permutation(len(factors)))
