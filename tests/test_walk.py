"""From data to scores and pictures, as a newcomer walks."""

import json
import socket

import numpy as np
import pytest

import unweave as uw


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*words, **more):
        raise AssertionError("something called the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_the_walk_in_python_without_any_network(tmp_path, no_network):
    data = uw.load_data("toy_xys")
    assert data.factor_names == ("x", "y", "side")
    run = uw.train(uw.BetaVAE(beta=4, latent_dim=4), data="toy_xys", steps=5, out=tmp_path / "run")
    again = uw.load(tmp_path / "run")
    scores = uw.evaluate(again, ["mig", "sap"], preset="fast")
    assert 0 <= scores["mig"].value <= 1
    assert "mig" in str(scores)
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["sap"]["protocol"]
    images = data.images([0, 1])
    np.testing.assert_array_equal(run.encode(images), again.encode(images))
    assert again.traverse(images[0]).shape[0] == 4


def test_training_from_arrays_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    data = uw.from_arrays(rng.random((50, 16, 16)).astype(np.float32))
    run = uw.train(uw.VAE(latent_dim=2), data, steps=2, out=tmp_path / "run", progress=False)
    assert run.reconstruct(data.images([3])).shape == (1, 1, 16, 16)
