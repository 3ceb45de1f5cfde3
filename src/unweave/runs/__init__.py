"""A run: its settings, its folder of plain files, and the model that was trained."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.runs.config import Machine as Machine
    from unweave.runs.config import Train as Train
    from unweave.runs.folder import RunFolder as RunFolder
    from unweave.runs.model import Model as Model
    from unweave.runs.run import Run as Run
    from unweave.runs.run import load as load
    from unweave.runs.wrapped import WrappedModel as WrappedModel
    from unweave.runs.wrapped import wrap as wrap

_PLACES = {
    "Machine": "config",
    "Model": "model",
    "Run": "run",
    "RunFolder": "folder",
    "Train": "config",
    "WrappedModel": "wrapped",
    "load": "run",
    "wrap": "wrapped",
}


def __getattr__(name: str) -> Any:
    # On first use: settings alone, which commands ask for first, need none of the others.
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PLACES)
