"""A run: its settings, its folder of plain files, and the model that was trained."""

from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.model import Model
from unweave.runs.run import Run, load
from unweave.runs.wrapped import WrappedModel, wrap

__all__ = ["Machine", "Model", "Run", "RunFolder", "Train", "WrappedModel", "load", "wrap"]
