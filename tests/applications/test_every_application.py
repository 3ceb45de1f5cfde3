"""What holds for every application."""

import dataclasses
from pathlib import Path

import pytest

import known_models
from read_pages import Page
from unweave import applications, catalog
from unweave.applications import Applied, correlated, impossibility
from unweave.errors import ConfigError
from unweave.report import application_sections
from unweave.runs.wrapped import wrap

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


SMALL = {
    "augment": {"target": "side", "labels": 8, "copies": 2, "draws": 1, "judged": 50, "pool": 100},
    "correlated": {"rows": 150, "labels": (10,), "draws": 1},
    "fairness": {"sensitive": "side", "target": "y", "rows": 150, "repeats": 1, "drop": 1},
    "few_labels": {"labels": (10, 30), "draws": 1, "judged": 50},
    "impossibility": {"images": 4, "draws": 1},
    "intervene": {"rows": 150, "pairs": 20, "nulls": 1},
    "recombination": {"rows": 40},
    "representation": {"task": "side", "nuisance": "x", "rows": 120},
    "transfer": {"target": "toy_xys", "rows": 120},
}
"""Settings that take a moment."""
NEEDS_DECODER = {"augment", "impossibility"}


@pytest.fixture(scope="module")
def arranged(toy):
    """Squares of which some were held out of training and which were correlated in it."""
    return toy.arranged("x>0.5,side=14", "x~y:0.1")


@pytest.mark.parametrize("name", sorted(applications.names()))
def test_a_foreign_encoder_is_applied_and_its_report_tells(name, arranged, tmp_path, monkeypatch):
    """A foreign decoder is asked for only where there is no other way."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(impossibility, "METRICS", ("mig",))  # DCI takes longest of all
    monkeypatch.setattr(correlated, "METRICS", ("mig",))
    decode = {"decode": lambda codes: known_models.draw(arranged, codes)}
    decode |= {"posterior": known_models.posterior}
    bare = wrap(known_models.standard, arranged, takes="arrays", name="mine")
    if name in NEEDS_DECODER:
        with pytest.raises(ConfigError, match="decode"):
            applications.apply(name, bare, **SMALL[name])
    options = decode if name in NEEDS_DECODER else {}
    model = wrap(known_models.standard, arranged, takes="arrays", name="mine", **options)
    applied = applications.apply(name, model, **SMALL[name])
    paths = applied.save(applications.FOLDER)
    assert [path.suffix for path in paths] == [".json", ".png"]
    assert len(applied.paragraph) > 80
    assert applied.caveats
    assert applied.tables
    assert str(applied.tables[0]).startswith(applied.tables[0].title)
    page = Page(str(application_sections.sections(model)))
    assert applied.paragraph in page.text
    assert page.all("img")
    assert applications.kept_in(tmp_path / applications.FOLDER, "another model") == []


def test_an_unknown_application_or_setting_is_refused_in_a_line(tiny_run):
    with pytest.raises(ConfigError, match="'fairness'"):
        applications.load("fairnes")
    with pytest.raises(ConfigError, match="unexpected keyword argument 'sensitiv'"):
        applications.apply("fairness", tiny_run("vae"), sensitiv="side")
