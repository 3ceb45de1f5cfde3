"""Lists and help do not wait for torch."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import get_args

import pytest

from unweave import catalog, devices
from unweave.cli import VERBS, _train, main
from unweave.cli._stand_ins import tell
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


def test_no_help_of_a_method_waits_for_torch():
    methods = catalog.own_names("unweave.methods")
    helps = [["train", name, "--help"] for name in methods]
    choice = ["train", "vae", "--method.optimizer", "sgd", "-h"]
    assert first_that_loads_torch([*helps, choice]) == []


def test_the_check_notices_a_command_that_loads_torch():
    command = ["train", "vae", "--architecture", "conv64", "--help"]
    assert first_that_loads_torch([command]) == [command]


@pytest.mark.parametrize("name", catalog.own_names("unweave.methods"))
def test_help_without_torch_says_what_the_method_itself_does(name, monkeypatch, capsys):
    def said() -> str:
        with pytest.raises(SystemExit):
            main(["train", name, "--help"])
        return capsys.readouterr().out

    quick = said()
    monkeypatch.setattr(_train, "_only_for_help", lambda name, words: None)
    assert "--data" in quick
    assert quick == said()


def test_help_of_a_choice_has_the_flags_of_the_choice(capsys):
    with pytest.raises(SystemExit):
        main(["train", "vae", "--method.optimizer", "sgd", "--help"])
    said = capsys.readouterr().out
    assert "--method.optimizer.momentum" in said
    assert "--method.optimizer.betas" not in said


def test_a_type_that_cannot_be_told_is_refused():
    @dataclass
    class Odd:
        values: dict[str, int] = field(default_factory=dict)

    with pytest.raises(TypeError, match="add it here"):
        tell(Odd, lambda kind, name: "", {})


@pytest.mark.parametrize("name", ["DeviceName", "Precision"])
def test_devices_and_settings_name_the_same_choices(name):
    assert get_args(getattr(machine, name)) == get_args(getattr(devices, name))
