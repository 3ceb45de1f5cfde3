"""Lists and help do not wait for torch."""

import json
import subprocess
import sys
from typing import get_args

import pytest

from unweave import devices
from unweave.cli import VERBS
from unweave.settings import machine

SCRIPT = """
import contextlib, io, json, sys
from unweave.cli import main

heavy = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main(words)
    assert said.getvalue(), words
    if "torch" in sys.modules:
        heavy.append(words)
        break  # what comes after cannot be told apart
print(json.dumps(heavy))
"""


def first_that_loads_torch(commands: list[list[str]]) -> list[list[str]]:
    words = [sys.executable, "-c", SCRIPT, json.dumps(commands)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_no_list_and_no_help_of_a_verb_waits_for_torch():
    lists = [["list", what] for what in ("methods", "data", "metrics", "architectures")]
    helps = [[verb, "--help"] for verb in VERBS]
    more = [[], ["--help"], ["study", "run", "--help"]]
    assert first_that_loads_torch([*lists, *helps, *more]) == []


def test_the_check_notices_a_command_that_loads_torch():
    assert first_that_loads_torch([["train", "vae", "--help"]]) == [["train", "vae", "--help"]]


@pytest.mark.parametrize("name", ["DeviceName", "Precision"])
def test_devices_and_settings_name_the_same_choices(name):
    assert get_args(getattr(machine, name)) == get_args(getattr(devices, name))
