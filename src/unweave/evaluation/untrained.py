"""The networks of a run before any training, which every code is to be compared with."""

from dataclasses import replace

import torch

from unweave.networks import architecture_for
from unweave.runs.model import Model
from unweave.runs.run import Run


def untrained_twin(model: Model, seed: int) -> Run | None:
    """Return the same networks with fresh weights; None of a model whose networks are not ours."""
    if not isinstance(model, Run) or model.code.source != "images":
        return None
    architecture = model.config.architecture or architecture_for(model.summary.image_shape)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        nets = model.config.method.networks(architecture, model.summary)
    config = replace(model.config, seed=seed)
    return Run(config, model.summary, nets, step=0, data=model.data)
