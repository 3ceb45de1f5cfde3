"""Reports of several runs: groups by setting, ranks of metrics, and what cannot be compared."""

import dataclasses
import shutil

import numpy as np
import pytest
from stored_score import score

from read_pages import Page
from unweave import views
from unweave.cli import main
from unweave.errors import DataError
from unweave.figures import comparisons
from unweave.methods.vae import VAE
from unweave.report import comparison_sections
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop
from unweave.views.comparison import telling_correlation

pytestmark = pytest.mark.usefixtures("without_files")


@pytest.fixture(scope="module")
def four(toy, tmp_path_factory) -> list[Run]:
    """Return two settings of two seeds each, with scores written by hand."""
    base = tmp_path_factory.mktemp("four")
    values = [(0.1, 0.9, 3.0), (0.3, 0.8, 2.0), (0.5, 0.7, 1.0), (0.6, 0.75, 0.5)]
    runs = []
    for i, (mig, sap, unfairness) in enumerate(values):
        config = Train(
            method=VAE(latent_dim=2 + i // 2),
            data="toy_xys",
            steps=1,
            batch_size=4,
            seed=i % 2,
        )
        loop.start(config, toy, base / f"run{i}", Machine(evaluations=1))
        run = load(base / f"run{i}")
        run.folder.write_scores(
            {"mig": score(mig), "sap": score(sap), "unfairness": score(unfairness, higher=False)}
        )
        runs.append(run)
    return runs


def test_runs_that_differ_by_seed_share_a_group(four):
    view = views.compare(four)
    assert view.groups == ["vae, latent_dim 2", "vae, latent_dim 3"]
    first = next(s for s in view.scores if s.metric == "mig")
    assert first.values == [0.1, 0.3]
    assert first.mean == pytest.approx(0.2)
    assert first.deviation == pytest.approx(0.1 * 2**0.5)
    assert all(row.elbo < 0 and row.total_correlation >= 0 for row in view.runs)
    assert view.notes == []
    assert views.group_names(four[:2]) == ["vae", "vae"]


@pytest.fixture(scope="module")
def six(four):
    """Return the comparison of the four, with two more rows written by hand."""
    view = views.compare(four)
    more = [
        dataclasses.replace(view.runs[0], scores={"mig": mig, "sap": sap, "unfairness": unfair})
        for mig, sap, unfair in ((0.7, 0.6, 0.4), (0.8, 0.5, 0.3))
    ]
    rows = [*view.runs, *more]
    agreement = views.rank_agreement(rows, view.higher_is_better)
    return dataclasses.replace(view, runs=rows, agreement=agreement)


def test_metrics_agree_by_rank_whichever_way_is_better(six):
    view = six.agreement
    assert view.metrics == ["mig", "sap", "unfairness"]
    away = 1 - 6 * 68 / (6 * 35)  # of sap's places from those of mig
    np.testing.assert_allclose(view.correlation, [[1, away, 1], [away, 1, away], [1, away, 1]])


def test_ranks_of_few_runs_are_not_told(four, tmp_path):
    view = views.compare(four)
    assert np.isnan(view.agreement.correlation).all()
    with pytest.raises(DataError, match="fewer than 6 runs"):
        comparisons.rank_agreement(view)


@pytest.mark.parametrize(("runs", "least"), [(6, 0.829), (8, 0.714), (50, 0.279)])
def test_how_large_rank_correlations_are_by_chance(runs, least):
    """Beside tables of Spearman's ρ; one in twenty is larger."""
    assert telling_correlation(runs) == pytest.approx(least, abs=0.002)
    assert f"{telling_correlation(runs):.2f}" in views.by_chance(runs)
    assert views.by_chance(5) == ""


def test_plots_of_a_comparison_show_every_run(four):
    view = views.compare(four)
    drawing = comparisons.scores_by_method(view)
    assert [axes.get_title(loc="left") for axes in drawing.axes] == [
        "mig",
        "sap",
        "unfairness (lower is better)",
    ]
    points = [line for line in drawing.axes[0].lines if line.get_linestyle() == "None"]
    assert sorted(x for line in points for x in line.get_xdata()) == [0.1, 0.3, 0.5, 0.6]
    labels = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    assert [label.replace("\n", " ") for label in labels] == view.groups
    for draw in (comparisons.bound_against_mig, comparisons.mig_against_correlation):
        (axes,) = draw(view).axes
        assert sorted(y for line in axes.lines for y in line.get_ydata()) == [0.1, 0.3, 0.5, 0.6]


def test_scores_that_hardly_differ_are_told_by_their_values(four):
    """Not by differences from an offset that stands in a corner."""
    comparison = views.compare(four)
    scores = [
        dataclasses.replace(
            one, values=[0.9999 + 1e-5 * i for i, _ in enumerate(one.values)], mean=0.9999
        )
        for one in comparison.scores
    ]
    axes = comparisons.scores_by_method(dataclasses.replace(comparison, scores=scores)).axes[0]
    axes.figure.canvas.draw()
    assert axes.xaxis.get_offset_text().get_text() == ""
    seen = [text.get_text() for text in axes.get_xticklabels()]
    assert len(set(seen)) == len(seen) >= 3
    assert all(0.99 < float(text) < 1.01 for text in seen)


def test_the_matrix_of_metrics_shows_every_pair(six):
    matrix = comparisons.rank_agreement(six).axes[0]
    assert [text.get_text() for text in matrix.texts][:3] == ["1.00", "-0.94", "1.00"]


@pytest.mark.filterwarnings("error")  # of a layout that does not fit
@pytest.mark.parametrize(
    "draw",
    [
        comparisons.scores_by_method,
        comparisons.bound_against_mig,
        comparisons.mig_against_correlation,
    ],
)
def test_long_names_of_settings_leave_room_for_the_plots(four, draw):
    view = views.compare(four)
    new = {group: f"{group}, " + "optimizer.learning_rate 0.001, " * 4 for group in view.groups}
    view = dataclasses.replace(
        view,
        groups=list(new.values()),
        scores=[dataclasses.replace(score, group=new[score.group]) for score in view.scores],
        runs=[dataclasses.replace(row, group=new[row.group]) for row in view.runs],
    )
    drawing = draw(view)
    drawing.content("svg")
    width, height = drawing.bbox.size
    for axes in drawing.axes:
        assert axes.get_window_extent().width / drawing.dpi > 1.5  # inches
        assert axes.get_window_extent().height / drawing.dpi > 0.5
        shown = [text for text in axes.get_yticklabels() if text.get_text()]
        assert all(text.get_window_extent().x0 >= 0 for text in shown)
    for legend in drawing.legends:
        box = legend.get_window_extent()
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= width
        assert box.y1 <= height


def test_metrics_without_ranks_are_left_out_of_the_matrix(six):
    rows = [dataclasses.replace(six.runs[0], scores=six.runs[0].scores | {"dci": 0.5})]
    directions = six.higher_is_better | {"dci": True}
    agreement = views.rank_agreement([*rows, *six.runs[1:]], directions)
    axes = comparisons.rank_agreement(dataclasses.replace(six, agreement=agreement)).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["mig", "sap", "unfairness"]


def test_the_report_of_several_runs_compares_them_first(four, tmp_path, capsys):
    out = tmp_path / "new" / "all.html"
    assert main(["report", *[str(run.path) for run in four], "--out", str(out)]) == 0
    assert "MB" in capsys.readouterr().out
    read = Page(out.read_text(encoding="utf-8"))
    assert read.headings == ["Summary", "Comparison", *(run.name for run in four), "References"]
    assert read.text.count("What each latent does") == 4
    assert "0.200 ± 0.141" in read.text
    assert "By mig, the best first: vae, latent_dim 3 0.550 ± 0.071 (2 seeds)" in read.text
    assert "With 2 seeds of a setting no test" in read.text
    assert "No rank agreement of metrics: fewer than 6 runs" in read.text
    links = [link["href"] for link in read.all("a") if link["href"].startswith("#")]
    ids = {section.get("id") for section in read.all("section")}
    assert links == [f"#part-{i + 1}" for i in range(7)]
    assert {link.removeprefix("#") for link in links} <= ids


def test_what_makes_runs_hard_to_compare_is_said(four, tmp_path):
    other = tmp_path / "run0"
    shutil.copytree(four[0].path, other)
    run = load(other)
    run.folder.write_scores({"mig": score(0.1, protocol="carbonneau2022")})
    run.folder.set_status("interrupted", step=1)
    notes = " ".join(views.compare([four[0], run]).notes)
    assert "different protocols" in notes
    assert "not finished: run0" in notes
    assert "2 runs are called run0" in notes


def test_a_setting_without_scores_is_named(four, tmp_path):
    folder = tmp_path / "run9"
    shutil.copytree(four[3].path, folder)
    (folder / "scores.json").unlink()
    words = comparison_sections.summary(views.compare([*four[:2], load(folder)]))
    assert words.endswith("Without mig: vae, latent_dim 3.")
    assert "3 runs on toy_xys: vae, latent_dim 2 (2), vae, latent_dim 3 (1)." in words
