"""Lines of a table stand for runs whose folders are elsewhere."""

import csv
import re

import pytest

from unweave.cli import main
from unweave.errors import DataError
from unweave.studies import Study, expand, ledger_of, make_table, run_study
from unweave.studies.report.kept import take_over
from unweave.studies.report.selection import select
from unweave.studies.report.write import chosen_without_labels, write_report

STUDY = Study(
    name="kept",
    data="toy_xys",
    methods=[{"name": "vae", "grid": {"latent_dim": [2, 3]}}],
    settings={"architecture": {"name": "conv_any", "channels": [8, 8, 8], "hidden": 16}},
    metrics=["mig", "modularity"],
    seeds=3,
    preset="fast",
    budget={"steps": 6, "batch_size": 8, "evaluations": 1},
)
SAYS = ("mig", "modularity", "elbo", "active_dimensions", "train_seconds", "parameters")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a study that was done, and its table as a file."""
    root = tmp_path_factory.mktemp("kept")
    run_study(STUDY, root=root / "runs", workers=1, quiet=True)
    plan = expand(STUDY)
    table = make_table(plan, ledger_of(plan, root / "runs"))
    return table, table.write(root / "kept.csv")


def some_lines(path, to, **changes):
    """Copy the lines of seed 0, with some cells changed."""
    with path.open(newline="") as file:
        lines = [{**line, **changes} for line in csv.DictReader(file) if line["seed"] == "0"]
    with to.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return to


def test_what_is_kept_is_not_trained_again_and_the_table_is_the_same(whole, tmp_path):
    table, path = whole
    plan = expand(STUDY)
    ledger = ledger_of(plan, tmp_path / "runs")
    lines = some_lines(path, tmp_path / "kept.csv")
    assert take_over(plan, ledger, lines) == 2
    assert take_over(plan, ledger, lines) == 0, "they are there already"
    outcome = run_study(STUDY, root=tmp_path / "runs", workers=1, quiet=True)
    assert (outcome.done, outcome.new) == (6, 4)
    found = make_table(plan, ledger)
    assert list(found.rows[0]) == list(table.rows[0])
    for ours, theirs in zip(found.rows, table.rows, strict=True):
        told = SAYS if ours["seed"] == 0 else SAYS[:3]
        assert {name: ours[name] for name in told} == {name: theirs[name] for name in told}

    page = write_report(plan, ledger, tmp_path / "kept.md").read_text()
    assert "6 of 6 runs are done" in page
    assert "Results of 2 runs are lines of kept.csv" in page
    assert page.count("![vae, latent_dim") == 2, "of runs that are here"
    assert "Versions: python" in page
    chosen = select(plan, ledger)
    kept = {run.run_id for run in plan.runs if run.config.seed == 0}
    here = {run.run_id for run in plan.runs} - kept
    assert chosen["udr"].keys() == chosen["model_centrality"].keys() == here

    # Scored in another way, the run is missing, and its folder is free to be trained in.
    other = STUDY.changed(metrics=["sap"], seeds=(0,))
    assert run_study(other, root=tmp_path / "runs", workers=1, quiet=True).new == 2


def test_a_page_made_of_lines_alone_keeps_what_needs_the_runs(whole, tmp_path):
    plan = expand(STUDY)
    root, page = whole[1].parent / "runs", tmp_path / "kept.md"
    before = write_report(plan, ledger_of(plan, root), page).read_text()
    assert "| model_centrality | 6 |" in before
    shown = re.findall(r"!\[(vae, latent_dim \d, seed (\d)[^]]*)\]\((\S+)\)", before)
    assert len(shown) == 2
    assert all(f"-seed-{seed}.png" in file for _, seed, file in shown)

    ledger = ledger_of(plan, tmp_path / "runs")
    assert take_over(plan, ledger, whole[1]) == 6
    versions = "Versions: python 3.1, unweave 0.0.1. Intervals are"
    page.write_text(re.sub("Versions: .* Intervals are", versions, before))
    after = write_report(plan, ledger, page).read_text()
    choosing = "## Choosing without labels"
    assert section_of(after, choosing) == section_of(before, choosing)
    assert section_of(after, "## Traversals") == section_of(before, "## Traversals")
    assert versions in after, "those of then, not of now"
    assert write_report(plan, ledger, page).read_text() == after, "and so for ever"

    # Where neither the runs nor a page is, there is nothing to keep.
    bare = write_report(plan, ledger, tmp_path / "bare.md").read_text()
    assert choosing not in bare
    assert "## Traversals" not in bare
    assert "Versions" not in bare


def section_of(page: str, heading: str) -> str:
    return "## " + page.partition(heading)[2].partition("\n## ")[0]


def test_what_chose_without_labels_is_kept_with_the_whole_table_alone(whole, tmp_path):
    plan = expand(STUDY)
    chosen = {run.run_id: place / 10 for place, run in enumerate(plan.runs)}
    scores = {"udr": chosen, "udr_spearman": {}, "model_centrality": {}}
    path = whole[0].with_scores(scores).write(tmp_path / "kept.csv")
    ledger = ledger_of(plan, tmp_path / "runs")
    assert take_over(plan, ledger, path) == 6
    assert chosen_without_labels(plan, ledger) == scores
    found = make_table(plan, ledger).with_scores(chosen_without_labels(plan, ledger))
    assert found.write(tmp_path / "again.csv").read_text() == path.read_text()

    # Among fewer runs it may be said otherwise.
    fewer = expand(STUDY.changed(seeds=2))
    ledger = ledger_of(fewer, tmp_path / "fewer")
    assert take_over(fewer, ledger, path) == 4
    assert not any(chosen_without_labels(fewer, ledger).values())


def test_a_line_of_a_run_that_went_on_keeps_its_speed(whole, tmp_path):
    rate = 8 * 2 / 0.125  # two of six steps
    lines = some_lines(whole[1], tmp_path / "kept.csv", images_per_second=rate, train_seconds=0.125)
    plan = expand(STUDY)
    ledger = ledger_of(plan, tmp_path / "runs")
    take_over(plan, ledger, lines)
    assert make_table(plan, ledger).done.column("images_per_second").tolist() == [rate] * 2


@pytest.mark.parametrize(
    "changes",
    [{"state": "failed"}, {"run": "vae-toy_xys-00000000-s0"}, {"made_by": "x0"}, {"made_by": ""}],
    ids=["failed", "of other settings", "of other defaults", "nobody knows of which"],
)
def test_other_lines_do_not_count(whole, tmp_path, changes):
    plan = expand(STUDY)
    lines = some_lines(whole[1], tmp_path / "kept.csv", **changes)
    assert take_over(plan, ledger_of(plan, tmp_path / "runs"), lines) == 0


def test_a_table_without_a_score_that_is_asked_for_does_not_count(whole, tmp_path):
    plan = expand(STUDY.changed(metrics=["mig", "sap"]))
    assert take_over(plan, ledger_of(plan, tmp_path / "runs"), whole[1]) == 0


def test_lines_of_another_protocol_or_preset_do_not_count(whole, tmp_path):
    for change in ({"protocol": {"modularity": "ridgeway2018"}}, {"preset": "full"}):
        plan = expand(STUDY.changed(**change))
        assert take_over(plan, ledger_of(plan, tmp_path / "runs"), whole[1]) == 0


def test_a_table_that_is_not_there_is_said(tmp_path, capsys):
    plan = expand(STUDY)
    with pytest.raises(DataError, match="no lines to keep"):
        take_over(plan, ledger_of(plan, tmp_path / "runs"), tmp_path / "kept.csv")
    out = ["--out", str(tmp_path / "runs")]
    assert main(["reproduce", "few_labels", "--keep", "--only-show", *out]) == 2
    assert "give that folder" in capsys.readouterr().err
    assert main(["reproduce", "few_labels", "--keep", "--to", str(tmp_path), *out]) == 2
    assert "few_labels.csv is not there" in capsys.readouterr().err
