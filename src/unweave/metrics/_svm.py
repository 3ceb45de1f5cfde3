"""Linear support vector machines on a single code, exact and fast.

For one class against the rest, minimise

    ½(w² + b²) + Σ_i C_i max(0, 1 - y_i(w x_i + b))²

the objective of liblinear's L2-loss SVM. With one input the rows inside the
margin are a run of the sorted inputs, so sums over them come from running
totals, and a Newton step costs a few binary searches whatever the number of rows.
"""

import numpy as np
from numpy.typing import NDArray


class _Totals:
    """Running totals of 1, x and x² over sorted inputs."""

    def __init__(self, x: NDArray[np.float64]) -> None:
        self.x = np.sort(x)
        powers = np.stack([np.ones_like(self.x), self.x, self.x**2])
        self.sums = np.concatenate([np.zeros((3, 1)), np.cumsum(powers, axis=1)], axis=1)

    def beyond(self, w: float, b: float, limit: float) -> NDArray[np.float64]:
        """Sum 1, x, x² over inputs with w·x + b < limit."""
        if w == 0.0:
            return self.sums[:, -1] if b < limit else np.zeros(3)
        border = (limit - b) / w
        if w > 0:
            return self.sums[:, np.searchsorted(self.x, border, side="left")]
        return self.sums[:, -1] - self.sums[:, np.searchsorted(self.x, border, side="right")]


def fit_one_code(
    x: NDArray[np.float64], labels: NDArray[np.int64], classes: int, C: float = 0.01
) -> NDArray[np.float64]:
    """Fit one machine per class with balanced classes; return slopes and intercepts, (class, 2).

    As in liblinear, only the class itself is weighted against the rest, unless
    there are two classes: then one machine weighs both.
    """
    counts = np.bincount(labels, minlength=classes)
    present = np.flatnonzero(counts)
    weight = np.zeros(classes)
    weight[present] = C * len(x) / (len(present) * counts[present])
    everything = _Totals(x)
    machines = np.zeros((classes, 2))
    # A class without training rows is never predicted.
    machines[:, 1] = -np.inf
    if len(present) == 2:
        low, high = present
        inside, outside = _Totals(x[labels == high]), _Totals(-x[labels == low])
        machine = _newton(inside, outside, weight[high], weight[low])
        machines[high], machines[low] = machine, -machine
        return machines
    for k in present:
        inside = _Totals(x[labels == k])
        machines[k] = _newton(inside, _Difference(everything, inside), weight[k], C)
    return machines


class _Difference:
    """Totals over the rows outside a class, negated inputs: y = -1 turns x into -x."""

    def __init__(self, everything: _Totals, inside: _Totals) -> None:
        self.everything, self.inside = everything, inside

    def beyond(self, w: float, b: float, limit: float) -> NDArray[np.float64]:
        """Sum 1, -x, x² over outside inputs with w·(-x) + b < limit."""
        sums = self.everything.beyond(-w, b, limit) - self.inside.beyond(-w, b, limit)
        return sums * np.array([1.0, -1.0, 1.0])


def _newton(
    positive: "_Totals | _Difference",
    negative: "_Totals | _Difference",
    positive_weight: float,
    negative_weight: float,
) -> NDArray[np.float64]:
    """Minimise by Newton's method with halved steps.

    `negative` holds -x with the margin written as w(-x) - b < 1.
    """

    def sums(w: float, b: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return (
            2 * positive_weight * positive.beyond(w, b, 1.0),
            2 * negative_weight * negative.beyond(w, -b, 1.0),
        )

    def loss(w: float, b: float) -> float:
        p, n = sums(w, b)
        total = 0.5 * (w * w + b * b)
        total += 0.5 * (p[0] * (1 - b) ** 2 - 2 * (1 - b) * w * p[1] + w * w * p[2])
        total += 0.5 * (n[0] * (1 + b) ** 2 - 2 * (1 + b) * w * n[1] + w * w * n[2])
        return float(total)

    w = b = 0.0
    value = loss(w, b)
    for _ in range(100):
        p, n = sums(w, b)
        slope = w - (1 - b) * p[1] + w * p[2] - (1 + b) * n[1] + w * n[2]
        shift = b - (1 - b) * p[0] + w * p[1] + (1 + b) * n[0] - w * n[1]
        a, c, d = 1 + p[2] + n[2], p[1] - n[1], 1 + p[0] + n[0]
        determinant = a * d - c * c
        if not determinant > 0 or slope * slope + shift * shift <= 1e-18 * (a + d) ** 2:
            break
        step_w, step_b = (
            (d * slope - c * shift) / determinant,
            (a * shift - c * slope) / determinant,
        )
        length = 1.0
        while length > 1e-9 and loss(w - length * step_w, b - length * step_b) > value:
            length /= 2
        after = loss(w - length * step_w, b - length * step_b)
        if after >= value:
            break
        w, b, value = w - length * step_w, b - length * step_b, after
    return np.array([w, b])
