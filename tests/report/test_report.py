"""Reports: one file, nothing loaded, everything escaped, numbers that are right."""

import dataclasses
import shutil

import numpy as np
import pytest

from read_pages import Page
from unweave import catalog, views, workflows
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.evaluation.probes import leakage
from unweave.evaluation.scores import Scores
from unweave.explorer.open_runs import Library
from unweave.explorer.page_data import run_facts
from unweave.figures import comparisons
from unweave.methods import method_named
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.gvae import GVAE
from unweave.methods.vae import VAE
from unweave.report import report_html
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop
from unweave.watchers import Pictures
from unweave.workflows import write_report

EVIL = "<script>alert(1)</script>"
PARTS = [
    "Warnings",
    "Scores",
    "What each latent does",
    "What each latent knows",
    "What it decodes",
    "Training",
    "Data",
    "Settings",
    "How to repeat it",
]


def score(value, higher=True, protocol="locatello2019", **details):
    return {
        "value": value,
        "protocol": protocol,
        "higher_is_better": higher,
        "details": details,
    }


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


def test_metrics_agree_by_rank_whichever_way_is_better(four):
    view = views.compare(four).agreement
    assert view.metrics == ["mig", "sap", "unfairness"]
    expected = [[1, -0.8, 1], [-0.8, 1, -0.8], [1, -0.8, 1]]
    np.testing.assert_allclose(view.correlation, expected)
    few = views.compare(four[:2]).agreement
    assert np.isnan(few.correlation).all()


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
    matrix = comparisons.rank_agreement(view).axes[0]
    assert [text.get_text() for text in matrix.texts][:3] == ["1.00", "-0.80", "1.00"]


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


def test_metrics_without_ranks_are_left_out_of_the_matrix(four, tmp_path):
    folder = tmp_path / "run0"
    shutil.copytree(four[0].path, folder)
    alone = load(folder)
    alone.folder.write_scores({**alone.scores, "dci": score(0.5)})
    axes = comparisons.rank_agreement(views.compare([alone, *four[1:]])).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["mig", "sap", "unfairness"]


def test_the_report_of_several_runs_compares_them_first(four, tmp_path, capsys):
    out = tmp_path / "new" / "all.html"
    assert main(["report", *[str(run.path) for run in four], "--out", str(out)]) == 0
    assert "MB" in capsys.readouterr().out
    read = Page(out.read_text(encoding="utf-8"))
    assert read.headings[0] == "Comparison"
    assert read.headings.count("What each latent does") == 4
    assert "0.200 ± 0.141" in read.text
    assert {link["href"] for link in read.all("a")} == {f"#run-{i}" for i in range(4)}
    ids = {section.get("id") for section in read.all("section")}
    assert {f"run-{i}" for i in range(4)} <= ids


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


def test_a_report_goes_into_the_run_folder_and_needs_a_run(run, tmp_path):
    assert write_report(run) == run.path / "report.html"
    with pytest.raises(ConfigError):
        write_report([])
