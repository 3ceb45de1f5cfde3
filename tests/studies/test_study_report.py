"""The report of a study that is really run, tiny."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from read_pages import Page
from unweave.cli import main
from unweave.pages import files_in
from unweave.studies import Study
from unweave.studies.report import plots
from unweave.studies.report.blocks import Cells, Plot, Text
from unweave.studies.report.sections import agreement, medians, trade_offs, what_it_showed
from unweave.studies.report.summary import missing_words
from unweave.studies.report.table import StudyTable
from unweave.studies.report.variance import variance

STUDY = """
title = "Two sizes"
notes = "Does it <work> & hold?"
full_size = "1,800 runs"
data = "toy_xys"
seeds = 2
metrics = ["mig", "sap", "modularity"]
preset = "fast"
settings.architecture = { name = "conv_any", channels = [8, 8, 8], hidden = 16 }
budget = { steps = 6, batch_size = 8, evaluations = 1 }
grid = { "method.latent_dim" = [2, 3] }
[[methods]]
name = "beta_vae"
grid = { beta = [1, 4] }
[[methods]]
name = "pca"
[[published]]
method = "beta_vae"
settings = { beta = 4 }
metric = "mig"
value = 0.21
spread = 0.1
source = "a paper"
[[published]]
method = "InfoGAN"
metric = "mig"
value = 0.05
"""


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    file = folder / "two.toml"
    file.write_text(STUDY)
    assert main(["study", "run", str(file), "--out", str(folder / "runs")]) == 0
    return file, folder / "runs"


def test_the_page_holds_everything_and_asks_for_nothing(studied):
    file, root = studied
    assert main(["study", "report", str(file), "--out", str(root)]) == 0
    text = (root / "studies" / "two" / "report.html").read_text()
    page = Page(text)
    assert not re.search(r"""(src|href)=["'](?!data:|#part-)""", text)
    assert page.headings[:3] == ["Summary", "What was run", "Medians by arm"]
    assert "6 arms of 2 seeds on toy_xys: 12 of 12 runs are done." in page.text
    assert "Missing" not in page.text
    assert {name.rpartition(".")[2] for name in files_in(text)} == {
        "svg",
        "pdf",
        "csv",
        "tex",
        "bib",
    }
    assert "Table 1." in page.words
    assert "Over 12 runs, sizes up to" in page.text
    assert "K. Pearson" in page.text
    assert all(image["alt"] for image in page.all("img"))
    assert sum(image["src"].startswith("data:image/svg") for image in page.all("img")) >= 6
    assert "Does it &lt;work&gt; &amp; hold?" in text
    for words in (
        "Medians by arm",
        "Over all settings of a method",
        "Beside published numbers",
        "0.21 ± 0.1",
        "not run",
        "nothing can be told apart",
        "Where the variance comes from",
        "Do the metrics agree?",
        "Trade-off",
        "β and latent size",
        "model_centrality",
        "Traversals of the median run",
        "1,800 runs",
    ):
        assert words in text, words


def test_the_page_fits_every_screen(studied, page):
    file, root = studied
    assert main(["study", "report", str(file), "--out", str(root), "--no-selection"]) == 0
    page.goto((root / "studies" / "two" / "report.html").as_uri())
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_markdown_has_its_pictures_beside_it(studied, tmp_path):
    file, root = studied
    target = tmp_path / "two.md"
    words = ["study", "report", str(file), "--out", str(root), "--no-selection"]
    assert main([*words, "--to", str(target)]) == 0
    text = target.read_text()
    pictures = re.findall(r"\]\((two/[^)]+)\)", text)
    assert len(pictures) >= 6
    assert all((tmp_path / picture).stat().st_size > 500 for picture in pictures)
    assert "| beta_vae, latent_dim 2, beta 1 | 2 |" in text
    assert main([*words, "--to", str(tmp_path / "two.pdf")]) == 2


def test_an_unfinished_study_says_so(studied, tmp_path, capsys):
    file, _ = studied
    words = ["study", "report", str(file), "--out", str(tmp_path / "none")]
    assert main(words) == 0
    text = (tmp_path / "none" / "studies" / "two" / "report.html").read_text()
    assert "12 missing" in text
    assert "No run is finished yet" in text


def test_the_map_says_beta_norm():
    rows = [
        {"arm": f"{b},{d}", "method": "m", "beta": b, "latent_dim": d, "mig": b * d / 100}
        for b in (1, 4)
        for d in (5, 10)
    ]
    figure = plots.setting_map(StudyTable(rows, ["beta", "latent_dim"], ["mig"]), "mig", 4096)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "0.40\nβ_norm 0.0098" in texts
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), [[0.05, 0.2], [0.1, 0.4]])


def test_a_study_that_scores_the_total_correlation_draws_scores_against_it():
    made = [
        {"run": f"{b}-{s}", "arm": f"beta {b}", "method": "m", "data": "d", "beta": b}
        | {"mig": b / 10, "kl_decomposition": 3 / b + s, "elbo": -100.0 - b}
        for b in (1, 4)
        for s in range(2)
    ]
    plan = SimpleNamespace(runs=[], data={})
    with_it = StudyTable(made, ["beta"], ["mig", "kl_decomposition"])
    blocks = list(trade_offs(plan, with_it, "mig"))
    assert [b.text for b in blocks if hasattr(b, "text")] == ["Trade-off", "Total correlation"]
    axes = blocks[-1].drawing.axes[0]
    assert axes.get_xlabel().startswith("total correlation (nats")
    (line,) = [line for line in axes.lines if line.get_label() == "m, beta"]
    np.testing.assert_allclose(line.get_xydata(), [[3.5, 0.1], [1.25, 0.4]])
    without = StudyTable(made, ["beta"], ["mig"])
    assert [b.text for b in trade_offs(plan, without, "mig") if hasattr(b, "text")] == ["Trade-off"]


def rows(*states: tuple[str, int, str]) -> StudyTable:
    made = [
        {"arm": arm, "method": arm, "seed": seed, "state": state, "data": "d", "mig": 0.1 * seed}
        | {"sap": 0.2 - 0.1 * seed, "elbo": None, "active_dimensions": None}
        for arm, seed, state in states
    ]
    return StudyTable(made, [], ["mig", "sap"])


def test_arms_that_are_missing_are_named():
    table = rows(("a", 0, "done"), ("a", 1, "failed"), ("b", 0, "missing"), ("b", 1, "failed"))
    assert missing_words(table) == "a (seed 1); b (all seeds)"
    assert missing_words(rows(("a", 0, "done"))) == ""
    plan = SimpleNamespace(metrics=["mig", "sap"], study=SimpleNamespace(protocol=None))
    (cells,) = [block for block in medians(plan, table, "mig") if hasattr(block, "lines")]
    assert [line[:2] for line in cells.lines] == [["a", "1"], ["b", "0 of 2"]]
    assert {len(line) for line in cells.lines} == {len(cells.header)}
    of_three = rows(("a", 0, "done"), ("a", 1, "done"), ("a", 3, "done"), ("b", 2, "done"))
    cells = next(block for block in medians(plan, of_three, "mig") if hasattr(block, "lines"))
    where = list(cells.header).index("spread of mig")
    assert [line[where] for line in cells.lines] == ["0.300", "–"], "one seed has none"


def test_the_variance_is_split_within_each_data_set():
    # On either set the method explains everything; over both, the sets would explain the most.
    made = [
        {"arm": f"{method} on {data}", "method": method, "data": data, "seed": seed, "mig": mig}
        for data, base in (("easy", 0.5), ("hard", 0.0))
        for method, mig in (("a", base), ("b", base + 0.1), ("off", base - 9.0))
        for seed in range(3)
    ]
    made += [made[0] | {"seed": 3, "mig": 0.52}]
    study = Study(
        name="two",
        data=["easy", "hard"],
        methods=[{"name": "vae", "label": label} for label in ("a", "b", "off")],
        published_variance={"hard": {"mig": [0.25, 0.5]}},
        variance_without=["off"],
    )
    blocks = list(variance(study, StudyTable(made, [], ["mig"])))
    tables = [block for block in blocks if isinstance(block, Cells)]
    titles = [table.title for table in tables]
    assert [title.rpartition(" on ")[2].partition(",")[0] for title in titles] == [
        *["easy"] * 2,
        *["hard"] * 3,
    ]
    easy, easy_rest, hard, hard_rest, beside = (table.lines[0] for table in tables)
    assert (easy[1], hard[1], hard_rest[1]) == ("100 %", "100 %", "100 %")
    assert easy_rest[1] != "100 %", "without the method that is off the seeds show"
    assert (hard[-1], hard_rest[-1]) == ("9", "6")
    assert beside == ["mig", "25 %", "100 %", "100 %", "50 %", "100 %", "100 %"]
    plots = [block.name for block in blocks if isinstance(block, Plot)]
    assert plots == ["variance-easy", "variance-hard"]


def test_findings_stand_on_the_page_in_words_and_not_on_that_of_a_quick_try():
    study = Study(name="one", data="toy_xys", methods=["vae"], showed="One.\n\nTwo.")
    blocks = list(what_it_showed(SimpleNamespace(study=study)))
    assert [block.text for block in blocks] == ["What it showed", "One.", "Two."]
    assert list(what_it_showed(SimpleNamespace(study=study.quick()))) == []


def test_few_runs_have_no_rank_correlations():
    few = rows(*((f"a{i}", i, "done") for i in range(5)))
    blocks = list(agreement(few))
    assert [type(block).__name__ for block in blocks] == ["Heading", "Text"]
    assert "5 runs are too few to tell" in blocks[1].text
    enough = rows(*((f"a{i}", i, "done") for i in range(6)))
    assert "sizes up to 0.83 are common by chance" in list(agreement(enough))[1].caption


def test_metrics_are_ranked_within_a_data_set_and_not_across():
    # Within each set the two scores rank runs in opposite orders; the second is harder by both.
    easy = [row | {"mig": row["mig"] + 5, "sap": row["sap"] + 5} for row in six_runs("easy").rows]
    both = StudyTable(easy + six_runs("hard/one").rows, [], ["mig", "sap"])
    plots = [block for block in agreement(both) if isinstance(block, Plot)]
    assert [plot.name for plot in plots] == ["agreement-easy", "agreement-hard-one"]
    for plot, source in zip(plots, ("easy", "hard/one"), strict=True):
        assert f"over all runs on {source}." in plot.caption
        shown = {text.get_text() for text in plot.drawing.axes[0].texts}
        assert "-1.00" in shown or "−1.00" in shown
    few = StudyTable(easy[:3] + six_runs("hard/one").rows, [], ["mig", "sap"])
    said = [block.text for block in agreement(few) if isinstance(block, Text)]
    assert said == ["3 runs on easy are too few to tell: ranks of fewer than 6 agree by chance."]


def six_runs(source: str) -> StudyTable:
    found = rows(*((f"a{i}", i, "done") for i in range(6)))
    return StudyTable([row | {"data": source} for row in found.rows], [], ["mig", "sap"])
