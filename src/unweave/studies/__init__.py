"""Studies: methods × settings × seeds, run to the end and summed up with honest statistics."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.studies.define.definition import Study as Study
    from unweave.studies.define.definition import read_study as read_study

_PLACES = {"Study": "define.definition", "read_study": "define.definition"}


def __getattr__(name: str) -> Any:
    # Imported on first use: the runner's own processes need no torch until a run begins.
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
