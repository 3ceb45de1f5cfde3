"""Block R²: is content in the block of content, and style in that of style?

J. von Kügelgen et al., NeurIPS 2021, arXiv:2106.04619, table of content and style. Blocks of codes
are taken as a whole: whether a block is identified does not depend on its axes. R² of each factor
is that of a kernel ridge regression from a block, on new rows. With the block that a factor
belongs to,

    value = mean over factors of R²(own block) - the largest R² of any other block

Where `content` does not name the factors of the first block, a factor belongs to the block that
tells most of it. Without `blocks` all codes are one, and the value is its mean R². Negative R²
count as 0. Class numbers are taken as amounts, as in the paper.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError
from unweave.metrics import _protocol
from unweave.metrics._groups import Groups, read_groups
from unweave.metrics._score import Score
from unweave.tables import Continuous, standardize

PROTOCOLS = {
    "vonkugelgen2021": "kernel ridge regression with Gaussian kernels, as in the paper",
    "linear": "least squares",
}
NEEDS = _protocol.CODES
HIGHER_IS_BETTER = True
RANGE = "-1 to 1"

PENALTIES = (1e-3, 1e-1, 1.0)
MOST_ROWS = 2_000
"""Rows that a kernel regression is fitted to: its cost grows with their cube."""


def block_r2(
    codes: Any,
    factors: Any,
    *,
    seed: int = 0,
    protocol: str = "vonkugelgen2021",
    blocks: Groups | None = None,
    content: Sequence[str] | None = None,
    train_rows: int = 10_000,
    test_rows: int = 5_000,
    continuous: Continuous = None,
) -> Score:
    """Score how well blocks of codes tell their own factors and no others.

    `content` names the factors that belong to the first block; others belong to the second.
    """
    _protocol.choose(protocol, PROTOCOLS, "block_r2")
    table, known = _protocol.read(codes, factors, continuous=continuous, metric="block_r2")
    members = [np.arange(table.shape[1])]
    if blocks is not None:
        members = read_groups(blocks, table.shape[1])
    rng = np.random.default_rng(seed)
    train, test = _protocol.split_rows(len(table), train_rows, test_rows, rng)
    if protocol == "vonkugelgen2021":
        train = train[:MOST_ROWS]
    inputs = standardize(table, table[train])
    targets = standardize(known.values, known.values[train])
    found = np.stack([_r2(inputs[:, part], targets, train, test, protocol) for part in members])
    own = _own_blocks(found, known.names, content)
    columns = np.arange(found.shape[1])
    held = found[own, columns]
    rest = found.copy()
    rest[own, columns] = 0.0
    leaked = rest.max(axis=0)
    return Score(
        "block_r2",
        float((held - leaked).mean()),
        protocol,
        {**_protocol.named(known), "r2": found, "own_block": own},
        parts={"own block": float(held.mean()), "other blocks": float(leaked.mean())},
        notes=known.notes,
        made=_protocol.made(
            table, known, seed=seed, standardized=True, train_rows=len(train), test_rows=len(test)
        ),
    )


def _own_blocks(
    r2: NDArray[np.float64], names: tuple[str, ...], content: Sequence[str] | None
) -> NDArray[np.int64]:
    if content is None:
        return np.asarray(r2.argmax(axis=0))
    unknown = [name for name in content if name not in names]
    if unknown or len(r2) != 2:
        raise DataError(
            f"content names factors of the first of 2 blocks; found {len(r2)} blocks"
            + (f" and no factor {unknown[0]!r}." if unknown else ".")
        )
    return np.where(np.isin(names, tuple(content)), 0, 1)


def _r2(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    protocol: str,
) -> NDArray[np.float64]:
    """Return the share of each factor's variance that a block explains on new rows."""
    if protocol == "linear":
        ones = np.ones((len(x), 1))
        inputs = np.concatenate([x, ones], axis=1)
        predicted = inputs[test] @ np.linalg.lstsq(inputs[train], y[train], rcond=1e-10)[0]
    else:
        from sklearn.kernel_ridge import KernelRidge

        def guess(penalty: float, known: NDArray[np.int64], asked: NDArray[np.int64]) -> Any:
            model = KernelRidge(alpha=penalty, kernel="rbf", gamma=1 / x.shape[1])
            return model.fit(x[known], y[known]).predict(x[asked])

        # The penalty is the one that does best on a quarter of the training rows.
        fitted, tried = _protocol.rows_to_choose_by(train)
        errors = [((guess(p, fitted, tried) - y[tried]) ** 2).mean() for p in PENALTIES]
        predicted = guess(PENALTIES[int(np.argmin(errors))], train, test)
    spread = y[test].var(axis=0)
    left = ((predicted - y[test]) ** 2).mean(axis=0)
    return np.where(spread > 0, np.maximum(1 - left / np.where(spread > 0, spread, 1.0), 0.0), 0.0)
