"""Where and how numbers are computed: device, threads, allocator, precision, memory layout.

Nothing here changes what is computed beyond rounding; `benchmarks/training.py`
shows what each choice gains.
"""

import ctypes
import functools
import os
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from unweave import catalog
from unweave.errors import ConfigError
from unweave.tensors import Images

DeviceName = Literal["auto", "cpu", "cuda", "mps"]

# No float16: its gradients vanish below 6e-8 unless the loss is scaled, step by step, by a
# factor that would belong to the state of every player. bfloat16 has the range of float32.
Precision = Literal["float32", "bfloat16"]


def choose_device(name: str = "auto") -> torch.device:
    """Return the device of that name; `auto` takes the first of cuda, mps, cpu that is there."""
    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return torch.device(next(kind for kind, there in available.items() if there))
    if name not in available:
        raise ConfigError(f"device {name!r}? {catalog.suggestion(name, ['auto', *available])}")
    if not available[name]:
        there = ", ".join(kind for kind, is_there in available.items() if is_there)
        raise ConfigError(
            f"device {name} is not available: this torch ({torch.__version__}) finds {there}. "
            f"Take --device auto, or install a torch made for {name}"
        )
    return torch.device(name)


@functools.cache
def tune_allocator() -> bool:
    """Let the C library keep large blocks for the next step; return whether it does.

    By default glibc maps every block above a threshold (at most 32 MB) from the
    system and gives it back when freed. Activations are such blocks: each step
    faults them in again page by page, over 20,000 faults per step of conv64 at
    batch 64. Kept blocks are reused; the price is that memory once used stays
    with the process.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is None:
        return False
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    # Numbers of the options, from malloc.h.
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3
    gigabyte, megabyte = 2**30, 2**20
    # Older glibc refuses thresholds above 32 MB, and then keeps blocks up to those.
    keeps_blocks = mallopt(mmap_threshold, gigabyte) or mallopt(mmap_threshold, 32 * megabyte)
    returns_rarely = mallopt(trim_threshold, 2**31 - 1)
    grows_in_strides = mallopt(top_pad, 64 * megabyte)
    return bool(keeps_blocks and returns_rarely and grows_in_strides)


def use_threads(threads: int | None) -> int:
    """Compute with so many threads, or as many as torch chose; return how many."""
    if threads is not None:
        if threads < 1:
            raise ConfigError(f"threads: expected at least 1, found {threads}")
        torch.set_num_threads(threads)
    return torch.get_num_threads()


def use_determinism(device: torch.device) -> None:
    """Make the same seed give the same numbers on a GPU; the CPU's kernels do so anyway."""
    if device.type != "cuda":
        return
    # cuBLAS reads this when its first handle is made.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)


def seed_generators(seed: int, device: torch.device) -> None:
    """Seed what networks on a device draw from, as `torch.manual_seed` does.

    That also notes the seed for every kind of device that is not there, each time with a
    stack trace, which takes longer than a small step of training.
    """
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed_all(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)


def what_decides_bits(device: torch.device, *, compiled: bool) -> dict[str, Any]:
    """Return what the last bits of numbers depend on, beyond what is computed."""
    processor = torch.backends.cpu.get_cpu_capability()
    if device.type == "cuda":
        processor = torch.cuda.get_device_name(device)
    return {
        "device": device.type,
        "processor": processor,
        "threads": torch.get_num_threads(),
        "compile": compiled,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "mkldnn": torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled,
        "torch": torch.__version__,
    }


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Return the context in which networks compute with that precision; weights stay float32."""
    if precision == "float32":
        return nullcontext()
    if precision != "bfloat16":
        raise ConfigError(
            f"precision {precision!r}? {catalog.suggestion(precision, ['float32', 'bfloat16'])}"
        )
    if device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise ConfigError("precision bfloat16 is not supported by this GPU; take float32")
    return torch.autocast(device.type, dtype=torch.bfloat16)


def place(nets: nn.Module, device: torch.device) -> nn.Module:
    """Move networks to the device, in the memory layout its convolutions are fastest in.

    Values, names and shapes stay; strides of convolution weights may not be the
    usual ones afterwards, so call `.contiguous()` where a file format wants that.
    """
    return nets.to(device=device).to(memory_format=_layout(device))  # type: ignore[call-overload]


def place_images(images: np.ndarray | Tensor, device: torch.device) -> Images:
    """Move images in [0, 1] to the device, as float32 in the layout of `place`."""
    if isinstance(images, np.ndarray):
        images = torch.from_numpy(np.ascontiguousarray(images))
    if not images.is_floating_point():
        raise TypeError(f"images must be floating-point numbers in [0, 1], found {images.dtype}")
    layout = _layout(device)
    images = images.to(device=device, dtype=torch.float32).contiguous(memory_format=layout)
    _, channels, height, width = images.shape
    if channels == 1 and layout == torch.channels_last:
        # With one channel both layouts are the same numbers in the same order. Only these
        # strides tell the library, whose gradient kernels are then four times as fast.
        images = images.as_strided(images.shape, (height * width, 1, width, 1))
    return images


def place_batch(tensor: Tensor, device: torch.device) -> Tensor:
    """Move one tensor of a batch to the device; images in the layout of `place`."""
    if tensor.ndim == 4 and tensor.is_floating_point():
        return place_images(tensor, device)
    return tensor.to(device)


def can_compile(device: torch.device) -> bool:
    """Return whether networks can be compiled for a device: the CPU needs a C++ compiler."""
    compilers = [os.environ.get("CXX", ""), "g++", "clang++", "cl"]
    return device.type != "cpu" or any(shutil.which(name) for name in compilers if name)


def compile_networks(nets: nn.Module) -> None:
    """Compile each network in place at its first use; names of weights stay as they are."""
    for device in {parameter.device for parameter in nets.parameters()}:
        if not can_compile(device):
            raise ConfigError(
                "compiling networks for the CPU needs a C++ compiler: install g++ or clang, "
                "name one in CXX, or train without --compile"
            )
    for network in nets.children():
        network.compile()


def _layout(device: torch.device) -> torch.memory_format:
    # Metal kernels copy channels-last tensors to their own order first.
    return torch.contiguous_format if device.type == "mps" else torch.channels_last
