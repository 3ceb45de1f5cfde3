"""What the exercises share: a model trained once, and found again by the next exercise."""

from dataclasses import replace
from pathlib import Path

import unweave as uw
from unweave import recipes

QUIET = uw.Machine(evaluations=1)
BATCH = 128


def trained(method: uw.methods.Method, seed: int = 0, steps: int = 800) -> uw.Run:
    """Train a method on dSprites with the network and the rate of the recipe without poses."""
    recipe = recipes.without_pose()
    rate = replace(uw.Adam(2e-3), warmup_steps=min(200, steps), decay_steps=steps)
    name = f"{type(method).__name__}-beta{method.beta}-seed{seed}-{steps}".replace(":", "_")
    folder = Path("runs/exercises") / name
    if (folder / "networks.safetensors").is_file():
        return uw.load(folder)
    if (folder / "config.json").is_file():  # stopped on the way
        return uw.resume(folder, machine=QUIET, evaluate=False, progress=False)
    return uw.train(
        replace(method, optimizer=rate),
        "dsprites",
        steps=steps,
        batch_size=BATCH,
        seed=seed,
        architecture=recipe.architecture,
        out=folder,
        machine=QUIET,
        evaluate=False,
        progress=False,
    )


def mig(run: uw.Run, preset: str = "full") -> float:
    """Return the MIG of a run, computed once."""
    kept = run.scores.get("mig")
    if kept is None:
        return uw.evaluate(run, ["mig"], preset=preset)["mig"].value
    return kept["value"]


def elbo(run: uw.Run) -> float:
    """Return the evidence bound, in nats, of the last diagnostics of a run."""
    return [line for line in run.folder.record() if line.get("kind") == "diagnostics"][-1]["elbo"]
