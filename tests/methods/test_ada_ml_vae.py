"""The common posterior of Ada-ML-VAE."""

import pytest
import torch

from unweave.methods.ada_ml_vae import AdaMLVAE
from unweave.probability.gaussian import DiagonalGaussian


@pytest.mark.parametrize(("pooling", "variance"), [("product", 0.75), ("geometric", 1.5)])
def test_both_forms_weigh_by_precision_and_differ_in_variance_by_two(pooling, variance):
    """Variances 1 and 3: precisions 1 and 1/3, so that the first mean weighs three times."""
    one = DiagonalGaussian(torch.zeros(1, 1), torch.tensor([[1.0]]).log())
    two = DiagonalGaussian(torch.ones(1, 1), torch.tensor([[3.0]]).log())
    method = AdaMLVAE(latent_dim=1, pooling=pooling)
    shared = method.share(one, two, torch.ones(1, 1, dtype=torch.bool))
    torch.testing.assert_close(shared.mean, torch.full((2, 1), 0.25))
    torch.testing.assert_close(shared.variance, torch.full((2, 1), variance))
