"""Reports: one file, nothing loaded, everything escaped, numbers that are right."""

import shutil

import numpy as np
import pytest
from stored_score import score

import known_models
from read_pages import Page
from unweave import catalog, figures, views, workflows
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.evaluation.baselines import Baselines
from unweave.evaluation.probes import leakage
from unweave.evaluation.scores import Scores
from unweave.explorer.open_runs import Library
from unweave.explorer.page_data import run_facts
from unweave.methods import method_named
from unweave.methods.ground_truth import GroundTruth
from unweave.methods.gvae import GVAE
from unweave.methods.vae import VAE
from unweave.pages import files_in
from unweave.report import report_html, run_sections
from unweave.report.summary import summary
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop
from unweave.watchers import Pictures
from unweave.workflows import write_report

pytestmark = pytest.mark.usefixtures("without_files")

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


def test_the_summary_tells_what_the_figures_show(run):
    codes = views.sample_codes(run)
    baselines = Baselines(
        {"mig": {"pixels": 0.01, "PCA": 0.07, "ground truth": 1.0}},
        {"mig": {"rotated": [0.1, 0.2], "shuffled": [0.01]}},
        1024,
    )
    words = summary(run, codes, baselines)
    assert words.startswith("vae was trained on toy_xys for 4 steps of 8 images. 0 of 3 latents")
    assert (
        "MIG is 0.250 (nulls reach 0.200; the best baseline, PCA, 0.070; ground truth 1.000)."
        in words
    )


def test_the_summary_says_what_latents_are_in_the_words_of_the_caption(toy):
    model = known_models.separated(toy)
    words = summary(model, views.sample_codes(model), Baselines())
    assert "3 of 4 latents carry something" in words
    assert "together: z0 is x; z1 is y; z2 is side (by mutual information, 1,024 images)." in words
    assert words.endswith("It is not scored.")


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
