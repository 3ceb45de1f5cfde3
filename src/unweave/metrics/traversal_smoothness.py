"""Smoothness and monotonicity: how an attribute of images changes along a traversal of a code.

K. Watcharasupat, "Controllable Music", 2021, and its library latte, arXiv:2112.10638. With
attribute a_t of the images along one code that moves in steps of δ, first differences
d_t = (a_{t+1} - a_t) / δ and second differences s_t = (d_{t+1} - d_t) / δ:

    smoothness   = 1 - C(|s|) / [(max d - min d) / δ],   C(x) = Σ x² / Σ x
    monotonicity = Σ sign(d) / #{t : |d_t| > 10⁻³}

The value is smoothness; C is the contraharmonic mean, which lies near the largest entry. An
attribute that changes at one rate has smoothness 1, one that jumps at a single step near 0, one
that rises all the way monotonicity 1 and one that falls -1. Traversals along which nothing moves
have no monotonicity and are left out of its mean.
"""

from typing import Any

import numpy as np

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._score import Made, Score
from unweave.tables import code_table

PROTOCOLS = {"watcharasupat2021": "contraharmonic mean, threshold 0.001"}
NEEDS = _protocol.TRAVERSALS
HIGHER_IS_BETTER = True
RANGE = "at most 1; monotonicity -1 to 1"

THRESHOLD = 1e-3


def traversal_smoothness(
    attributes: Any,
    *,
    step: float = 1.0,
    seed: int = 0,
    protocol: str = "watcharasupat2021",
) -> Score:
    """Score traversals, (traversal, place): the attribute of each image, read off or known.

    `step` is how far the code moves between two places. Nothing is drawn at random.
    """
    _protocol.choose(protocol, PROTOCOLS, "traversal_smoothness")
    table = code_table(attributes, "attributes").astype(np.float64)
    if table.shape[1] < 3 or step <= 0:
        raise DataError(
            f"traversals need at least 3 places and a step above 0; found {table.shape[1]}, {step}."
        )
    first = np.diff(table, axis=1) / step
    second = np.abs(np.diff(first, axis=1) / step)
    total = second.sum(axis=1)
    # Rounding of the attribute leaves traces where its rate does not change.
    bends = second.max(axis=1) > 1e-9 * np.abs(table).max() / step**2
    largest = (second**2).sum(axis=1) / np.where(bends, total, 1.0)
    span = np.ptp(first, axis=1) / step
    smoothness = np.where(bends, 1 - largest / np.where(bends, span, 1.0), 1.0)
    moving = np.abs(first) > THRESHOLD
    steps = moving.sum(axis=1)
    signs = (np.sign(first) * moving).sum(axis=1)
    monotonicity = signs[steps > 0] / steps[steps > 0]
    parts = {"smoothness": float(smoothness.mean())}
    if len(monotonicity):
        parts["monotonicity"] = float(monotonicity.mean())
    return Score(
        "traversal_smoothness",
        parts["smoothness"],
        protocol,
        {
            "smoothness_per_traversal": smoothness,
            "monotonicity_per_traversal": monotonicity,
            "traversals_that_move": int((steps > 0).sum()),
        },
        parts=parts,
        made=Made(len(table), table.shape[1], seed),
    )
