"""Models as people have them are scored as they are, or refused in one line."""

import copy
import json
import re
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import joblib
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sklearn.decomposition import PCA
from torch import nn

import unweave as uw
from unweave import workflows
from unweave.cli import main
from unweave.errors import ConfigError, DataError

DATA = "toy_xys"
FORMS = ("arrays", "tensors")


@pytest.fixture(scope="module")
def toy():
    return uw.load_data(DATA)


class Encoder(nn.Module):
    """What people write: dropout and batch normalisation, in training mode when it is made."""

    def __init__(self, outputs: int = 6):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.body = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(32 * 32), nn.Dropout(0.5))
            self.head = nn.Linear(32 * 32, outputs)

    def forward(self, images):
        assert isinstance(images, torch.Tensor)
        return self.head(self.body(images))


class GaussianEncoder(Encoder):
    def forward(self, images):
        return super().forward(images).chunk(2, dim=1)


def expected_codes(module, images):
    with torch.no_grad():
        return copy.deepcopy(module).eval()(torch.from_numpy(images)).numpy()


def test_a_network_is_scored_in_evaluation_mode_and_left_as_it_was(toy):
    module = Encoder()
    module.head.eval()  # modes may differ from part to part
    before = copy.deepcopy(module.state_dict())
    modes = [part.training for part in module.modules()]
    images = toy.images(np.arange(300))
    codes = uw.wrap(module, toy).encode(images)
    np.testing.assert_allclose(codes, expected_codes(module, images), atol=1e-5)
    assert [part.training for part in module.modules()] == modes
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert all(parameter.grad is None for parameter in module.parameters())


def test_a_network_gets_its_own_precision(toy):
    module = Encoder().double()
    assert uw.wrap(module, toy).encode(toy.images([0, 1])).dtype == np.float32
    half = uw.wrap(Encoder().bfloat16(), toy)
    assert half.latent_dim == 6


def test_a_pair_of_tables_is_the_posterior(toy):
    model = uw.wrap(GaussianEncoder(), toy)
    images = toy.images([0, 5])
    mean, logvar = model.posterior(images)
    np.testing.assert_array_equal(mean, model.encode(images))
    assert model.latent_dim == 3
    assert not np.allclose(mean, logvar)
    scores = uw.evaluate(model, ["mig", "kl_decomposition"], preset="fast")
    assert set(scores) == {"mig", "kl_decomposition"}
    assert not uw.evaluate(uw.wrap(Encoder(), toy), "kl_decomposition", preset="fast")


class Autoencoder(GaussianEncoder):
    """Its forward returns images; its encode is what counts."""

    def encode(self, images):
        return super().forward(images)

    def forward(self, images):
        mean, logvar = self.encode(images)
        return images, mean, logvar


def test_encode_of_a_network_goes_before_its_forward_and_bound_methods_are_its_own(toy):
    module = Autoencoder()
    images = toy.images([3, 4, 5])
    whole = uw.wrap(module, toy)
    bound = uw.wrap(module.encode, toy)
    np.testing.assert_array_equal(whole.encode(images), bound.encode(images))
    assert whole.posterior(images) is not None
    assert not bound.notes
    assert module.training


FUNCTIONS = {
    "arrays": lambda x: np.ascontiguousarray(x[:, 0, ::8, 3]),
    "tensors": lambda x: x.flatten(1).unfold(1, 64, 64).amax(2).clamp(max=2.0),
    "both": lambda x: x[:, 0, ::8, 3] * 2,
    "in place": lambda x: x.__imul__(255)[:, 0, ::8, 3],
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_what_a_function_takes_is_found_out(toy, kind):
    images = toy.images(np.arange(200))
    kept = images.copy()
    codes = uw.wrap(FUNCTIONS[kind], toy).encode(images)
    given = torch.from_numpy(kept.copy()) if kind == "tensors" else kept.copy()
    np.testing.assert_array_equal(codes, np.asarray(FUNCTIONS[kind](given)))
    np.testing.assert_array_equal(images, kept)


def test_a_function_that_means_two_things_is_refused_until_it_is_said_which(toy):
    def deviations(images):  # numpy divides by n, torch by n - 1
        return images.reshape(len(images), 8, -1).std(-1)

    with pytest.raises(ConfigError, match='takes="arrays" or takes="tensors"'):
        uw.wrap(deviations, toy)
    images = toy.images([0, 1])
    codes = {
        how: uw.wrap(deviations, toy, takes=how).encode(images) for how in ("arrays", "tensors")
    }
    np.testing.assert_allclose(codes["tensors"], codes["arrays"] * (128 / 127) ** 0.5, rtol=1e-5)

    def noted(images: torch.Tensor) -> torch.Tensor:
        return deviations(images)

    np.testing.assert_array_equal(uw.wrap(noted, toy).encode(images), codes["tensors"])


class Draws(nn.Module):
    def forward(self, images):
        return nn.functional.dropout(images.flatten(1)[:, ::64] + 1, 0.5, training=True)


def test_codes_that_change_are_noticed_and_said_with_every_score(toy, caplog):
    model = uw.wrap(Draws(), toy, name="drawer")
    assert "change from call to call" in model.notes[0]
    assert "drawer" in caplog.text
    scores = uw.evaluate(model, ["mig"], preset="fast")
    assert any("change from call to call" in note for note in scores["mig"].remarks)
    normal = nn.BatchNorm1d(64, track_running_stats=False)
    batchwise = uw.wrap(lambda x: normal(x.flatten(1)[:, ::16]), toy)
    assert "other images of its batch" in batchwise.notes[0]
    assert uw.wrap(Encoder(), toy).notes == ()


class VisionModel(nn.Module):
    """The shape of Hugging Face's: a config, and an output object."""

    def __init__(self, pooled: bool):
        super().__init__()
        self.config = SimpleNamespace(num_channels=3, image_size=16)
        self.patches = nn.Conv2d(3, 5, 8, stride=8)
        self.pooled = pooled

    def forward(self, pixel_values):
        assert pixel_values.shape[1:] == (3, 16, 16)
        states = self.patches(pixel_values).flatten(2).transpose(1, 2)
        pooled = states[:, 0] if self.pooled else None
        return SimpleNamespace(last_hidden_state=states, pooler_output=pooled)


def test_outputs_of_hugging_face_are_known_by_their_names(toy):
    for pooled in (True, False):
        module = VisionModel(pooled)
        model = uw.wrap(module, toy)
        image = torch.from_numpy(toy.images([7])).expand(-1, 3, -1, -1)
        image = nn.functional.interpolate(image, size=(16, 16), mode="bilinear", antialias=True)
        states = module(image).last_hidden_state
        wanted = states[:, 0] if pooled else states.mean(1)
        found = model.encode(toy.images([7]))
        np.testing.assert_allclose(found, wanted.detach().numpy(), atol=1e-5)
    assert model.taken == "mean of last_hidden_state over 4 places"


class ImageModel(nn.Module):
    """The shape of timm's: features, a head, and what images it was trained with."""

    pretrained_cfg: ClassVar = {"input_size": (3, 8, 8), "mean": (0.5,) * 3, "std": (0.25,) * 3}

    def forward_features(self, images):
        assert images.shape[1:] == (3, 8, 8)
        return images

    def forward_head(self, features, pre_logits: bool = False):
        pooled = features.flatten(1)
        return pooled if pre_logits else pooled[:, :2]

    def forward(self, images):
        return self.forward_head(self.forward_features(images))


def test_a_model_of_timm_is_scored_before_its_head_on_its_own_images(toy):
    codes = uw.wrap(ImageModel(), toy).encode(np.ones((2, 1, 32, 32), dtype=np.float32))
    assert codes.shape == (2, 3 * 8 * 8)
    np.testing.assert_allclose(codes, 2.0, atol=1e-6)


def test_dictionaries_tuples_and_distributions_are_read(toy):
    table = lambda x: x[:, 0, ::4, 5]  # noqa: E731
    normal = torch.distributions.Normal
    returned = {
        "entry 'z'": lambda x: {"z": table(x), "image": x},
        "the only table among 2 arrays": lambda x: (x, table(x)),
        "mean and log-variance": lambda x: {"mu": table(x), "log_var": table(x) - 3, "image": x},
        "mean and variance of a distribution": lambda x: normal(
            torch.as_tensor(table(x)), torch.as_tensor(table(x)) + 1
        ),
    }
    images = toy.images(np.arange(9))
    for taken, function in returned.items():
        model = uw.wrap(function, toy)
        assert model.taken == taken
        np.testing.assert_array_equal(model.encode(images), table(images))
    np.testing.assert_allclose(model.posterior(images)[1], 2 * np.log1p(table(images)), atol=1e-6)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: None, "returned NoneType for 4 images; expected codes"),
        (lambda x: x, r"of shape \(4, 1, 32, 32\) for 4 images; expected codes"),
        (lambda x: x[0, 0], r"of shape \(32, 32\) for 4 images"),
        (lambda x: (x[:, 0, :, 0],) * 3, r"tuple of 3 \(.* of shape \(4, 32\)"),
        (lambda x: {"a": x[:, 0, 0], "b": x[:, 0, 1]}, r"dict \(a: .*, b: "),
        (lambda x: x[:, 0, 0].astype(complex), "real numbers"),
        (lambda x: 1 / 0, r"failed on \(4, 1, 32, 32\), given arrays: ZeroDivisionError"),
    ],
)
def test_anything_else_is_refused_in_a_line_that_says_what_was_returned(toy, function, told):
    with pytest.raises(DataError, match=told) as caught:
        uw.wrap(function, toy)
    assert "\n" not in str(caught.value)


def test_things_that_encode_nothing_are_refused(toy):
    with pytest.raises(ConfigError, match="expected a network, a function"):
        uw.wrap(SimpleNamespace(a=1), toy)
    with pytest.raises(ConfigError, match=r"ends in \.onnx"):
        uw.wrap("weights.pt", toy)
    with pytest.raises(ConfigError, match="a checkpoint is of a network"):
        uw.wrap(lambda x: x[:, 0, 0], toy, checkpoint="weights.pt")


def test_a_transformer_of_scikit_learn_gets_flat_pixels(toy):
    images = toy.images(np.arange(100))
    flat = images.reshape(100, -1)
    fitted = PCA(4).fit(flat)
    model = uw.wrap(fitted, toy)
    np.testing.assert_allclose(model.encode(images), fitted.transform(flat), atol=1e-5)
    with pytest.raises(DataError, match="NotFittedError"):
        uw.wrap(PCA(4), toy)
    with pytest.raises(DataError, match="fitted to 100 numbers per image"):
        uw.wrap(PCA(4).fit(flat[:, :100]), toy)


@pytest.mark.parametrize("batch", ["any", "fixed"])
def test_an_onnx_file_gives_the_codes_of_the_network_it_was_made_of(toy, tmp_path, batch):
    module = GaussianEncoder().eval()
    path = tmp_path / "encoder.onnx"
    example = torch.zeros(3, 1, 32, 32)
    shapes = {"images": {0: torch.export.Dim("rows")}} if batch == "any" else None
    torch.onnx.export(
        module,
        (example,),
        path,
        input_names=["images"],
        output_names=["mean", "logvar"],
        dynamic_shapes=shapes,
        dynamo=True,
        verbose=False,
    )
    images = toy.images(np.arange(130))
    model = uw.wrap(path, toy)
    assert not model.notes
    with torch.no_grad():
        wanted = module(torch.from_numpy(images))
    for found, part in zip(model.posterior(images), wanted, strict=True):
        np.testing.assert_allclose(found, part.numpy(), atol=1e-4)
    (tmp_path / "broken.onnx").write_bytes(b"nothing")
    with pytest.raises(DataError, match="no readable ONNX file"):
        uw.wrap(tmp_path / "broken.onnx", toy)


def test_without_onnxruntime_the_message_says_what_to_install(toy, tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError, match=r"unweave\[onnx\]"):
        uw.wrap(tmp_path / "model.onnx", toy)


def test_checkpoints_are_loaded_by_name_and_never_unpickled(toy, tmp_path):
    trained = Encoder()
    nn.init.normal_(trained.head.weight)
    weights = trained.state_dict()
    torch.save({"state_dict": weights, "epoch": 3}, tmp_path / "nested.pt")
    torch.save({f"module.{name}": value for name, value in weights.items()}, tmp_path / "par.pt")
    save_file(weights, tmp_path / "plain.safetensors")
    images = toy.images([0, 1, 2])
    wanted = uw.wrap(trained, toy).encode(images)
    for name in ("nested.pt", "par.pt", "plain.safetensors"):
        found = uw.wrap(Encoder(), toy, checkpoint=tmp_path / name).encode(images)
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(DataError, match=r"not of this network: head\.weight has shape"):
        uw.wrap(Encoder(4), toy, checkpoint=tmp_path / "nested.pt")
    with pytest.raises(DataError, match=r"lacks weight.* and has body"):
        uw.wrap(nn.Conv2d(1, 1, 1, bias=False), toy, checkpoint=tmp_path / "nested.pt")
    torch.save(trained, tmp_path / "pickled.pt")
    with pytest.raises(ConfigError, match="holds no plain weights") as caught:
        uw.wrap(Encoder(), toy, checkpoint=tmp_path / "pickled.pt")
    assert str(caught.value).isprintable()  # no colours of torch's, no second line
    joblib.dump(weights, tmp_path / "weights.joblib")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ConfigError, DataError)) as caught:
            uw.wrap(Encoder(), toy, checkpoint=tmp_path / "weights.joblib")
    assert str(caught.value).isprintable()


SOURCE = """
import torch
from torch import nn

class Encoder(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.Linear(1024, 4))

def make():
    return Encoder()

network = Encoder()
flattened = network[0]
nothing = 3

def wrong(images):
    return "codes"
"""


def test_the_command_takes_networks_classes_and_makers(tmp_path, monkeypatch, capsys):
    (tmp_path / "seven_models.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rest = ["--data", DATA, "--metrics", "mig", "--preset", "fast"]
    for name in ("network", "Encoder", "make"):
        assert main(["evaluate", "--model", f"seven_models:{name}", *rest]) == 0
        assert "codes of 4, a table" in capsys.readouterr().out
        assert json.loads((tmp_path / "scores.fast.json").read_text())["mig"]["value"] >= 0
    import seven_models

    torch.save(seven_models.network.state_dict(), "weights.pt")
    words = ["evaluate", "--model", "seven_models:Encoder", "--checkpoint", "weights.pt", *rest]
    assert main(words) == 0
    for name, told in (
        ("wrong", "returned str for 4 images"),
        ("nothing", "found int"),
        ("network.lost", "has no 'network.lost'"),
    ):
        assert main(["evaluate", "--model", f"seven_models:{name}", *rest]) == 2
        error = capsys.readouterr().err.strip()
        assert told in error
        assert "\n" not in error


def test_a_wrapped_model_without_codes_says_why(toy):
    model = uw.wrap(
        None,
        toy,
        decode=lambda codes: np.zeros((len(codes), 1, 32, 32)),
        prior=lambda count, seed: np.zeros((count, 2)),
    )
    scores = workflows.evaluate(model, ["mig"])
    assert not scores
    assert "mig" in scores.reasons


def test_the_three_lines_of_the_readme_score_a_model(capsys):
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"<!-- three lines -->\n```python\n(.*?)```", text, re.DOTALL).group(1)
    assert lines.count("\n") == 3
    # A smaller data set and a fifth of the rows, so that the test takes seconds.
    lines = lines.replace('"dsprites"', '"toy_xys"').replace("(model)", '(model, preset="fast")')
    exec(lines, {"uw": uw, "encoder": Encoder()})
    printed = capsys.readouterr().out
    assert printed.startswith("| metric | score |")
    assert all(name in printed for name in ("mig", "dci (D)", "explicitness"))
