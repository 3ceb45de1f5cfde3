"""PCA and ICA against what linear algebra says of them."""

import numpy as np
import pytest
import torch

from unweave.data import FactorImages, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.ica import ICA
from unweave.methods.pca import PCA
from unweave.networks.mlp64 import MLP64


def fitted(method, data: FactorImages, seed: int = 0):
    nets = method.networks(MLP64(hidden=8), data.summary)
    method.fit(nets, data, seed)
    return nets


def images_of(pixels: np.ndarray) -> FactorImages:
    """Return rows of numbers as grey images of one line."""
    assert 0 <= pixels.min() <= pixels.max() <= 1
    return from_arrays(pixels.astype(np.float32).reshape(len(pixels), 1, -1))


def all_images(data: FactorImages) -> torch.Tensor:
    return torch.from_numpy(data.images(np.arange(len(data))))


@pytest.mark.parametrize("whiten", [True, False])
def test_the_squared_error_of_pca_is_the_sum_of_dropped_eigenvalues(toy, whiten):
    method = PCA(latent_dim=7, whiten=whiten)
    nets = fitted(method, toy)
    images = all_images(toy)
    linear = nets.code.mean + method.encode(nets, images) @ nets.code.decoding.T
    error = (images.flatten(1) - linear).square().sum(1).mean().item()
    eigenvalues = np.linalg.eigvalsh(np.cov(images.flatten(1).double().T, bias=True))
    assert error == pytest.approx(eigenvalues[:-7].sum(), rel=1e-4)


def test_pca_codes_are_uncorrelated_and_whitened_ones_have_variance_one(toy):
    for whiten in (True, False):
        codes = PCA(latent_dim=5, whiten=whiten).encode(
            fitted(PCA(latent_dim=5, whiten=whiten), toy), all_images(toy)
        )
        covariance = codes.T.cov()
        variances = covariance.diagonal()
        torch.testing.assert_close(
            covariance, variances.diag(), atol=1e-3 * variances.max().item(), rtol=0
        )
        if whiten:
            torch.testing.assert_close(variances, torch.ones(5), atol=1e-3, rtol=0)
        else:
            assert (variances[:-1] >= variances[1:] * 0.999).all()
            assert variances[0] > 1.5


def test_pca_of_uncorrelated_pixels_finds_the_pixels_by_their_variance():
    rng = np.random.default_rng(0)
    spreads = np.array([0.1, 0.4, 0.2, 0.3])
    data = images_of(0.5 + spreads * (rng.random((4000, 4)) - 0.5))
    axes = fitted(PCA(latent_dim=4, whiten=False), data).code.encoding.numpy()
    expected = np.eye(4)[np.argsort(-spreads)]
    np.testing.assert_allclose(axes, expected, atol=0.05)


def test_pca_decodes_into_images(toy):
    method = PCA(latent_dim=7)
    decoded = method.decode(fitted(method, toy), 5 * torch.randn(20, 7))
    assert decoded.shape == (20, 1, 32, 32)
    assert 0 <= decoded.min() <= decoded.max() <= 1


@pytest.mark.parametrize("seed", [0, 1])
def test_ica_recovers_two_independent_uniform_sources(seed):
    rng = np.random.default_rng(seed)
    sources = rng.random((3000, 2)) - 0.5
    mixing = np.array([[0.3, 0.2], [0.1, 0.3], [-0.2, 0.2]])
    data = images_of(0.5 + sources @ mixing.T)
    codes = ICA(latent_dim=2).encode(fitted(ICA(latent_dim=2), data, seed), all_images(data))
    found = np.abs(np.corrcoef(codes.numpy().T, sources.T)[:2, 2:])
    best = np.sort(found, axis=1)
    assert best[:, 1].min() > 0.99
    assert best[:, 0].max() < 0.1
    assert set(found.argmax(1)) == {0, 1}
    # PCA of the same data leaves the sources mixed.
    mixed = PCA(latent_dim=2).encode(fitted(PCA(latent_dim=2), data, seed), all_images(data))
    assert np.abs(np.corrcoef(mixed.numpy().T, sources.T)[:2, 2:]).max() < 0.97


def test_ica_spans_what_pca_spans(toy):
    images = all_images(toy)[::17]
    ica, pca = ICA(latent_dim=5), PCA(latent_dim=5)
    ica_nets, pca_nets = fitted(ica, toy), fitted(pca, toy)
    torch.testing.assert_close(
        ica.decode(ica_nets, ica.encode(ica_nets, images)),
        pca.decode(pca_nets, pca.encode(pca_nets, images)),
        atol=1e-4,
        rtol=0,
    )


def test_only_so_many_rows_are_fitted_to(toy):
    few = fitted(PCA(latent_dim=3, fit_rows=50), toy).code.mean
    every = fitted(PCA(latent_dim=3, fit_rows=5000), toy).code.mean
    torch.testing.assert_close(every, all_images(toy).flatten(1).mean(0), atol=1e-5, rtol=0)
    assert (few - every).abs().max() > 0.01


def test_too_few_images_or_pixels_are_refused():
    data = images_of(np.random.default_rng(0).random((5, 6)))
    with pytest.raises(DataError, match="5 images are too few"):
        fitted(PCA(latent_dim=5), data)
    with pytest.raises(ConfigError, match="more than the 6 pixels"):
        fitted(PCA(latent_dim=7), data)
