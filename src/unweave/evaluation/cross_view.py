"""Train a probe in one view, test it in the others: what a code of contents is for.

L. Zhao et al., CVPR 2021, arXiv:2012.01405, section 4.2: a classifier that has seen actions from
one camera names them from all others. Here the view is any factor: its values are cut into a
few views of neighbouring values, a logistic regression learns a class from codes of one view,
and is asked about images of every view. What it is asked about in its own view it has not
been told. Pixels and, where a code tells content from style, each of the two stand beside the
whole code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.batches import shared_column
from unweave.batches.views import Views
from unweave.errors import ConfigError, DataError
from unweave.evaluation.few_labels import draw_labelled
from unweave.runs.model import Model, in_parts

ROWS = 4000
TOLD_SHARE = 0.5
"""Of the images of a view those that a probe learns from."""


@dataclass(frozen=True)
class CrossViewProbe:
    """How often a class is named right in one view by what was learnt in another."""

    column: str
    """The factor or column whose values are the classes."""
    view: str
    """The factor that is the view."""
    views: tuple[str, ...]
    """The values of each view."""
    chance: float
    """Accuracy of always naming the commonest class."""
    tables: Mapping[str, np.ndarray]
    """Accuracies (view learnt in, view asked about), by what was looked at: codes, content, style,
    pixels."""

    def own(self, name: str) -> float:
        """Return the mean accuracy in the view that was learnt in."""
        return float(self.tables[name].diagonal().mean())

    def others(self, name: str) -> float:
        """Return the mean accuracy in the other views."""
        table = self.tables[name]
        return float(table[~np.eye(len(table), dtype=bool)].mean())

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return vars(self) | {
            "views": list(self.views),
            "tables": {name: table.tolist() for name, table in self.tables.items()},
            "own": {name: self.own(name) for name in self.tables},
            "others": {name: self.others(name) for name in self.tables},
        }


def probe_views(
    model: Model,
    view: str = "",
    column: str = "",
    *,
    views: int = 4,
    rows: int = ROWS,
    seed: int = 0,
) -> CrossViewProbe:
    """Train probes of a class in one view each, and test them in every view.

    `view` is a factor, whose values are cut into so many `views`, as far as it has values; by
    default what the batches of two views would take. `column` is the class; by default what
    groups of such data would share.
    """
    if views < 2:
        raise ConfigError(f"a probe of views needs 2 views or more, found {views}")
    model.code.require_codes(model.kind)
    data = model.data
    (view,) = (view,) if view else Views().names(data)[:1] or ("",)
    if not view:
        raise ConfigError(
            "which factor is the view? Images that belong together by their column 'pair' do not "
            "say; unweave evaluate RUN --probe view=NAME"
        )
    seen = data.column(view)
    size = data.summary.column_sizes[view]
    column = shared_column(data, column or model.class_column)
    if column == view:
        raise ConfigError(f"{view!r} is the view; name another factor that is the class")
    classes = data.column(column)
    rng = np.random.default_rng((seed, 0x71E35))
    known = np.flatnonzero((classes >= 0) & np.isfinite(seen) & ((seen >= 0) | (size == 0)))
    chosen = np.sort(rng.permutation(known)[:rows])
    place, words = _cut(seen[chosen], views)
    classes = classes[chosen]
    if len(words) < 2 or any(len(np.unique(classes[place == v])) < 2 for v in range(len(words))):
        raise DataError(
            f"{data.name} has {len(words)} view(s) by {view!r}, each of which must show 2 values "
            f"of {column!r} or more; name another factor by view= or column="
        )
    pictures = np.concatenate([data.images(part, rng) for part in in_parts(chosen)])
    codes = model.encode_rows(chosen)
    looked_at = {"codes": codes}
    looked_at |= {role: codes[:, dims] for role, dims in model.code.roles.items()}
    looked_at["pixels"] = pictures.reshape(len(chosen), -1)
    tables = {name: _table(of, classes, place, seed) for name, of in looked_at.items()}
    chance = float(np.unique(classes, return_counts=True)[1].max() / len(classes))
    return CrossViewProbe(column, view, words, chance, tables)


def _cut(values: np.ndarray, views: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return in which view each value is, and what each is called: neighbouring values."""
    distinct = np.unique(values)
    parts = np.array_split(distinct, min(views, len(distinct)))
    first = np.array([part[0] for part in parts])
    words = [f"{p[0]:g}" if len(p) == 1 else f"{p[0]:g} to {p[-1]:g}" for p in parts]
    return np.searchsorted(first, values, side="right") - 1, tuple(words)


def _table(codes: np.ndarray, classes: np.ndarray, place: np.ndarray, seed: int) -> np.ndarray:
    """Return accuracies (view learnt in, view asked about)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    count = int(place.max()) + 1
    found = np.empty((count, count))
    for learnt in range(count):
        here = np.flatnonzero(place == learnt)
        share = max(round(TOLD_SHARE * len(here)), 2)
        told = here[draw_labelled(classes[here], share, np.random.default_rng((seed, learnt)))]
        # Scaled by what was told: how codes lie in other views is not known to it.
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        right = model.fit(codes[told], classes[told]).predict(codes) == classes
        for asked in range(count):
            rows = np.setdiff1d(np.flatnonzero(place == asked), told)
            found[learnt, asked] = right[rows].mean() if len(rows) else np.nan
    return found
