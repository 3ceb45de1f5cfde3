"""Make the stored run of this version: python tests/stored_runs/make.py

A folder is made once per format version and never changed afterwards; the test
shows that later versions still load it and give the codes noted beside it.
"""

import json
from pathlib import Path

import numpy as np

from unweave.data import load_data
from unweave.methods.beta_vae import BetaVAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.folder import FORMAT
from unweave.settings.schedules import Schedule
from unweave.training import loop


def main() -> None:
    data = load_data("toy_xys")
    config = Train(
        method=BetaVAE(latent_dim=2, beta=Schedule(0, 4, 100)),
        architecture=MLP64(hidden=4),
        data="toy_xys",
        steps=20,
    )
    folder = Path(__file__).parent / f"format{FORMAT}"
    run = loop.start(config, data, folder, Machine(evaluations=2))
    for superfluous in (".lock", "checkpoint.previous.safetensors"):
        (folder / superfluous).unlink(missing_ok=True)
    codes = run.encode(data.images(np.arange(4)))
    (folder / "codes.json").write_text(json.dumps(codes.tolist()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
