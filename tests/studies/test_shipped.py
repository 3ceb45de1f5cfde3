"""The studies that come with the package are whole: names, settings, published numbers."""

import re
from pathlib import Path

import pytest

from unweave.cli import main
from unweave.cli._study import SHIPPED
from unweave.errors import ConfigError
from unweave.studies import expand, read_study
from unweave.studies.define.study import shipped_studies
from unweave.studies.report.published import cells_of
from unweave.studies.report.table import read_csv

RESULTS = Path(__file__).parent.parent.parent / "docs" / "results"
SMALL = {
    "content_and_style": 15,
    "info_vae_comparison": 12,
    "infogan_cr_table": 9,
    "tcvae_sampling": 18,
}
"""Runs of tables that have few lines."""


def test_there_are_those_that_the_help_names():
    assert tuple(shipped_studies()) == SHIPPED


def test_a_shipped_study_is_found_from_any_folder_and_a_file_of_that_name_comes_first(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert read_study("exercises").name == "exercises"
    mine = '[[methods]]\nname = "vae"\n'
    (tmp_path / "exercises").write_text('data = "toy_xys"\ntitle = "mine"\n' + mine)
    assert read_study("exercises").title == "mine"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("exercise", "Did you mean 'exercises'?"),
        ("studies/exercises.toml", "the study that is shipped is called 'exercises'"),
        ("mine.toml", "cannot read mine.toml"),
    ],
)
def test_a_study_that_is_not_there_gets_a_line(given, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=said.replace("?", r"\?")):
        read_study(given)
    assert main(["study", "run", given]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_can_be_run_and_says_what_its_full_size_is(name):
    study = read_study(name)
    plan = expand(study)
    assert len(plan.runs) >= SMALL.get(name, 20)
    assert len(study.seeds) >= 3
    assert study.title
    assert study.notes
    assert study.full_size
    assert study.showed
    assert study.published or study.published_variance or "no table" in study.notes
    labels = {plan.label for plan in study.methods}
    for entry in study.published:
        assert entry.source
        assert entry.from_memory == ("from memory" in entry.source)
        assert entry.metric in plan.metrics
        if entry.method in labels:
            settings = {f"method.{key}": value for key, value in entry.settings.items()}
            fitting = [
                run
                for run in plan.runs
                if run.method == entry.method
                and all(run.varied.get(key) == value for key, value in settings.items())
            ]
            assert fitting, f"{entry.method} with {settings} is not in the study"
    assert set(study.published_variance) <= set(study.data)
    for shares in study.published_variance.values():
        assert set(shares) <= set(plan.metrics)


@pytest.mark.parametrize("name", sorted(path.stem for path in RESULTS.glob("*.csv")))
def test_cells_that_are_not_reproduced_say_why_we_think_so(name):
    plan = expand(read_study(name))
    for cell in cells_of(plan, read_csv(RESULTS / f"{name}.csv").done):
        if cell.mark in ("direction only", "not reproduced"):
            assert cell.published.reason, f"{cell.name}, {cell.published.metric}"


@pytest.mark.parametrize("name", sorted(path.stem for path in RESULTS.glob("*.csv")))
def test_numbers_in_findings_are_those_of_the_page(name):
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    before, _, rest = page.partition("## What it showed")
    findings, _, after = rest.partition("\n## ")
    assert findings.strip() == read_study(name).showed.strip(), "make the page again"
    assert numbers_in(findings)
    assert numbers_in(findings) - numbers_in(before + after) == set()


def numbers_in(text: str) -> set[str]:
    """Return scores with three places, and shares, of those from … to … none."""
    words = " ".join(text.split())
    return set(re.findall(r"(?<![\d.])\d+\.\d{3,}(?!\d)|(?<!to )\b\d+ %", words))


def test_a_mistyped_measure_is_told_beside_the_metrics(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    methods = '[[methods]]\nname = "vae"\n'
    file.write_text('data = "toy_xys"\nmetrics = ["class_eror"]\n' + methods, encoding="utf-8")
    assert main(["study", "run", str(file)]) == 2
    assert "Did you mean 'class_error'" in capsys.readouterr().err
