"""unweave export: files that another program computes the same codes and images with."""

import numpy as np
import onnxruntime
import pytest

from unweave.cli import main
from unweave.methods.vae import VAE
from unweave.runs.config import Machine, Train
from unweave.training import loop


@pytest.fixture(scope="module")
def trained(toy, tmp_path_factory):
    config = Train(method=VAE(latent_dim=3), data="toy_xys", steps=4, batch_size=8)
    return loop.start(config, toy, tmp_path_factory.mktemp("export") / "run", Machine())


def computed(file, values: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(file))
    (result,) = session.run(None, {session.get_inputs()[0].name: values})
    return result


def test_exported_networks_compute_what_the_run_computes(trained, toy, capsys):
    assert main(["export", str(trained.path)]) == 0
    folder = trained.path / "onnx"
    assert str(folder / "encoder.onnx") in capsys.readouterr().out
    images = toy.images([0, 500, 1000]).astype(np.float32)
    codes = computed(folder / "encoder.onnx", images)
    np.testing.assert_allclose(codes, trained.encode(images), atol=1e-4)
    decoded = computed(folder / "decoder.onnx", codes)
    np.testing.assert_allclose(decoded, trained.decode(codes), atol=1e-4)
    assert computed(folder / "encoder.onnx", images[:1]).shape == (1, 3)


def test_an_exported_encoder_can_be_scored(trained, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the scores go
    assert main(["export", str(trained.path), "--onnx", "--to", str(tmp_path)]) == 0
    words = ["--model", str(tmp_path / "encoder.onnx"), "--data", "toy_xys", "--metrics", "mig"]
    assert main(["evaluate", *words]) == 0
    assert "mig" in capsys.readouterr().out


def test_what_is_no_run_is_refused_in_a_line(tmp_path, capsys):
    assert main(["export", str(tmp_path / "nothing")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
