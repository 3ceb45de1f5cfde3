"""The studies under studies/ are whole: names, settings, published numbers."""

from pathlib import Path

import pytest

from unweave.studies import expand, read_study

FILES = sorted((Path(__file__).parents[2] / "studies").glob("*.toml"))


def test_there_are_the_three_that_the_documentation_names():
    assert [file.stem for file in FILES] == ["exercises", "higgins_table", "unsupervised"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_study_can_be_run_and_says_what_its_full_size_is(file):
    study = read_study(file)
    plan = expand(study)
    assert len(plan.runs) >= 20
    assert study.title
    assert study.notes
    assert study.full_size
    assert study.published or study.published_variance
    labels = {plan.label for plan in study.methods}
    for entry in study.published:
        assert entry.source
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
    assert set(study.published_variance) <= set(plan.metrics)
