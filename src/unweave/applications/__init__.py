"""What codes are good for: one file each, `unweave apply NAME`.

Every module without a leading underscore is an application: `Settings`, a frozen dataclass whose
fields are its flags, and `apply(model, settings)`, which returns numbers beside what they are to
be compared with, a paragraph with its caveats, and a figure. A model is a run, or one of the
user's own (`unweave.wrap`).
"""

import importlib
from types import ModuleType
from typing import Any

from unweave import catalog
from unweave.applications._applied import Applied, ResultTable
from unweave.applications._kept import FOLDER, Kept, keep, kept_by, kept_in, names
from unweave.errors import ConfigError
from unweave.runs.model import Model

__all__ = [
    "FOLDER",
    "Applied",
    "Kept",
    "ResultTable",
    "apply",
    "keep",
    "kept_by",
    "kept_in",
    "load",
    "names",
    "spelled",
]


def load(name: str) -> ModuleType:
    """Import an application by its name, in which - and _ are the same."""
    name = name.replace("-", "_")
    catalog.check_name(name, names(), "application")
    return importlib.import_module(f"{__name__}.{name}")


def spelled(name: str) -> str:
    """Return how an application is written on the command line."""
    return name.replace("_", "-")


def apply(name: str, model: Model, **settings: Any) -> Applied:
    """Apply a model to something: `apply("fairness", run, sensitive="side")`."""
    module = load(name)
    try:
        wanted = module.Settings(**settings)
    except TypeError as error:
        raise ConfigError(f"{spelled(name)}: {error}") from None
    applied: Applied = module.apply(model, wanted)
    return applied
