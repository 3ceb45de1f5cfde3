"""Two views of one content: images that differ in the view and in nothing else.

Where they come from, the first that there is:

- the factors that are named as the view: an image and one with all other factors the same;
- a column `pair`: images with the same id show one content, however many views there are of it;
- factors of which one is called view, camera or azimuth, else the first whose values have an
  order, else the first.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from unweave import catalog
from unweave.batches._batch import discrete_factors, lacks
from unweave.batches.pairs import PairsOfImages
from unweave.data import FactorImages

EXAMPLE = "file,pair\nleft.png,7   (images with pair 7 show one content in several views)"
CALLED = ("view", "camera", "azimuth")


@dataclass(frozen=True)
class Views(PairsOfImages):
    """Images of one content in two views."""

    view: tuple[str, ...] = ()
    """Factors that say from where an image was taken; at least one of them differs."""

    def names(self, data: FactorImages) -> tuple[str, ...]:
        """Return the factors that are the view; none where ids say which images belong together."""
        for name in self.view:
            catalog.check_name(name, data.factor_names, f"factor of {data.name}")
        if self.view or "pair" in data.columns:
            return self.view
        movable = [f for f in discrete_factors(data, "two views", EXAMPLE) if f.size > 1]
        if not movable:
            raise lacks(data, "has no factor that could be the view", EXAMPLE)
        called = [f for f in movable if f.name.lower() in CALLED]
        ordered = [f for f in movable if not f.categorical]
        return ((called or ordered or movable)[0].name,)

    def draw_pair_rows(
        self, data: FactorImages, count: int, rng: Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw the rows of two views of each of so many contents."""
        if self.names(data):
            return self._rows_of_factors(data, count, rng)
        return super().draw_pair_rows(data, count, rng)

    def changed_factors(
        self, data: FactorImages, factors: np.ndarray, rng: Generator
    ) -> np.ndarray:
        places = [data.factor_names.index(name) for name in self.names(data)]
        sizes = np.array(data.factor_sizes)[places]
        if sizes.prod() < 2:
            raise lacks(data, f"has one view only by {', '.join(self.names(data))}", EXAMPLE)
        # All combinations of the view's factors in a row: any other is 1 or more places further.
        now = np.ravel_multi_index(tuple(factors[:, places].T), tuple(sizes))
        other = (now + rng.integers(1, sizes.prod(), size=len(now))) % sizes.prod()
        changed = factors.copy()
        changed[:, places] = np.stack(np.unravel_index(other, tuple(sizes)), axis=1)
        return changed
