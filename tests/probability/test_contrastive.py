"""What NT-Xent is where it can be said beforehand."""

import math

import pytest
import torch

from unweave.probability.contrastive import nt_xent


def test_it_is_that_of_guessing_if_all_features_are_alike():
    alike = torch.ones(5, 3)
    assert nt_xent(alike, 2 * alike, 0.5).item() == pytest.approx(math.log(9), rel=1e-6)


def test_it_is_the_mean_over_both_views_written_out():
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randn(4, 3, generator=generator).double() for _ in range(2))
    views = [row / row.norm() for row in (*first, *second)]
    losses = []
    for i, own in enumerate(views):
        likeness = [math.exp(float(own @ other) / 0.7) for other in views]
        partner = (i + 4) % 8
        losses.append(-math.log(likeness[partner] / (sum(likeness) - likeness[i])))
    assert nt_xent(first, second, 0.7).item() == pytest.approx(sum(losses) / 8, rel=1e-9)


def test_it_falls_where_views_agree():
    apart = torch.eye(6)
    assert nt_xent(apart, apart, 0.1) < nt_xent(apart, apart.roll(1, 0), 0.1)
