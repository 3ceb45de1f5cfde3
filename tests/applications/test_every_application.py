"""What holds for every application."""

import dataclasses
from pathlib import Path

import pytest

from unweave import applications, catalog
from unweave.applications import Applied

DOCS = Path(__file__).parent.parent.parent / "docs" / "applications.md"


@pytest.mark.parametrize("name", applications.names())
def test_every_application_says_what_it_does_and_what_it_can_be_told(name):
    module = applications.load(name)
    assert catalog.summary(module).startswith(f"{name}: ")
    assert dataclasses.is_dataclass(module.Settings)
    assert module.Settings.__dataclass_params__.frozen
    assert module.Settings() == module.Settings()
    assert module.apply.__annotations__["return"] is Applied
    assert f"`{applications.spelled(name)}`" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", applications.names())
def test_every_application_is_explained_on_the_command_line(name, capsys):
    from unweave.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["apply", applications.spelled(name), "--help"])
    assert ended.value.code in (0, None)
    out = capsys.readouterr().out
    for field in dataclasses.fields(applications.load(name).Settings):
        assert f"--{field.name.replace('_', '-')}" in out


def test_an_unknown_application_or_setting_is_refused_in_a_line(tiny_run):
    from unweave.errors import ConfigError

    with pytest.raises(ConfigError, match="'fairness'"):
        applications.load("fairnes")
    with pytest.raises(ConfigError, match="unexpected keyword argument 'sensitiv'"):
        applications.apply("fairness", tiny_run("vae"), sensitiv="side")
