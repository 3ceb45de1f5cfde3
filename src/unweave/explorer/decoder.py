"""The decoder of a run as ONNX, for a browser to evaluate."""

import contextlib
import copy
import logging
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import ConfigError
from unweave.methods import Method
from unweave.networks import Networks
from unweave.runs import Run

_exporting = threading.Lock()  # torch's exporter keeps global state


class Decoder(nn.Module):
    """From codes to images in [0, 1], and nothing else of a run."""

    def __init__(self, method: Method, nets: Networks):
        super().__init__()
        self.method, self.nets = method, nets

    def forward(self, codes: Tensor) -> Tensor:
        return self.method.decode(self.nets, codes)


def to_onnx(run: Run) -> bytes:
    """Return the decoder as an ONNX file.

    It takes `codes` (batch, code) and gives `images` (batch, channel, height, width).
    The size of the batch is left open, unless the method reads it with `len`: then it is 1.
    """
    check_installed()
    if not run.has_decoder:
        raise ConfigError(f"{run.name} has no decoder: it makes no images of codes")
    # A copy, since the run may be in use meanwhile.
    nets = copy.deepcopy(run.nets).cpu()
    nets.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    decoder = Decoder(run.config.method, nets).eval()
    with _exporting, _quietly(), torch.no_grad():
        content, takes_any = _export(decoder, run.latent_dim, ({0: torch.export.Dim("batch")},))
        if not takes_any:
            content, _ = _export(decoder, run.latent_dim, None)
    return content


def check_installed() -> None:
    """Say what to install where an export is not possible."""
    try:
        import onnx
        import onnxscript
    except ImportError as error:
        raise ConfigError(
            f"exporting a decoder needs {error.name}: pip install 'unweave[explore]'"
        ) from None
    del onnx, onnxscript


def _export(decoder: nn.Module, latent_dim: int, shapes: Any) -> tuple[bytes, bool]:
    """Return the file, and whether the size of the batch was left open."""
    program = torch.onnx.export(
        decoder,
        (torch.zeros(2 if shapes else 1, latent_dim),),
        dynamo=True,
        dynamic_shapes=shapes,
        input_names=["codes"],
        output_names=["images"],
        verbose=False,
    )
    assert program is not None
    model = program.model_proto
    sizes = [
        value.type.tensor_type.shape.dim[0]
        for value in (model.graph.input[0], model.graph.output[0])
    ]
    return model.SerializeToString(), all(size.dim_param for size in sizes)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep the exporter's remarks about itself from the user's terminal."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
