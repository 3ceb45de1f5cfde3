"""Make the stored runs of this version: python tests/stored_runs/make.py

A folder is made once per format of run folders and never changed afterwards; the tests
show that later versions still load its runs, go on with them and report on them.
"""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np

from unweave.data import load_data
from unweave.methods import method_named
from unweave.networks.conv_any import ConvAny
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import FORMAT
from unweave.settings.schedules import Schedule
from unweave.training import loop

MORE_STEPS = 3
QUIET = Machine(evaluations=1, threads=1)
METHODS = {
    "beta_vae": {"latent_dim": 2, "beta": Schedule(0, 4, 100)},
    "factor_vae": {"latent_dim": 2, "discriminator_width": 4, "discriminator_depth": 1},
    "m2": {"latent_dim": 2, "labels": 20, "hidden": 4},
    "info_gan": {
        "latent_dim": 1,
        "categories": (3,),
        "noise_dim": 2,
        "discriminator_width": 4,
    },
    "semi_supervised+beta_vae": {"latent_dim": 3, "labels": 20},
    "ground_truth": {},
}
"""One player and several, labels, a generator, one method around another, rows as codes."""
NETWORKS = {"info_gan": ConvAny(channels=(2, 2), hidden=4)}


def main() -> None:
    data = load_data("toy_xys")
    for name, settings in METHODS.items():
        config = Train(
            method=method_named(name)(**settings),
            architecture=NETWORKS.get(name, MLP64(hidden=2)),
            data="toy_xys",
            steps=6,
            batch_size=8,
        )
        folder = Path(__file__).parent / f"format{FORMAT}" / name.replace("+", "_of_")
        run = loop.start(config, data, folder, QUIET)
        for superfluous in (".lock", "checkpoint.previous.safetensors"):
            (folder / superfluous).unlink(missing_ok=True)
        shutil.rmtree(folder / "figures", ignore_errors=True)
        with tempfile.TemporaryDirectory() as place:
            copy = shutil.copytree(folder, Path(place) / "run")
            longer = loop.resume(copy, data, QUIET, steps=config.steps + MORE_STEPS)
        codes = {
            "codes": run.encode_rows(np.arange(4)).tolist(),
            "after_more_steps": longer.encode_rows(np.arange(4)).tolist(),
        }
        (folder / "codes.json").write_text(json.dumps(codes) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
