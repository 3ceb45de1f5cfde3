"""Checkpoints that somebody made up: refused in a line, before anything of them is used.

The seal is a plain checksum that anyone can compute, so that these are whole files.
"""

import shutil
import subprocess
import sys

import pytest
import torch

from unweave import runs
from unweave.errors import DataError
from unweave.files import tensor_files
from unweave.runs.folder import RunFolder
from unweave.training import loop

STATE = "optimizers.autoencoder.0."
WEIGHT = "networks.encoder.trunk.0.weight"


def without(*names):
    return lambda tensors: {k: v for k, v in tensors.items() if k not in names}


def with_tensor(name, make):
    """Change a tensor, by default one of the optimizer."""
    return lambda tensors: tensors | {name: make(tensors[name])}


FORGERIES = {
    "a short mean": (with_tensor(f"{STATE}exp_avg", lambda t: t.flatten()[:1]), "of shape"),
    "an empty mean": (with_tensor(f"{STATE}exp_avg", lambda t: t[:0]), "of shape"),
    "a long square": (with_tensor(f"{STATE}exp_avg_sq", lambda t: torch.zeros(10**5)), "shape"),
    "no square": (without(f"{STATE}exp_avg_sq"), "exp_avg_sq' is missing"),
    "no count": (without(f"{STATE}step"), "step' is missing"),
    "a vector of counts": (with_tensor(f"{STATE}step", lambda t: t.repeat(3)), "of shape (3,)"),
    "a negative count": (with_tensor(f"{STATE}step", lambda t: t * 0 - 7), "-7.0; expected how"),
    "half a step": (with_tensor(f"{STATE}step", lambda t: t * 0 + 0.5), "0.5; expected how"),
    "a count that is none": (with_tensor(f"{STATE}step", lambda t: t * float("nan")), "nan"),
    "doubles": (with_tensor(f"{STATE}exp_avg", lambda t: t.double()), "float64"),
    "bytes": (with_tensor(f"{STATE}exp_avg_sq", lambda t: t.to(torch.uint8)), "uint8"),
    "another weight": (with_tensor(WEIGHT, lambda t: t[:1]), "of shape"),
    "a weight of bytes": (with_tensor(WEIGHT, lambda t: t.to(torch.uint8)), "uint8"),
    "a weight too few": (without(WEIGHT), "is missing"),
    "one too many": (lambda t: t | {"networks.x\ny": torch.zeros(1)}, "not among what is needed"),
    "an unknown player": (lambda t: t | {"optimizers.nobody.0.step": torch.zeros(())}, "nobody"),
    "a weight number 10^9": (
        lambda t: t | {"optimizers.autoencoder.999999999.step": torch.zeros(())},
        "999999999",
    ),
}
FACTS = [{}, {"step": -1}, {"step": "3"}, {"step": 2.5}, {"step": True}, {"step": None}]

RESUME_ALL = """
import sys
from pathlib import Path
from unweave.cli import main
for folder in sorted(Path(sys.argv[1]).iterdir()):
    print("===", folder.name, file=sys.stderr, flush=True)
    code = main(["resume", str(folder), "--steps", "5", "--no-evaluation"])
    assert code == 2, f"{folder}: {code}"
"""


@pytest.fixture
def forge(tiny_run, tmp_path):
    """Write a run whose only checkpoint is a forgery with a seal that fits."""
    source = tiny_run("beta_vae").path
    tensors, facts = tensor_files.read(RunFolder(source).checkpoint_file)

    def write(name, change=lambda tensors: tensors, facts=facts) -> RunFolder:
        folder = RunFolder(shutil.copytree(source, tmp_path / "forged" / name))
        folder.previous_checkpoint_file.unlink(missing_ok=True)
        folder.networks_file.unlink()
        folder.checkpoint_file.write_bytes(tensor_files.to_bytes(change(dict(tensors)), facts))
        return folder

    return write


def test_no_forgery_ends_the_process_and_each_is_named_in_a_line(forge, tmp_path):
    """In a process of its own: fused optimizers would read past the end of such states."""
    for name, (change, _) in FORGERIES.items():
        forge(name, change)
    done = subprocess.run(
        [sys.executable, "-c", RESUME_ALL, str(tmp_path / "forged")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr[-2000:]}"
    told = dict(part.split("\n", 1) for part in done.stderr.split("=== ")[1:])
    assert told.keys() == FORGERIES.keys()
    for name, (_, words) in FORGERIES.items():
        (line,) = [line for line in told[name].splitlines() if line]
        assert line.startswith("error: "), line
        if name == "an empty mean" and "both buffer length (0) and count" in line:
            continue  # older versions of safetensors cannot read a tensor without numbers
        assert "does not fit the settings" in line
        assert words in line


def test_the_seal_alone_is_no_forgery(forge, toy):
    assert loop.resume(forge("same").path, toy, steps=5).step == 5


@pytest.mark.parametrize("facts", FACTS, ids=str)
def test_a_checkpoint_without_a_step_is_damaged(forge, toy, facts):
    folder = forge("run", facts=facts)
    with pytest.raises(DataError, match=r"expected a step of 0 or more, found [^\n]*$"):
        loop.resume(folder.path, toy, steps=5)
    with pytest.raises(DataError, match="expected a step of 0 or more"):
        runs.load(folder.path)


def test_trained_networks_are_compared_before_they_are_used(tiny_run, tmp_path):
    folder = RunFolder(shutil.copytree(tiny_run("beta_vae").path, tmp_path / "run"))
    tensors, facts = tensor_files.read(folder.networks_file)
    name = WEIGHT.removeprefix("networks.")
    for changed in (
        tensors | {name: tensors[name].to(torch.uint8)},
        tensors | {name: tensors[name][:1]},
        {k: v for k, v in tensors.items() if k != name},
        tensors | {"averages/encoder.more": torch.zeros(1)},
    ):
        folder.networks_file.write_bytes(tensor_files.to_bytes(changed, facts))
        with pytest.raises(DataError, match=r"^[^\n]*do not fit the settings: [^\n]*$"):
            runs.load(folder.path)
    folder.networks_file.write_bytes(tensor_files.to_bytes(tensors, {"step": -3}))
    with pytest.raises(DataError, match="expected a step"):
        runs.load(folder.path)
