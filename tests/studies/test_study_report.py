"""The report of a study that is really run, tiny."""

import re

import numpy as np
import pytest

from read_pages import Page
from unweave.cli import main
from unweave.studies.report import plots
from unweave.studies.report.table import StudyTable

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
    assert not re.search(r"""(src|href)=["'](?!data:)""", text)
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
