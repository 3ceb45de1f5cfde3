"""Models as people have them, made functions from arrays to whatever they return.

A network of torch is put into evaluation mode for each call and back afterwards; nothing of it
is changed. Whether a function takes arrays or tensors is found out by calling it with both.
scikit-learn's transformers get flat pixels, ONNX files are run by onnxruntime.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from unweave.errors import ConfigError, DataError, first_line
from unweave.runs.returned import describe

Form = Literal["arrays", "tensors"]
FEW = 4
"""Rows that a function is tried with."""

Reader = Callable[[Any, int], list[np.ndarray]]
"""Read what was returned for so many rows; DataError if it is nothing that was expected."""


class GivenFunction:
    """A function of arrays, or of tensors on the device of a network, called with arrays."""

    def __init__(
        self,
        function: Callable[..., Any],
        who: str,
        reads: Reader,
        *,
        module: nn.Module | None = None,
        takes: Form | None = None,
        prepare: Callable[[Tensor], Tensor] | None = None,
    ):
        self.function, self.who, self.reads = function, who, reads
        self.module, self.prepare = module, prepare
        self.takes: Form | None = takes or _annotated(function)

    def __call__(self, *arrays: np.ndarray) -> Any:
        if self.takes is None:
            self.takes = self._find_out([array[:FEW] for array in arrays])
        try:
            return self._call(self.takes, arrays)
        except Exception as error:
            raise self._failed({self.takes: error}, arrays[0].shape) from error

    def _find_out(self, arrays: list[np.ndarray]) -> Form:
        """Call it with arrays and with tensors; where both work they must agree."""
        read: dict[Form, list[np.ndarray]] = {}
        failed: dict[str, Exception] = {}
        forms: tuple[Form, Form] = ("arrays", "tensors")
        for form in forms:
            try:
                with warnings.catch_warnings():  # of what it was not made for
                    warnings.simplefilter("ignore")
                    read[form] = self.reads(self._call(form, arrays), len(arrays[0]))
            except Exception as error:
                failed[form] = error
        if len(read) == 1:
            return next(iter(read))
        if not read:
            for failure in failed.values():
                if isinstance(failure, DataError):  # it was called, and returned something else
                    raise failure
            raise self._failed(failed, arrays[0].shape) from failed["arrays"]
        if not all(map(are_finite, read.values())) or self._draws(arrays, read["arrays"]):
            return self._usual()  # which of them it was made for, its numbers cannot tell
        if not same_numbers(read["arrays"], read["tensors"]):
            raise ConfigError(
                f"{self.who} takes arrays and tensors but returns other numbers for each; say "
                'which it is made for: takes="arrays" or takes="tensors" (--takes)'
            )
        return self._usual()

    def _usual(self) -> Form:
        """Return what it gets where it takes both."""
        return "arrays" if self.module is None else "tensors"

    def _draws(self, arrays: list[np.ndarray], before: list[np.ndarray]) -> bool:
        """Say whether it returns other numbers for the same arrays than the first time."""
        again = self.reads(self._call("arrays", arrays), len(arrays[0]))
        return not same_numbers(before, again)

    def _call(self, form: Form, arrays: Any) -> Any:
        # Copies, so that a function that works in place does not change our images.
        inputs = [np.array(array, dtype=np.float32) for array in arrays]
        with torch.no_grad(), _still(self.module):
            if form == "arrays":
                return self.function(*inputs)
            return self.function(*(self._tensor(array) for array in inputs))

    def _tensor(self, array: np.ndarray) -> Tensor:
        device, dtype = _place_of(self.module)
        tensor = torch.from_numpy(array).to(device)
        if self.prepare is not None:
            tensor = self.prepare(tensor)
        return tensor.to(dtype)

    def _failed(self, errors: dict[str, Exception], shape: tuple[int, ...]) -> DataError:
        told = "; ".join(
            f"{form}: {type(failure).__name__}: {first_line(failure)}"
            for form, failure in errors.items()
        )
        return DataError(f"{self.who} failed on {tuple(shape)}, given {told}")


def given_function(
    given: Any, who: str, reads: Reader, takes: Form | None = None
) -> Callable[..., Any]:
    """Return a function from arrays to what a network, function, transformer or file returns."""
    if isinstance(given, str | Path):
        if Path(given).suffix.lower() != ".onnx":
            raise ConfigError(f"{who}: expected a path that ends in .onnx, found {given}")
        return OnnxFile(Path(given))
    if isinstance(given, nn.Module):
        return _of_module(given, who, reads, takes)
    owner = getattr(given, "__self__", None)
    if isinstance(owner, nn.Module):
        return GivenFunction(given, who, reads, module=owner, takes=takes)
    if not callable(given) and callable(getattr(given, "transform", None)):
        return _of_transformer(given, who)
    if not callable(given):
        raise ConfigError(
            f"{who}: expected a network, a function from images to codes, an object with encode "
            f"or transform, or an .onnx file; found {describe(given)}"
        )
    return GivenFunction(given, who, reads, takes=takes)


def is_module(given: Any) -> bool:
    """Say whether this is a network of torch."""
    return isinstance(given, nn.Module)


def are_finite(arrays: list[np.ndarray]) -> bool:
    """Say whether numbers are neither infinite nor missing."""
    return all(bool(np.isfinite(array).all()) for array in arrays)


def same_numbers(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    """Say whether finite numbers agree as far as rounding lets them, relative to their spread."""
    if [array.shape for array in first] != [array.shape for array in second]:
        return False
    for one, other in zip(first, second, strict=True):
        scale = float(np.abs(one).max(initial=0.0)) or 1.0
        if not np.allclose(one, other, rtol=1e-3, atol=1e-4 * scale):
            return False
    return True


def _of_module(
    module: nn.Module, who: str, reads: Reader, takes: Form | None
) -> Callable[..., Any]:
    """Choose what of a network gives codes: encode, image features, what is before its head."""
    prepare = _preparation(module)
    for name in ("encode", "get_image_features"):
        if callable(method := getattr(module, name, None)):
            place = f"{who}.{name}"
            return GivenFunction(method, place, reads, module=module, takes=takes, prepare=prepare)
    features, head = (getattr(module, n, None) for n in ("forward_features", "forward_head"))
    if callable(features) and callable(head):
        return GivenFunction(
            lambda images: head(features(images), pre_logits=True),
            f"{who}.forward_head(forward_features(images), pre_logits=True)",
            reads,
            module=module,
            takes="tensors",
            prepare=prepare,
        )
    return GivenFunction(
        module, who, reads, module=module, takes=takes or "tensors", prepare=prepare
    )


def _of_transformer(transformer: Any, who: str) -> Callable[..., Any]:
    def transform(images: np.ndarray) -> Any:
        flat = np.array(images, dtype=np.float32).reshape(len(images), -1)
        expected = getattr(transformer, "n_features_in_", flat.shape[1])
        if expected != flat.shape[1]:
            raise DataError(
                f"{who} was fitted to {expected} numbers per image; images of shape "
                f"{images.shape[1:]} have {flat.shape[1]}"
            )
        try:
            return transformer.transform(flat)
        except Exception as error:
            raise DataError(
                f"{who}.transform failed on {flat.shape}: {type(error).__name__}: "
                f"{first_line(error)}"
            ) from error

    return transform


class OnnxFile:
    """A network in an ONNX file, with one input: images."""

    def __init__(self, path: Path):
        self.path = path
        if not path.is_file():
            raise DataError(f"no file at {path}. Check the path.")
        try:
            import onnxruntime
        except ImportError as error:
            raise ConfigError(
                "running an ONNX file needs onnxruntime: pip install 'unweave[onnx]'"
            ) from error
        try:
            self.session = onnxruntime.InferenceSession(
                str(path), providers=onnxruntime.get_available_providers()
            )
        except Exception as error:
            raise DataError(f"{path} is no readable ONNX file ({first_line(error)})") from error
        inputs = self.session.get_inputs()
        if len(inputs) != 1:
            names = ", ".join(entry.name for entry in inputs)
            raise DataError(f"{path} has {len(inputs)} inputs ({names}); expected images alone")
        self.input = inputs[0]
        kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64}
        self.dtype = (kinds | {"tensor(float16)": np.float16}).get(self.input.type)
        if self.dtype is None:
            raise DataError(f"{path} takes {self.input.type}; expected images of floats")

    def __call__(self, images: np.ndarray) -> Any:
        rows = self.input.shape[0] if self.input.shape else None
        if not isinstance(rows, int) or rows < 1:
            return self._run(images)
        # A file made for so many images at once gets that many, the last part filled up.
        found: list[list[np.ndarray]] = []
        for start in range(0, len(images), rows):
            part = images[start : start + rows]
            short = rows - len(part)
            full = np.concatenate([part, np.repeat(part[-1:], short, axis=0)]) if short else part
            found.append([output[: len(part)] for output in self._outputs(full)])
        return self._named([np.concatenate(parts) for parts in zip(*found, strict=True)])

    def _run(self, images: np.ndarray) -> Any:
        return self._named(self._outputs(images))

    def _named(self, outputs: list[np.ndarray]) -> Any:
        names = [entry.name for entry in self.session.get_outputs()]
        if len(outputs) == 1:
            return outputs[0]
        return dict(zip(names, outputs, strict=True))

    def _outputs(self, images: np.ndarray) -> list[np.ndarray]:
        try:
            outputs: list[np.ndarray] = self.session.run(
                None, {self.input.name: images.astype(self.dtype)}
            )
        except Exception as error:
            raise DataError(
                f"{self.path} failed on images {images.shape}; its input is {self.input.shape}: "
                f"{first_line(error)}"
            ) from error
        return outputs


@contextmanager
def _still(module: nn.Module | None) -> Iterator[None]:
    """Put a network into evaluation mode, and every part of it back into the mode it was in."""
    if module is None:
        yield
        return
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _place_of(module: nn.Module | None) -> tuple[torch.device, torch.dtype]:
    """Return where a network's numbers are, and of which precision."""
    if module is not None:
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point():
                return tensor.device, tensor.dtype
    return torch.device("cpu"), torch.float32


def _preparation(module: nn.Module) -> Callable[[Tensor], Tensor] | None:
    """Return what brings images to the channels, size and scale that a network says it takes.

    timm's models say all of it in `pretrained_cfg`; Hugging Face's say channels and size in
    `config`, and get pixels in [0, 1].
    """
    timm = getattr(module, "pretrained_cfg", None) or getattr(module, "default_cfg", None)
    config = getattr(module, "config", None)
    config = getattr(config, "vision_config", config)
    mean = std = None
    if _entry(timm, "input_size") is not None:
        channels, *size = _entry(timm, "input_size")
        mean, std = _entry(timm, "mean"), _entry(timm, "std")
    elif isinstance(_entry(config, "num_channels"), int):
        channels, found = _entry(config, "num_channels"), _entry(config, "image_size")
        size = [found, found] if isinstance(found, int) else list(found or ())
    else:
        return None

    def prepare(images: Tensor) -> Tensor:
        if images.ndim != 4:
            return images
        if images.shape[1] == 1 and channels == 3:
            images = images.expand(-1, 3, -1, -1)
        if len(size) == 2 and tuple(images.shape[2:]) != tuple(size):
            images = nn.functional.interpolate(
                images, size=tuple(size), mode="bilinear", antialias=True
            )
        if mean is not None and std is not None and len(mean) == images.shape[1]:
            shift, scale = (images.new_tensor(v).view(1, -1, 1, 1) for v in (mean, std))
            images = (images - shift) / scale
        return images

    return prepare


def _entry(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _annotated(function: Callable[..., Any]) -> Form | None:
    """Return what the first parameter is annotated to be, if it is."""
    if isinstance(function, nn.Module):
        return None
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    noted = str(parameters[0].annotation) if parameters else ""
    if "Tensor" in noted:
        return None if "ndarray" in noted else "tensors"
    return "arrays" if "ndarray" in noted or "NDArray" in noted else None
