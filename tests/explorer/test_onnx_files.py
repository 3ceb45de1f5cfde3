"""Exported networks give the images and the codes of the method, for every method."""

import dataclasses

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx.reference import ReferenceEvaluator

from unweave import catalog
from unweave.errors import ConfigError
from unweave.explorer.onnx_files import decoder_to_onnx, encoder_to_onnx
from unweave.methods import method_named
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.vae import VAE
from unweave.networks import architecture_named
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Train
from unweave.runs.run import Run
from unweave.training import loop

# Narrow networks of their own, for methods that have them: quick to export.
NARROW = {"width": 8, "layers_at_size": (1, 2, 0), "channels": 16}


def small(name: str):
    method = method_named(name)
    fields = {field.name for field in dataclasses.fields(method)}
    return method(latent_dim=4, **{k: v for k, v in NARROW.items() if k in fields})


def run_of(method, toy, architecture=ConvAny(channels=(4, 4), hidden=8)) -> Run:
    method = method.settled(1, toy)
    config = Train(
        method=method,
        data="toy_xys",
        architecture=architecture,
        steps=1,
    )
    nets = loop.make_networks(config, toy)
    method.fit(nets, toy, seed=0)
    return Run(config, toy.summary, nets, step=0, data=toy)


def one_of_each(way: str) -> list[str]:
    """Name one method for every way of doing something, of those with something to slide."""
    found = {}
    for name in catalog.names("unweave.methods"):
        method = method_named(name)
        if method.decodes and (way != "encode" or method.codes_from == "images"):
            found.setdefault(getattr(method, way), name)
    return sorted(found.values())


@pytest.mark.parametrize("name", one_of_each("decode"))
def test_codes_are_decoded_as_by_the_run(name, toy):
    run = run_of(small(name), toy)
    model = onnx.load_from_string(decoder_to_onnx(run))
    onnx.checker.check_model(model)
    codes = run.prior_codes(3, seed=1)
    parts = [codes] if takes_any(model) else np.split(codes, 3)
    evaluator = ReferenceEvaluator(model)
    images = np.concatenate([evaluator.run(["images"], {"codes": part})[0] for part in parts])
    np.testing.assert_allclose(images, run.decode(codes), atol=1e-5)


@pytest.mark.parametrize("name", one_of_each("encode"))
def test_images_are_encoded_as_by_the_run(name, toy):
    run = run_of(small(name), toy)
    model = onnx.load_from_string(encoder_to_onnx(run))
    onnx.checker.check_model(model)
    image = toy.images([500])
    codes = ReferenceEvaluator(model).run(["codes"], {"images": image})[0]
    np.testing.assert_allclose(codes, run.encode(image), atol=1e-5)


@pytest.mark.parametrize("name", catalog.own_names("unweave.networks"))
def test_the_decoder_of_every_architecture_draws_what_torch_draws(name, toy):
    method, architecture = VAE(latent_dim=4), architecture_named(name)()
    summary = dataclasses.replace(toy.summary, image_shape=(1, 64, 64))
    torch.manual_seed(0)
    nets = method.networks(architecture, summary)
    config = Train(method=method, data="toy_xys", architecture=architecture, steps=1)
    run = Run(config, summary, nets, step=0)
    codes = run.prior_codes(3, seed=1)
    session = onnxruntime.InferenceSession(decoder_to_onnx(run))
    (images,) = session.run(["images"], {"codes": codes})
    np.testing.assert_allclose(images, run.decode(codes), atol=0.5 / 255)


def takes_any(model) -> bool:
    """Return whether the size of the batch is open."""
    return bool(model.graph.input[0].type.tensor_type.shape.dim[0].dim_param)


class ReadsItsBatch(VAE):
    """A method whose decoding asks for the size of the batch as a plain number."""

    def decode(self, nets, codes):
        return super().decode(nets, codes).reshape(len(codes), 1, 32, 32)


def test_a_method_that_fixes_the_size_of_the_batch_decodes_one_at_a_time(toy):
    run = run_of(ReadsItsBatch(latent_dim=2), toy)
    model = onnx.load_from_string(decoder_to_onnx(run))
    assert not takes_any(model)
    code = np.array([[0.5, -1]], dtype=np.float32)
    images = ReferenceEvaluator(model).run(["images"], {"codes": code})[0]
    np.testing.assert_allclose(images, run.decode(code), atol=1e-5)


def test_a_run_can_go_on_while_its_decoder_is_exported(toy):
    run = run_of(VAE(latent_dim=2), toy)
    run.nets.train()
    before = {name: value.clone() for name, value in run.nets.state_dict().items()}
    assert takes_any(onnx.load_from_string(decoder_to_onnx(run)))
    assert run.nets.training
    for name, value in run.nets.state_dict().items():
        assert (value == before[name]).all()


def test_a_method_without_decoder_says_so(toy):
    with pytest.raises(ConfigError, match="no decoder"):
        decoder_to_onnx(run_of(GroundTruth(), toy))
