"""`import unweave as uw`: what it shows, what it takes, and what it says to a mistake."""

import ast
import inspect
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np
import pytest

import unweave as uw
from unweave import catalog
from unweave.errors import ConfigError
from unweave.methods import Method, method_named
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Machine, Train, Training

QUIET = {"machine": Machine(evaluations=0), "evaluate": False, "progress": False}


def shown() -> list[str]:
    return [name for name in dir(uw) if not name.startswith("_")]


def test_completion_shows_every_method_by_its_class():
    classes = {method_named(name).__name__ for name in catalog.own_names("unweave.methods")}
    # Twins are made by a function that stands for a class.
    classes = (classes - {method_named("semi_supervised").__name__}) | {"SemiSupervised"}
    assert classes <= set(shown())


def test_completion_shows_nothing_that_is_not_ours_and_all_of_it_is_there():
    assert not {"Any", "importlib", "TYPE_CHECKING"} & set(dir(uw))
    assert [name for name in shown() if not hasattr(uw, name)] == []
    assert {"train", "load", "evaluate", "metrics", "methods", "Schedule"} <= set(shown())


def test_the_type_checker_is_told_the_names_that_completion_shows():
    tree = ast.parse(Path(uw.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {alias.asname for node in block.body for alias in node.names}
    assert told == set(shown())


def test_neither_the_import_nor_completion_waits_for_torch():
    code = "import sys, unweave; dir(unweave); assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_front_door_refuses_what_is_not_there():
    with pytest.raises(AttributeError, match="BetterVAE"):
        uw.BetterVAE  # noqa: B018 - looking it up is the test


def test_a_method_and_an_architecture_are_taken_by_name(tmp_path):
    run = uw.train("vae", "toy_xys", architecture="conv_any", steps=1, out=tmp_path / "a", **QUIET)
    assert run.config.method == uw.VAE()
    assert run.config.architecture == ConvAny()


def test_precision_reaches_the_settings_of_the_run(tmp_path):
    run = uw.train("pca", "toy_xys", precision="bfloat16", steps=1, out=tmp_path / "a", **QUIET)
    assert run.config.precision == "bfloat16"


def test_train_takes_every_setting_of_a_training_with_its_default():
    taken = inspect.signature(uw.train).parameters
    for field in fields(Train):
        if field.name not in ("method", "data"):
            assert taken[field.name].default == field.default, field.name
        assert field.name in taken
    others = {"out", "machine", "evaluate", "progress"}
    assert set(taken) == {field.name for field in fields(Train)} | others


def test_the_flags_of_the_command_are_the_settings_of_a_training():
    from unweave.cli._train import Settings

    assert issubclass(Settings, Training)
    own = {field.name: field.default for field in fields(Settings)}
    assert {f.name: f.default for f in fields(Training)}.items() <= own.items()
    assert own["data"] is MISSING


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"method": "beta-vae"}, "Did you mean 'beta_vae'"),
        ({"method": uw.BetaVAE}, r"method: .*the class itself; write BetaVAE\(\)"),
        ({"method": 4}, r"method: expected settings such as BetaVAE\(beta=4\), found 4 \(int\)"),
        ({"data": np.zeros((4, 8, 8))}, "data: .*found ndarray; uw.from_arrays makes"),
        ({"data": None}, "data: expected a name, a path or a data set, found NoneType"),
        ({"steps": "100"}, r"steps: expected a whole number, found '100' \(str\)"),
        ({"steps": 1.5}, r"steps: expected a whole number, found 1.5 \(float\)"),
        ({"seed": None}, "seed: expected a whole number, found None"),
        ({"validation": "half"}, "validation: expected a number"),
        ({"precision": "bfloat"}, "precision: 'bfloat'. Did you mean 'bfloat16'"),
        ({"architecture": "conv6"}, "Did you mean 'conv64'"),
        ({"architecture": ConvAny}, r"architecture: .*write ConvAny\(\)"),
        ({"data_options": {"image_size": 3}}, "data_options: expected settings such as"),
        ({"machine": "cpu"}, "machine: expected Machine"),
    ],
)
def test_a_wrong_type_gets_a_sentence(wrong, sentence, tmp_path):
    given = {"method": uw.VAE(), "data": "toy_xys", "out": tmp_path / "run", **wrong}
    with pytest.raises(ConfigError, match=sentence):
        uw.train(**given)
    assert not list(tmp_path.iterdir())


def test_numbers_of_numpy_are_numbers():
    config = Train(method=uw.VAE(), data="toy_xys", steps=np.int64(5), validation=np.float32(0.5))
    assert type(config.steps) is int
    assert type(config.validation) is float
    with pytest.raises(ConfigError, match=r"threads: expected a whole number, found 'two'"):
        Machine(threads="two")


def test_a_method_is_public_for_authors():
    from unweave.methods import GaussianVAE, Loss, Player, Turn
    from unweave.networks import Architecture, Networks

    assert issubclass(GaussianVAE, Method)
    assert all(isinstance(kind, type) for kind in (Loss, Player, Turn, Architecture, Networks))
