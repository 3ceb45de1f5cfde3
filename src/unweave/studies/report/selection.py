"""Choose among the runs of a study without labels: UDR within arms, ModelCentrality across them."""

from typing import Any

import numpy as np

from unweave import runs
from unweave.evaluation.without_labels import RunModel, model_centrality, udr_of_runs
from unweave.runs.folder import RunFolder
from unweave.studies.define.expansion import Plan
from unweave.studies.define.papers import WITHOUT_LABELS
from unweave.studies.run.ledger import Ledger

UDR_ROWS = 1_000


def select(
    plan: Plan,
    ledger: Ledger,
    *,
    most_models: int = 24,
    groups: int = 20,
    size: int = 32,
) -> dict[str, dict[str, float]]:
    """Return the label-free scores of finished runs: {"udr": {run: …}, "udr_spearman": …, …}.

    ModelCentrality costs an encoding per pair of runs; of more than `most_models` runs
    on a data set, so many are taken at even distances.
    """
    found: dict[str, dict[str, float]] = {name: {} for name in WITHOUT_LABELS}
    done = [
        run
        for run in plan.runs
        if ledger.is_done(run.run_id)
        and RunFolder(ledger.run_path(run.run_id)).exists()  # not kept as a line of a table alone
        and run.config.method.codes_from == "images"
        and run.config.method.decodes
        and run.config.method.players
    ]
    for key, data in plan.data.items():
        here = [run for run in done if run.config.data_key == key]
        rows = np.random.default_rng(0).permutation(len(data))[:UDR_ROWS]
        images = data.images(np.sort(rows))
        arms: dict[str, list[Any]] = {}
        for run in here:
            arms.setdefault(run.arm, []).append(run)
        for alike in arms.values():
            if len(alike) >= 2:
                names = [run.run_id for run in alike]
                opened = [runs.load(ledger.run_path(name)) for name in names]
                for name, protocol in (("udr", "lasso"), ("udr_spearman", "spearman")):
                    scores = udr_of_runs(opened, images, protocol)
                    found[name] |= dict(zip(names, scores, strict=True))
        step = max(len(here) / most_models, 1.0)
        taken = [here[int(i * step)] for i in range(min(len(here), most_models))]
        if len(taken) >= 2:
            models = [RunModel(runs.load(ledger.run_path(r.run_id), data=data)) for r in taken]
            central = model_centrality(models, groups=groups, size=size)
            names = [run.run_id for run in taken]
            found["model_centrality"] |= dict(zip(names, central.scores.tolist(), strict=True))
    return found
