"""Linear support vector machines on single codes, exact and fast.

For one class against the rest, minimise

    ½(w² + b²) + Σ_i C_i max(0, 1 - y_i(w x_i + b))²

the objective of liblinear's L2-loss SVM. With one input the rows inside the
margin are a run of the sorted inputs, so sums over them come from running
totals, and a Newton step costs a few binary searches whatever the number of rows.
The machines of all codes and classes step together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

STEPS = 100
SHORTEST_STEP = 1e-9


class SortedInputs:
    """Columns of inputs, sorted once for the machines of every factor."""

    def __init__(self, codes: Floats) -> None:
        """Sort each column of (row, code)."""
        self.rows, self.codes = codes.shape
        self.order = np.ascontiguousarray(np.argsort(codes, axis=0).T)
        self.sorted = np.take_along_axis(np.ascontiguousarray(codes.T), self.order, axis=1)
        self.totals = _running(self.sorted)

    def fit(self, labels: NDArray[np.int64], classes: int, C: float = 0.01) -> Floats:
        """Fit a machine per code and class, balanced; return (code, class, slope and intercept).

        As in liblinear, only the class itself is weighted against the rest, unless
        there are two classes: then one machine weighs both.
        """
        counts = np.bincount(labels, minlength=classes)
        present = np.flatnonzero(counts)
        weight = np.zeros(classes)
        weight[present] = C * self.rows / (len(present) * counts[present])
        machines = np.zeros((self.codes, classes, 2))
        # A class without training rows is never predicted.
        machines[:, :, 1] = -np.inf
        totals = _Totals(self, labels, counts)
        if len(present) == 2:
            low, high = present
            both = _newton(totals, np.array([high]), weight[[high]], float(weight[low]))
            machines[:, high], machines[:, low] = both[:, 0], -both[:, 0]
        else:
            machines[:, present] = _newton(totals, present, weight[present], C)
        return machines


def _running(inputs: Floats) -> Floats:
    """Return running totals of 1, x and x² along each row: (row, place, 3)."""
    totals = np.zeros((len(inputs), inputs.shape[1] + 1, 3))
    totals[:, :, 0] = np.arange(inputs.shape[1] + 1)
    np.cumsum(inputs, axis=1, out=totals[:, 1:, 1])
    np.cumsum(inputs**2, axis=1, out=totals[:, 1:, 2])
    return totals


class _Totals:
    """Running totals of 1, x and x² over sorted inputs, of all rows and of each class."""

    def __init__(self, inputs: SortedInputs, labels: NDArray[np.int64], counts: Places) -> None:
        self.inputs = inputs
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        # Places in the sorted column, class by class.
        self.places = np.argsort(labels[inputs.order], axis=1, kind="stable")
        self.totals = _running(np.take_along_axis(inputs.sorted, self.places, axis=1))

    def beyond(
        self, code: Places, k: Places, w: Floats, b: Floats, limit: float
    ) -> tuple[Floats, Floats]:
        """Sum 1, x, x² over inputs with w·x + b < limit: over all rows, over those of class k."""
        rows = self.inputs.rows
        flat = np.where(w == 0, 1.0, w)
        border = np.where(w == 0, np.where(b < limit, np.inf, -np.inf), (limit - b) / flat)
        falling = w < 0
        # How many inputs lie below the border; at it, if the ones above are wanted.
        base = code * rows
        place = _first(
            np.zeros_like(code),
            np.full_like(code, rows),
            lambda middle, some: _below(
                self.inputs.sorted.ravel().take(base[some] + middle), border[some], falling[some]
            ),
        )
        first, last = self.starts[k], self.starts[k + 1]
        within = _first(
            first,
            last,
            lambda middle, some: self.places.ravel().take(base[some] + middle) < place[some],
        )
        whole = self.inputs.totals[code, place]
        whole = np.where(falling[:, None], self.inputs.totals[code, -1] - whole, whole)
        own = self.totals[code, within] - self.totals[code, first]
        of_class = self.totals[code, last] - self.totals[code, first]
        return whole, np.where(falling[:, None], of_class - own, own)


def _below(values: Floats, border: Floats, falling: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.where(falling, values <= border, values < border)


def _first(
    low: Places, high: Places, is_before: Callable[[Places, Places], NDArray[np.bool_]]
) -> Places:
    """Find by halving the first place of each range for which a test no longer holds."""
    low, high = low.copy(), high.copy()
    some = np.flatnonzero(low < high)
    while len(some):
        middle = (low[some] + high[some]) // 2
        before = is_before(middle, some)
        low[some[before]] = middle[before] + 1
        high[some[~before]] = middle[~before]
        some = some[low[some] < high[some]]
    return low


@dataclass
class _State:
    """Machines on their way: slopes, intercepts and sums inside their margins."""

    w: Floats
    b: Floats
    positive: Floats
    negative: Floats

    def loss(self) -> Floats:
        w, b, p, n = self.w, self.b, self.positive, self.negative
        total = 0.5 * (w * w + b * b)
        total += 0.5 * (p[:, 0] * (1 - b) ** 2 - 2 * (1 - b) * w * p[:, 1] + w * w * p[:, 2])
        total += 0.5 * (n[:, 0] * (1 + b) ** 2 - 2 * (1 + b) * w * n[:, 1] + w * w * n[:, 2])
        return total

    def take(self, some: NDArray[np.int64] | NDArray[np.bool_]) -> "_State":
        return _State(self.w[some], self.b[some], self.positive[some], self.negative[some])

    def put(self, some: NDArray[np.int64] | NDArray[np.bool_], other: "_State") -> None:
        self.w[some], self.b[some] = other.w, other.b
        self.positive[some], self.negative[some] = other.positive, other.negative


def _newton(totals: _Totals, classes: Places, weight: Floats, other_weight: float) -> Floats:
    """Minimise by Newton's method with halved steps, (code, class, slope and intercept)."""
    codes, count = totals.inputs.codes, len(classes)
    code, k = np.repeat(np.arange(codes), count), np.tile(classes, codes)
    own_weight = np.tile(weight, codes)[:, None]

    def state(some: Places, w: Floats, b: Floats) -> _State:
        _, own = totals.beyond(code[some], k[some], w, b, 1.0)
        # Rows of other classes have y = -1, which turns x into -x.
        whole, inside = totals.beyond(code[some], k[some], -w, -b, 1.0)
        others = (whole - inside) * [1.0, -1.0, 1.0]
        return _State(w, b, 2 * own_weight[some] * own, 2 * other_weight * others)

    active = np.arange(len(code))
    now = state(active, np.zeros(len(code)), np.zeros(len(code)))
    value = now.loss()
    for _ in range(STEPS):
        here = now.take(active)
        w, b, p, n = here.w, here.b, here.positive.T, here.negative.T
        slope = w - (1 - b) * p[1] + w * p[2] - (1 + b) * n[1] + w * n[2]
        shift = b - (1 - b) * p[0] + w * p[1] + (1 + b) * n[0] - w * n[1]
        a, c, d = 1 + p[2] + n[2], p[1] - n[1], 1 + p[0] + n[0]
        determinant = a * d - c * c
        moving = (determinant > 0) & (slope**2 + shift**2 > 1e-18 * (a + d) ** 2)
        if not moving.any():
            break
        active, w, b = active[moving], w[moving], b[moving]
        a, c, d, slope, shift = a[moving], c[moving], d[moving], slope[moving], shift[moving]
        step_w = (d * slope - c * shift) / determinant[moving]
        step_b = (a * shift - c * slope) / determinant[moving]
        after = state(active, w - step_w, b - step_b)
        loss = after.loss()
        length = 1.0
        while length > SHORTEST_STEP and (worse := np.flatnonzero(loss > value[active])).size:
            length /= 2
            at = active[worse]
            shorter = state(
                at, w[worse] - length * step_w[worse], b[worse] - length * step_b[worse]
            )
            after.put(worse, shorter)
            loss[worse] = shorter.loss()
        better = loss < value[active]
        active = active[better]
        now.put(active, after.take(better))
        value[active] = loss[better]
        if not len(active):
            break
    return np.stack([now.w, now.b], axis=1).reshape(codes, count, 2)
