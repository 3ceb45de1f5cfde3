"""Choosing models without labels."""

import numpy as np
import pytest

from unweave.errors import DataError
from unweave.evaluation.without_labels import model_centrality, vote_score


class Linear:
    """A model whose images are a rotation of its codes, read back by another rotation."""

    def __init__(self, dims: int, encoding=None, decoding=None):
        self.latent_dim = dims
        self.encoding = np.eye(dims) if encoding is None else encoding
        self.decoding = np.eye(dims) if decoding is None else decoding

    def encode(self, images):
        return images @ self.encoding

    def decode(self, codes):
        return codes @ self.decoding

    def prior(self, count, rng):
        return rng.normal(size=(count, self.latent_dim))


def rotation(dims: int, seed: int):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dims, dims)))[0]


def test_models_that_agree_perfectly_score_one():
    order = [2, 0, 3, 1]
    permuted = Linear(4, np.eye(4)[:, order], np.eye(4)[:, order].T)
    found = model_centrality([Linear(4), Linear(4), permuted])
    np.testing.assert_allclose(found.scores, 1.0)
    np.testing.assert_allclose(found.agreement, found.agreement.T)


def test_rotated_models_are_less_central_than_those_that_share_axes():
    turned = [Linear(4, rotation(4, s), rotation(4, s).T) for s in (1, 2)]
    found = model_centrality([Linear(4), turned[0], Linear(4), Linear(4), turned[1]])
    good, bad = found.scores[[0, 2, 3]], found.scores[[1, 4]]
    assert good.min() > bad.max() + 0.02
    assert found.agreement[0, 2] == 1.0
    assert found.agreement[0, 1] < 0.95
    assert found.chosen in (0, 2, 3)


def test_an_encoder_that_says_nothing_scores_nothing():
    assert vote_score(np.zeros((3, 5, 8, 4)), np.zeros((50, 4))) == 0
    silent = Linear(4, np.zeros((4, 4)))
    found = model_centrality([Linear(4), Linear(4), silent])
    assert found.chosen in (0, 1)


def test_dimensions_that_a_generator_does_not_use_cost_no_agreement():
    half = np.diag([1.0, 1.0, 0.0, 0.0])  # neither drawn nor read
    found = model_centrality([Linear(4, half, half), Linear(4, half, half)])
    np.testing.assert_allclose(found.scores, 1.0)


def test_a_constant_code_casts_no_vote():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(2, 6, 16, 3))
    codes[0, :, :, 0] = 0.5
    codes[1, :, :, 1] = 0.5
    codes[..., 2] = 7.0  # varies least of all, and means nothing
    free = rng.normal(size=(200, 3)) * [1, 1, 0]
    assert vote_score(codes, free) == 1.0


@pytest.mark.parametrize("models", [[], [Linear(2)]])
def test_one_model_cannot_be_compared(models):
    with pytest.raises(DataError, match="2 or more"):
        model_centrality(models)
