"""A run as it was on its way, by the weights that were kept then."""

import copy
from functools import cached_property

from unweave.data import FactorImages
from unweave.errors import DataError
from unweave.files import tensor_files
from unweave.networks import Networks
from unweave.runs.run import Run


class EarlierRun(Run):
    """A run at a step before its newest.

    Data and names of latents are the run's. Scores are not: those that its folder keeps are of
    other weights, so this one lives in memory and what is computed of it is not kept.
    """

    def __init__(self, run: Run, nets: Networks, step: int):
        super().__init__(run.config, run.summary, nets, step=step)
        self.whole = run

    @cached_property
    def data(self) -> FactorImages:
        return self.whole.data

    @property
    def name(self) -> str:
        return f"{self.whole.name} at step {self.step:,}"

    @property
    def latent_names(self) -> dict[int, str]:
        return self.whole.latent_names

    def name_latent(self, latent: int, name: str) -> None:
        self.whole.name_latent(latent, name)


def at_step(run: Run, step: int) -> Run:
    """Return a run with the weights of a step, which are the newest or were kept on the way."""
    if step == run.step:
        return run
    kept = {} if run.folder is None else run.folder.kept_weights()
    if step not in kept:
        steps = ", ".join(f"{known:,}" for known in kept)
        has = f"it keeps those of steps {steps}" if kept else "train with --keep-weights for them"
        raise DataError(f"{run.name} keeps no weights of step {step:,}; {has}")
    tensors, _ = tensor_files.read(kept[step])
    if problem := tensor_files.misfit(tensors, run.nets.state_dict()):
        raise DataError(f"{kept[step]}: the stored networks do not fit the settings: {problem}")
    nets = copy.deepcopy(run.nets)
    nets.load_state_dict(tensors)
    return EarlierRun(run, nets, step)
