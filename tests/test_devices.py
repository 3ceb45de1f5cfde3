"""Devices, threads, allocator, precision and memory layout."""

import ctypes
import resource
import subprocess
import sys
import types

import numpy as np
import pytest
import torch
from torch import nn

from unweave import devices
from unweave.errors import ConfigError
from unweave.networks import GaussianEncoder, Networks
from unweave.networks.conv_any import ConvAny

CPU = torch.device("cpu")


@pytest.fixture
def nets() -> Networks:
    torch.manual_seed(0)
    nets = Networks()
    architecture = ConvAny(channels=(6, 8), hidden=16)
    nets.encoder = GaussianEncoder(architecture.encoder((3, 16, 16), 8))
    nets.decoder = architecture.decoder(4, (3, 16, 16))
    return nets


@pytest.fixture
def own_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def pretend(monkeypatch, *, cuda: bool, mps: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(False, False, "cpu"), (False, True, "mps"), (True, False, "cuda"), (True, True, "cuda")],
)
def test_auto_takes_the_fastest_device_there_is(monkeypatch, cuda, mps, chosen):
    pretend(monkeypatch, cuda=cuda, mps=mps)
    assert devices.choose_device("auto").type == chosen
    assert devices.choose_device("cpu").type == "cpu"


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_missing_device_is_refused_with_what_there_is(monkeypatch, name):
    pretend(monkeypatch, cuda=False, mps=False)
    with pytest.raises(ConfigError, match=f"{name} is not available.*finds cpu.*--device auto"):
        devices.choose_device(name)


def test_a_mistyped_device_gets_a_suggestion():
    with pytest.raises(ConfigError, match="'cuda'"):
        devices.choose_device("cudaa")


def test_threads_are_set_or_left(own_threads):
    assert devices.use_threads(2) == 2
    assert torch.get_num_threads() == 2
    assert devices.use_threads(None) == 2
    for wrong in (0, -1):
        with pytest.raises(ConfigError, match=f"at least 1, found {wrong}"):
            devices.use_threads(wrong)
    assert torch.get_num_threads() == 2


MEASURE_FAULTS = """
import resource, sys, torch
from unweave.devices import tune_allocator
if sys.argv[1] == "tuned":
    assert tune_allocator() is True and tune_allocator() is True
def fill_blocks(count):
    for _ in range(count):
        torch.ones(40 * 2**20 // 4)
fill_blocks(20)  # the heap grows until the gaps between small objects are large enough
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
fill_blocks(10)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(
    not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")),
    reason="the allocator of glibc is the one that is tuned",
)
def test_tuned_allocator_keeps_large_blocks():
    faults = {
        how: int(subprocess.check_output([sys.executable, "-c", MEASURE_FAULTS, how], text=True))
        for how in ("tuned", "untuned")
    }
    pages = 40 * 2**20 // resource.getpagesize()
    assert faults["tuned"] < pages
    assert faults["untuned"] > 9 * pages


def test_tuning_asks_once_and_says_when_it_is_refused(monkeypatch):
    asked = []

    def mallopt(option: int, value: int) -> int:
        asked.append((option, value))
        return int(value < 2**30 or option == -1)  # as older glibc: no threshold of 1 GB

    library = types.SimpleNamespace(mallopt=mallopt)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(devices.sys, "platform", "linux")
    devices.tune_allocator.cache_clear()
    assert devices.tune_allocator() is True
    assert (-3, 2**30) in asked
    assert (-3, 32 * 2**20) in asked
    count = len(asked)
    assert devices.tune_allocator() is True
    assert len(asked) == count
    devices.tune_allocator.cache_clear()


@pytest.mark.parametrize(
    ("platform", "library"),
    [("linux", types.SimpleNamespace()), ("darwin", None), ("win32", None)],
)
def test_tuning_is_harmless_elsewhere(monkeypatch, platform, library):
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(devices.sys, "platform", platform)
    devices.tune_allocator.cache_clear()
    assert devices.tune_allocator() is False
    devices.tune_allocator.cache_clear()


def test_precision_reaches_products_and_only_those():
    layer = nn.Linear(4, 4)
    with devices.autocast(CPU, "bfloat16"):
        assert layer(torch.ones(1, 4)).dtype == torch.bfloat16
    with devices.autocast(CPU, "float32"):
        assert layer(torch.ones(1, 4)).dtype == torch.float32
    assert layer.weight.dtype == torch.float32


@pytest.mark.parametrize("wrong", ["float16", "bf16"])
def test_other_precisions_are_refused(wrong):
    with pytest.raises(ConfigError, match=wrong):
        devices.autocast(CPU, wrong)


def test_an_old_gpu_is_told_to_take_float32(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    with pytest.raises(ConfigError, match="float32"):
        devices.autocast(torch.device("cuda"), "bfloat16")


def test_placing_changes_the_layout_and_no_value(nets):
    images = torch.rand(4, 3, 16, 16)
    before = {name: value.clone() for name, value in nets.state_dict().items()}
    expected = nets.encoder(images).mean
    assert devices.place(nets, CPU) is nets
    after = nets.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    weight = nets.encoder.trunk[2].weight
    assert weight.is_contiguous(memory_format=torch.channels_last)
    assert not weight.is_contiguous()
    torch.testing.assert_close(nets.encoder(devices.place_images(images, CPU)).mean, expected)


def test_images_arrive_as_float32_in_channels_last_order():
    images = np.random.default_rng(0).random((5, 3, 8, 6))
    for given in (images, images[::-1], torch.from_numpy(images)):
        placed = devices.place_images(given, CPU)
        assert placed.dtype == torch.float32
        assert placed.is_contiguous(memory_format=torch.channels_last)
        np.testing.assert_array_equal(placed.numpy(), np.asarray(given, dtype=np.float32))


def test_integer_images_are_refused():
    with pytest.raises(TypeError, match="uint8"):
        devices.place_images(np.zeros((1, 1, 4, 4), np.uint8), CPU)


def test_compiled_networks_keep_names_and_values(nets, monkeypatch):
    images = torch.rand(4, 3, 16, 16)
    expected = nets.decoder(nets.encoder(images).mean)
    names = list(nets.state_dict())
    # The C++ compiler is left out: it takes half a minute and is not ours to test.
    compile_module = nn.Module.compile
    monkeypatch.setattr(
        nn.Module, "compile", lambda module: compile_module(module, backend="aot_eager")
    )
    devices.compile_networks(nets)
    assert nets.decoder._compiled_call_impl is not None
    actual = nets.decoder(nets.encoder(images).mean)
    torch.testing.assert_close(actual, expected)
    assert list(nets.state_dict()) == names


def test_compiling_without_a_compiler_is_refused(nets, monkeypatch):
    monkeypatch.setattr(devices.shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match=r"C\+\+ compiler"):
        devices.compile_networks(nets)


def test_determinism_is_asked_for_on_a_gpu_only(monkeypatch):
    asked = []
    monkeypatch.setattr(
        torch, "use_deterministic_algorithms", lambda mode, **settings: asked.append(mode)
    )
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    devices.use_determinism(CPU)
    assert asked == []
    devices.use_determinism(torch.device("cuda"))
    assert asked == [True]
    assert torch.backends.cudnn.benchmark is False
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")


def test_seeding_is_that_of_torch_without_its_stack_traces(monkeypatch):
    import traceback

    torch.manual_seed(2**62 + 5)
    expected = torch.randn(3)

    def refuse(*words, **more):
        raise AssertionError("a stack was traced")

    monkeypatch.setattr(traceback, "format_stack", refuse)
    devices.seed_generators(2**62 + 5, torch.device("cpu"))
    assert torch.equal(torch.randn(3), expected)
