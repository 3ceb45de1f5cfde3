"""The prior of a code with a density: what its KL, its samples and its traversals follow.

All dimensions are independent and alike, with mean 0 and variance 1:

    p(z) = exp(−|z|ⁿ / c) / Z,    n = 2, 6 or 12

The larger n, the flatter the top and the steeper the sides. A Gaussian prior does not
care how a code is turned; the others do, as a square differs from a turned square.

Formulas take NumPy arrays and tensors alike: they are made of products and sums.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

PriorName = Literal["gaussian", "flat", "uniform_like"]
A = TypeVar("A", bound=Any)
"""An array or a tensor."""

LOG_TWO_PI = math.log(2 * math.pi)
ACTIVE = 0.01  # nats; a dimension whose KL is less above the least possible carries nothing


@dataclass(frozen=True)
class CodePrior:
    """p(z) ∝ exp(−|z|ⁿ / c) in every dimension, of unit variance; n is even."""

    name: PriorName
    power: int

    @cached_property
    def scale(self) -> float:
        """Return c, for which the variance is 1."""
        # The variance is c^(2/n) Γ(3/n) / Γ(1/n).
        n = self.power
        return math.exp(n / 2 * (math.lgamma(1 / n) - math.lgamma(3 / n)))

    @cached_property
    def log_normalizer(self) -> float:
        """Return log Z."""
        n = self.power
        return math.log(2) + math.log(self.scale) / n + math.lgamma(1 + 1 / n)

    def log_density(self, z: A) -> A:
        """Return log p(z) per dimension."""
        if self.power == 2:
            return -0.5 * (z**2 + LOG_TWO_PI)
        return -(z**self.power) / self.scale - self.log_normalizer

    def score(self, z: A) -> A:
        """Return the slope of log p(z) per dimension."""
        return -(self.power / self.scale) * z ** (self.power - 1) if self.power > 2 else -z

    def kl(self, mean: A, logvar: A, variance: A) -> A:
        """Return KL(N(mean, variance) ‖ p) per dimension, in nats and in closed form."""
        if self.power == 2:
            return 0.5 * (mean**2 + variance - 1 - logvar)
        entropy = 0.5 * (logvar + (LOG_TWO_PI + 1))
        return _moment(self.power, mean, variance) / self.scale + self.log_normalizer - entropy

    @cached_property
    def resting_logvar(self) -> float:
        """Return the log-variance of the Gaussian nearest to the prior, whose mean is 0."""
        # There the slope of (n−1)!! σⁿ / c − log σ vanishes.
        n = self.power
        return 2 / n * math.log(self.scale / (n * math.prod(range(n - 1, 1, -2))))

    @cached_property
    def least_kl(self) -> float:
        """Return the KL of the nearest Gaussian: what a dimension costs that says nothing."""
        if self.power == 2:
            return 0.0
        entropy = 0.5 * (self.resting_logvar + LOG_TWO_PI + 1)
        return 1 / self.power + self.log_normalizer - entropy

    @cached_property
    def reach(self) -> float:
        """Return how far from 0 as much of the prior lies as of a Gaussian within 2: 95 %."""
        if self.power == 2:
            return 2.0
        from scipy.special import gammaincinv  # on first use: it takes longer than all the rest

        n = self.power
        # |z|ⁿ / c has a gamma distribution of shape 1/n.
        return float((self.scale * gammaincinv(1 / n, math.erf(math.sqrt(2)))) ** (1 / n))

    def is_active(self, kl: A) -> A:
        """Return which dimensions carry something, by their mean KL."""
        return kl > self.least_kl + ACTIVE


def _moment(power: int, mean: A, variance: A) -> A:
    """Return E zⁿ of a Gaussian, by E zᵏ = μ E zᵏ⁻¹ + (k−1) σ² E zᵏ⁻²."""
    before, moment = mean, mean**2 + variance
    for order in range(3, power + 1):
        before, moment = moment, mean * moment + (order - 1) * variance * before
    return moment


GAUSSIAN = CodePrior("gaussian", 2)
PRIORS: dict[PriorName, CodePrior] = {
    prior.name: prior for prior in (GAUSSIAN, CodePrior("flat", 6), CodePrior("uniform_like", 12))
}
