"""Tensors on disk as safetensors with a checksum: nothing is unpickled, damage is noticed."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_safetensors
from safetensors.torch import save as format_safetensors
from torch import Tensor

from unweave.errors import DataError, reason

ENTRY = "unweave"


def to_bytes(tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> bytes:
    """Format tensors and JSON-able facts as one safetensors file."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry only: the order of several is random, and equal runs are to give equal files.
    sealed = {"facts": dict(facts), "sha256": _digest(plain, facts)}
    return format_safetensors(plain, {ENTRY: json.dumps(sealed)})


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and facts of a file, or say that it is damaged."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        header_size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + header_size])
        sealed = json.loads(header["__metadata__"][ENTRY])
        tensors = parse_safetensors(content)
        if not isinstance(sealed["facts"], dict):
            raise DataError(f"{path} is damaged: expected facts by name")
        if sealed["sha256"] != _digest(tensors, sealed["facts"]):
            raise DataError(f"{path} is damaged: its checksum does not fit its content")
        return tensors, sealed["facts"]
    except DataError:
        raise
    except (SafetensorError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise DataError(f"{path} is damaged or not a safetensors file: {reason(error)}") from error


def misfit(found: Mapping[str, Tensor], needed: Mapping[str, Tensor]) -> str | None:
    """Say in a line how tensors differ from those needed in names, shapes or types, if they do.

    A checksum says only that a file is as it was written, not by whom: what is read is
    compared before any of it is used.
    """
    for names, word in (
        (needed.keys() - found.keys(), "is missing"),
        (found.keys() - needed.keys(), "is not among what is needed"),
    ):
        if names:
            others = f", and so are {len(names) - 1} others" if len(names) > 1 else ""
            return f"{min(names)!r:.100} {word}{others}"
    for name, tensor in needed.items():
        if (found[name].shape, found[name].dtype) != (tensor.shape, tensor.dtype):
            return f"{name!r:.100} is {_form(found[name])}; expected {_form(tensor)}"
    return None


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"


def _digest(tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
