"""Pictures on the way."""

from typing import Any

from unweave.figures import prior_samples, reconstructions, traversals
from unweave.runs.run import Run
from unweave.training.loop import Watcher


class Pictures(Watcher):
    """Traversals and reconstructions at every evaluation, so that progress can be seen."""

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        if not run.code.decodes:
            return
        folder = run.path / "figures" / "training"
        folder.mkdir(parents=True, exist_ok=True)
        traversals(run).save(folder / f"traversals-{step:07d}.png")
        if run.code.source == "images":
            reconstructions(run).save(folder / f"reconstructions-{step:07d}.png")
        else:
            prior_samples(run).save(folder / f"prior_samples-{step:07d}.png")
