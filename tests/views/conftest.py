"""A model whose codes are known, and a run that was hardly trained."""

import pytest

import known_models
from unweave import views
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.training import loop


@pytest.fixture(scope="module")
def separated(toy):
    return known_models.separated(toy)


@pytest.fixture(scope="module")
def codes(separated):
    return views.sample_codes(separated)


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory) -> Run:
    method = AnnealedVAE(latent_dim=3, capacity=2.0)
    config = Train(method=method, data="toy_xys", steps=4, batch_size=8)
    folder = tmp_path_factory.mktemp("views") / "run"
    return loop.start(config, toy, folder, Machine(evaluations=2))
