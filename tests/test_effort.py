"""How long a run was trained, and on what."""

import json

import pytest

from unweave import workflows
from unweave.errors import DataError
from unweave.methods.vae import VAE
from unweave.report.making import effort_words
from unweave.runs import effort
from unweave.runs.config import Machine
from unweave.runs.effort import Sitting, read_sittings

TINY = Machine(evaluations=1, threads=1)
ONE = Sitting(0, 10, 100.0, 150.0, "A Chip", 4, 2, "cpu")


def test_every_sitting_of_a_run_is_kept(toy, tmp_path):
    folder = tmp_path / "run"
    how = {"machine": TINY, "evaluate": False, "progress": False}
    run = workflows.train(VAE(latent_dim=2), toy, steps=2, batch_size=4, out=folder, **how)
    (first,) = read_sittings(run.path)
    assert (first.first_step, first.last_step, first.threads) == (0, 2, 1)
    assert first.seconds > 0
    assert first.cpu_seconds > 0
    assert first.processor
    workflows.resume(folder, data=toy, steps=3, **how)
    before, second = read_sittings(folder)
    assert before == first
    assert (second.first_step, second.last_step) == (2, 3)


def test_a_run_from_before_they_were_kept_has_none(tmp_path):
    assert read_sittings(tmp_path) == []
    assert effort_words([]) == ""


@pytest.mark.parametrize(
    "change", [{"seconds": "long"}, {"seconds": -1}, {"cores": True}, {"x": 1}]
)
def test_a_forged_file_is_refused_in_a_line(tmp_path, change):
    entry = {**vars(ONE), **change}
    (tmp_path / effort.FILE).write_text(json.dumps([entry]))
    with pytest.raises(DataError, match=r"effort\.json"):
        read_sittings(tmp_path)


def test_sittings_are_told_together():
    assert effort_words([ONE]) == (
        "2 min (2 min of processor time) on 2 threads of A Chip (4 cores)"
    )
    assert effort_words([ONE, ONE]).startswith("3 min in 2 sittings (5 min of processor time)")
