"""A study as a job array: the script, run as Slurm would run it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unweave.cli import main
from unweave.errors import ConfigError
from unweave.studies import read_study
from unweave.studies.run.slurm import Slurm, part_of, read_part, script

TINY = """
data = "toy_xys"
seeds = 2
metrics = ["mig"]
preset = "fast"
settings.method.latent_dim = 2

[budget]
steps = 2
batch_size = 4
evaluations = 1

[[methods]]
name = "vae"
"""

# What sbatch does with a script, as far as ours needs it: reads the #SBATCH lines, which end at
# the first command, and runs the script once for each task of the array.
SBATCH = """#!{python}
import os, re, subprocess, sys

text = open(sys.argv[1]).read()
options = {{}}
for line in text.splitlines()[1:]:
    if line.startswith("#SBATCH --"):
        name, _, value = line.removeprefix("#SBATCH --").partition("=")
        options[name] = value
    elif line and not line.startswith("#"):
        break
first, last = map(int, options["array"].partition("%")[0].split("-"))
for task in range(first, last + 1):
    there = os.environ | {{
        "SLURM_ARRAY_TASK_ID": str(task),
        "SLURM_ARRAY_TASK_COUNT": str(last - first + 1),
    }}
    log = options["output"].replace("%A", "7").replace("%a", str(task))
    with open(log, "w") as output:
        done = subprocess.run(["bash", sys.argv[1]], env=there, stdout=output, stderr=output)
    if done.returncode:
        sys.exit(open(log).read())
"""


def test_the_tasks_of_the_array_do_all_runs_between_them(tmp_path, monkeypatch, capsys):
    (tmp_path / "tiny.toml").write_text(TINY)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, text in {
        "sbatch": SBATCH.format(python=sys.executable),
        "unweave": f'#!/bin/sh\nexec {sys.executable} -m unweave "$@"\n',
    }.items():
        (bin_folder / name).write_text(text)
        (bin_folder / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    words = ["study", "slurm", "tiny.toml", "--tasks", "2", "--cpus", "1", "--time", "00:10:00"]
    assert main(words) == 0
    assert "2 runs in 2 tasks" in capsys.readouterr().out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    command = ["sbatch", str(tmp_path / "tiny.sbatch")]
    done = subprocess.run(command, cwd=elsewhere, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    logs = sorted((tmp_path / "runs" / "studies" / "tiny" / "slurm").glob("*.log"))
    assert [log.name for log in logs] == ["7_1.log", "7_2.log"]
    assert all("1 new runs" in log.read_text() for log in logs), "each did its own, and no other"
    table = read_study(tmp_path / "tiny.toml").table(tmp_path / "runs")
    assert len(table.done) == 2


def test_a_script_asks_for_what_it_was_told_and_is_valid_shell(tmp_path):
    ask = Slurm(tasks=20, at_once=5, gpus=1, memory="8G", partition="gpu", setup="module load py")
    text = script("my", Path("/a b/my.toml"), Path("/shared/runs"), ask)
    assert "#SBATCH --array=1-20%5\n" in text
    assert "#SBATCH --gpus-per-task=1\n" in text
    assert "#SBATCH --partition=gpu\n" in text
    assert "'/a b/my.toml'" in text
    assert "--device cpu" not in text
    assert text.index("module load py") < text.index("exec unweave")
    first_command = re.search(r"^[^#\n]", text, re.MULTILINE).start()
    assert "#SBATCH" not in text[first_command:], "Slurm reads no option after the first command"
    (tmp_path / "s").write_text(text)
    subprocess.run(["bash", "-n", str(tmp_path / "s")], check=True)


def test_parts_have_every_run_once():
    runs = list(range(11))
    parts = [part_of(runs, (k, 4)) for k in range(1, 5)]
    assert sorted(run for part in parts for run in part) == runs
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3"])
def test_a_part_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="part: expected K"):
        read_part(text)


def test_what_slurm_could_not_be_asked_for_is_refused():
    for wrong in ({"tasks": 0}, {"cpus": 0}, {"gpus": -1}, {"setup": "a\nb"}):
        with pytest.raises(ConfigError):
            Slurm(**wrong)
