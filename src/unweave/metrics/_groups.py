"""Several codes that form one concept: the vectors of VCT, DisDiff, EncDiff or FDAE, or slots.

That literature turns each concept's vector into principal components first (VCT keeps one,
FDAE 36 over all concepts), sums importances and variances over what a concept has left, and
cuts it into k-means clusters where one code would be cut into bins.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import DataError

Groups = int | Sequence[Any]
"""So many codes side by side form a concept; or each concept's codes; or each code's concept."""


def read_groups(groups: Groups, codes: int) -> list[NDArray[np.int64]]:
    """Return the codes of each concept; every code has a part in at most one."""
    if isinstance(groups, int | np.integer):
        if groups < 1 or codes % groups:
            raise DataError(f"{codes} codes cannot be divided into groups of {groups}.")
        return list(np.arange(codes).reshape(-1, groups))
    if all(np.ndim(entry) == 0 for entry in groups):
        labels = np.asarray(groups)
        if len(labels) != codes:
            raise DataError(f"groups name a concept for {len(labels)} of {codes} codes.")
        return [np.flatnonzero(labels == concept) for concept in np.unique(labels)]
    members = [np.asarray(entry, dtype=np.int64).reshape(-1) for entry in groups]
    every = np.concatenate(members)
    if any(len(part) == 0 for part in members) or len(np.unique(every)) != len(every):
        raise DataError("every group needs a code, and no code may be in two groups.")
    if every.min() < 0 or every.max() >= codes:
        raise DataError(f"groups name code {int(every.max())}; codes are 0 to {codes - 1}.")
    return members


def concepts(
    codes: NDArray[Any], groups: Groups, components: int | None
) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """Return the codes that groups speak of, concept by concept, and each concept's columns.

    With `components` each concept is reduced to so many principal components.
    """
    members = read_groups(groups, codes.shape[1])
    pieces = [codes[:, part] for part in members]
    if components is not None:
        if components < 1:
            raise DataError(f"a concept needs at least 1 component; found {components}.")
        pieces = [_principal_components(piece, components) for piece in pieces]
    ends = np.cumsum([piece.shape[1] for piece in pieces])
    columns = [
        np.arange(end - piece.shape[1], end) for piece, end in zip(pieces, ends, strict=True)
    ]
    return np.concatenate(pieces, axis=1), columns


def _principal_components(codes: NDArray[Any], count: int) -> NDArray[np.float64]:
    centred = codes.astype(np.float64) - codes.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return centred @ axes[:, ::-1][:, : min(count, codes.shape[1])]


def membership(columns: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return 1 where a code belongs to a concept, (concept, code)."""
    table = np.zeros((len(columns), sum(len(part) for part in columns)))
    for concept, part in enumerate(columns):
        table[concept, part] = 1.0
    return table


def clusters(
    codes: NDArray[Any], columns: list[NDArray[np.int64]], count: int, seed: int
) -> NDArray[np.float64]:
    """Return each concept's k-means cluster, (row, concept): what bins are to one code."""
    from sklearn.cluster import KMeans

    result = np.zeros((len(codes), len(columns)))
    for concept, part in enumerate(columns):
        vectors = codes[:, part].astype(np.float64)
        distinct = len(np.unique(vectors, axis=0))
        if distinct > 1:
            model = KMeans(min(count, distinct), n_init=1, random_state=seed)
            result[:, concept] = model.fit_predict(vectors)
    return result
