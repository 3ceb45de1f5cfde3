"""A run: its settings, its folder of plain files, and the model that was trained."""

from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.models import Model, WrappedModel, wrap
from unweave.runs.run import Run, load

__all__ = ["Machine", "Model", "Run", "RunFolder", "Train", "WrappedModel", "load", "wrap"]
