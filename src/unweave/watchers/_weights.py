"""Networks on the way."""

from typing import Any

from unweave.runs.run import Run
from unweave.training.loop import Watcher


class Weights(Watcher):
    """Keeps the networks of every evaluation, as pictures are drawn of them."""

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        if run.folder is not None:
            run.folder.keep_weights(run.nets, step)
