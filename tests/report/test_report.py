"""Reports: one file, nothing loaded, everything escaped, numbers that are right."""

import dataclasses
import shutil

import numpy as np
import pytest

from read_pages import Page
from unweave import catalog, figures, views, workflows
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.evaluation.baselines import Baselines
from unweave.evaluation.probes import leakage
from unweave.evaluation.scores import Scores
from unweave.explorer.open_runs import Library
from unweave.explorer.page_data import run_facts
from unweave.figures import comparisons
from unweave.methods import method_named
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.gvae import GVAE
from unweave.methods.vae import VAE
from unweave.pages import files_in
from unweave.report import comparison_sections, drawn, report_html, run_sections
from unweave.report.summary import summary
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop
from unweave.views.comparison import telling_correlation
from unweave.watchers import Pictures
from unweave.workflows import write_report

EVIL = "<script>alert(1)</script>"
PARTS = [
    "Summary",
    "Warnings",
    "Scores",
    "What each latent does",
    "What each latent knows",
    "What it decodes",
    "Training",
    "Data",
    "Settings",
    "How to repeat it",
    "References",
]


def score(value, higher=True, protocol="locatello2019", **details):
    return {
        "value": value,
        "protocol": protocol,
        "higher_is_better": higher,
        "details": details,
    }


@pytest.fixture(autouse=True)
def without_files(request, monkeypatch):
    """Offer no files, which take longer to make than all the rest, but where these are tested."""
    if "files" not in request.node.name:
        monkeypatch.setattr(drawn, "ENDINGS", ())


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory) -> Run:
    config = Train(method=VAE(latent_dim=3), data="toy_xys", steps=4, batch_size=8)
    folder = tmp_path_factory.mktemp("report") / "run"
    loop.start(config, toy, folder, Machine(evaluations=2), [Pictures()])
    loaded = load(folder)
    loaded.name_latent(0, EVIL)
    loaded.folder.write_scores(
        {
            "mig": score(0.25, interval=[0.2, 0.3])
            | {
                "details": {
                    "interval": [0.2, 0.3],
                    "factor_names": ["x", "y"],
                    "mutual_information": [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
                    "factor_entropy": [2.0, 2.0],
                }
            },
            "dci": {"value": None, "reason": EVIL},
            "my_own": score(0.5, protocol="mine"),
        }
    )
    return loaded


@pytest.fixture(scope="module")
def page(run):
    text = report_html(run)
    return text, Page(text)


def test_a_report_has_every_part(page):
    assert page[1].headings == PARTS


def test_a_report_loads_nothing_and_stays_small(page):
    text, read = page
    assert len(text.encode()) < 5_000_000
    sources = [image["src"] for image in read.all("img")]
    assert len(sources) >= 8
    assert all(source.startswith("data:image/") for source in sources)
    assert not read.all("script")
    assert not read.all("link")
    assert all(image["alt"] for image in read.all("img"))
    policy = next(m for m in read.all("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy["content"]


def test_what_others_wrote_is_escaped(page):
    assert EVIL not in page[0]
    assert EVIL in page[1].text  # as words


def test_scores_come_with_protocol_and_meaning(page):
    words = page[1].text
    assert "0.250 [0.200, 0.300]" in words
    assert "gaps over the factor's entropy, 20 bins" in words
    meaning = catalog.summary(catalog.load("unweave.metrics", "mig", "metric"))
    assert meaning in words
    assert "not scored:" in words
    assert "my_own" in words


def test_a_report_says_how_to_repeat_the_run(page, run):
    words = page[1].text
    assert "unweave train vae --data toy_xys --steps 4 --batch-size 8 --seed 0" in words
    assert "torch" in words
    assert "1,024 images of 1 × 32 × 32" in words
    assert "method.latent_dim" in words


def test_a_run_whose_data_is_gone_is_still_reported(run, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(run.path, folder)
    config = folder / "config.json"
    text = config.read_text(encoding="utf-8").replace('"toy_xys"', '"no/such/folder"')
    config.write_text(text, encoding="utf-8")
    read = Page(report_html(load(folder)))
    assert "no such file or folder" in read.text
    assert "Training" in read.headings
    assert "What each latent does" not in read.headings


def test_what_leaks_into_the_style_is_reported(toy, tmp_path):
    config = Train(method=GVAE(latent_dim=2, content_dim=1), data="toy_xys", steps=1, batch_size=8)
    run = loop.start(config, toy, tmp_path / "run", Machine(evaluations=0))
    page, found = str(report_html(run)), leakage(run)
    assert "name side on the other half" in page
    for part in ("content", "style"):
        numbers = (found.accuracy[part], found.drawn[part], found.linear[part])
        cells = "".join(f'<td class="number">{number:.3f}</td>' for number in numbers)
        assert f"<td>{part}</td>{cells}" in page


def test_one_method_around_another_is_reported_and_explored(toy, tmp_path):
    method = method_named("semi_supervised+vae")(latent_dim=3, labels=20)
    config = Train(method=method, data="toy_xys", steps=1, batch_size=8)
    run = loop.start(config, toy, tmp_path / "a+b", Machine(evaluations=0))
    both = "to a few labels — VAE: the evidence lower bound."
    assert both in Page(report_html(run)).text
    assert run_facts(Library(tmp_path), "a+b")["method_summary"].endswith(both)


def test_a_baseline_without_codes_of_images_is_reported(toy):
    config = Train(method=GroundTruth(), data="toy_xys", steps=1)
    nets = loop.make_networks(config, toy)
    config.method.fit(nets, toy, 0)
    truth = Run(config, toy.summary, nets, step=1, data=toy)
    read = Page(report_html(truth))
    assert "What each latent knows" in read.headings
    assert "Training" not in read.headings


def test_a_model_of_the_users_is_reported_and_drawn(toy, tmp_path, monkeypatch, capsys):
    """Through the command line, from an object with methods."""
    lines = [
        "import numpy as np",
        "class Model:",
        "    def encode(self, images):",
        "        return images.mean((1, 2))[:, ::16]",
        "    def decode(self, codes):",
        "        return np.zeros((len(codes), 1, 32, 32)) + codes.mean()",
        "model = Model()",
    ]
    (tmp_path / "my_models.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workflows, "evaluate_model", lambda *_: Scores())
    source = ["--model", "my_models:model", "--data", "toy_xys"]
    assert main(["report", *source]) == 0
    read = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "What each latent knows" in read.headings
    assert "Settings" not in read.headings
    assert main(["figures", *source, "--only", "traversals,heat_map_mi,curves"]) == 0
    assert "no curves: a wrapped model has no record" in capsys.readouterr().out
    assert (tmp_path / "figures" / "traversals.png").is_file()
    assert main(["figures", *source, "some-run"]) == 2
    assert main(["figures", "--model", "my_models:np", "--data", "toy_xys"]) == 2


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


def test_the_summary_tells_what_the_figures_show(run):
    """x and y are known to z0 and z1 alone by the stored score, which the heat map draws."""
    codes = views.sample_codes(run)
    baselines = Baselines(
        {"mig": {"pixels": 0.01, "PCA": 0.07, "ground truth": 1.0}},
        {"mig": {"rotated": [0.1, 0.2], "shuffled": [0.01]}},
        1024,
    )
    words = summary(run, codes, baselines)
    label = run.latent_labels()[0]
    assert words.startswith("vae was trained on toy_xys for 4 steps of 8 images.")
    assert f"x is carried by {label} (0.50, the next 0.00); y is carried by z1" in words
    assert (
        "MIG is 0.250 (nulls reach 0.200; the best baseline, PCA, 0.070; ground truth 1.000)."
        in words
    )


def test_nulls_and_baselines_stand_beside_scores(run):
    nulls = {"mig": {"rotated": [0.3, 0.4], "shuffled": [0.01, 0.02]}}
    baselines = Baselines({"mig": {"pixels": 0.123, "ground truth": 1.0}}, nulls, 777)
    read = Page(report_html(run, baselines))
    assert "rotated 0.350 ± 0.071" in read.text
    assert "0.123" in read.words
    assert "777 images" in read.text
    assert "they say nothing about the axes of the codes: mig." in read.text
    assert "scores among baselines" in {image["alt"] for image in read.all("img")}


def test_figures_show_latents_in_one_order(run):
    codes = views.sample_codes(run)
    order = views.latent_order(run, codes)
    labels = [run.latent_labels()[latent] for latent in order]
    heat = figures.heat_map(run, "mi", codes).axes[0]
    assert [text.get_text() for text in heat.get_xticklabels()] == labels
    carried = figures.kl_per_dimension(run, codes).axes[0]
    assert [text.get_text() for text in carried.get_yticklabels()] == labels
    known = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[order].T / 2
    assert [text.get_text() for text in heat.texts] == [f"{value:.2f}" for value in known.ravel()]


def test_figures_tables_and_references_are_written_as_files(run, tmp_path):
    write_report(run, tmp_path / "page.html", baselines=False, files=tmp_path / "files")
    names = {path.name for path in (tmp_path / "files").iterdir()}
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert {path.suffix for path in (tmp_path / "files").iterdir()} == {
        ".svg",
        ".pdf",
        ".csv",
        ".tex",
        ".bib",
    }
    assert names == set(files_in(text))
    assert (tmp_path / "files" / "figure-1-latent-traversals.pdf").read_bytes()[:4] == b"%PDF"
    assert (
        "@inproceedings{kingma2014autoencoding," in (tmp_path / "files/references.bib").read_text()
    )


def test_warnings_do_not_flood(run, monkeypatch):
    from unweave.views import Warned, Warnings

    many = [Warned("correlated", f"pair {i}", [], []) for i in range(5)]
    found = Warnings(many, [warned.message for warned in many])
    monkeypatch.setattr(views, "warnings", lambda *_: found)
    text = str(run_sections._warnings(run, views.sample_codes(run), ""))
    shown, _, rest = text.partition("All 5, one by one")
    assert shown.count("<li>pair") == 3
    assert rest.count("<li>pair") == 5


def test_a_report_goes_into_the_run_folder_and_needs_a_run(run, tmp_path):
    assert write_report(run, baselines=False) == run.path / "report.html"
    with pytest.raises(ConfigError):
        write_report([])
