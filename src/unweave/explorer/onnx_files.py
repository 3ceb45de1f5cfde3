"""The decoder and the encoder of a run as ONNX files, for a browser or another program."""

import contextlib
import copy
import logging
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.onnx import OnnxExporterError

from unweave.errors import ConfigError
from unweave.methods import Method
from unweave.networks import Networks
from unweave.runs.run import Run

_exporting = threading.Lock()  # torch's exporter keeps global state


class Decoder(nn.Module):
    """From codes to images in [0, 1], and nothing else of a run."""

    def __init__(self, method: Method, nets: Networks):
        super().__init__()
        self.method, self.nets = method, nets

    def forward(self, codes: Tensor) -> Tensor:
        return self.method.decode(self.nets, codes)


class Encoder(nn.Module):
    """From images in [0, 1] to codes, and nothing else of a run."""

    def __init__(self, method: Method, nets: Networks):
        super().__init__()
        self.method, self.nets = method, nets

    def forward(self, images: Tensor) -> Tensor:
        return self.method.encode(self.nets, images)


def decoder_to_onnx(run: Run) -> bytes:
    """Return the decoder as an ONNX file.

    It takes `codes` (batch, code) and gives `images` (batch, channel, height, width).
    The size of the batch is left open, unless the method reads it with `len`: then it is 1.
    """
    check_installed()
    run.code.require_decoder(run.kind)
    decoder = Decoder(run.config.method, _copied(run.nets)).eval()
    names = ("codes", "images")
    with _exporting, _quietly(), torch.no_grad():
        batch = ({0: torch.export.Dim("batch")},)
        content, takes_any = _export(decoder, torch.zeros(2, run.latent_dim), names, batch)
        if not takes_any:
            content, _ = _export(decoder, torch.zeros(1, run.latent_dim), names)
    return content


def encoder_to_onnx(run: Run, *, any_batch: bool = False) -> bytes:
    """Return the encoder as an ONNX file, from `images` to `codes`.

    It takes one row; with `any_batch` any number, unless the method reads it with `len`.
    """
    check_installed()
    run.code.require_codes_of_images(run.kind)
    encoder = Encoder(run.config.method, _copied(run.nets)).eval()
    names, takes_any, content = ("images", "codes"), False, b""
    with _exporting, _quietly(), torch.no_grad():
        try:
            if any_batch:
                batch = ({0: torch.export.Dim("batch")},)
                example = torch.zeros(2, *run.image_shape)
                content, takes_any = _export(encoder, example, names, batch)
            if not takes_any:
                content, _ = _export(encoder, torch.zeros(1, *run.image_shape), names)
        except OnnxExporterError as error:
            raise ConfigError(f"the encoder of {run.name} cannot be exported: {error}") from error
    return content


def _copied(nets: Networks) -> Networks:
    """Return a copy in plain memory order: the run may be in use meanwhile."""
    nets = copy.deepcopy(nets).cpu()
    nets.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    return nets


def check_installed() -> None:
    """Say what to install where an export is not possible."""
    try:
        import onnx
        import onnxscript
    except ImportError as error:
        raise ConfigError(
            f"exporting networks needs {error.name}: pip install 'unweave[explore]'"
        ) from None
    del onnx, onnxscript


def _export(
    network: nn.Module, example: Tensor, names: tuple[str, str], shapes: Any = None
) -> tuple[bytes, bool]:
    """Return the file, and whether the size of the batch was left open."""
    how = {"dynamo": True, "dynamic_shapes": shapes, "verbose": False}
    how |= {"input_names": [names[0]], "output_names": [names[1]]}
    try:
        program = torch.onnx.export(network, (example,), **how)
    except SystemError:
        # The exporter parses its own source. Where another thread parses Python in the same
        # moment, Python 3.11 may mistake one's depth for the other's; the next time it does not.
        program = torch.onnx.export(network, (example,), **how)
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
