"""Every method of the catalog gets a report with all that it can show."""

import re
import shutil

import numpy as np
import pytest

from read_pages import Page
from tiny_methods import METHODS
from unweave.evaluation import probes
from unweave.figures.style import Drawing
from unweave.report import report_html
from unweave.runs.run import Run, load

ALWAYS = {
    "KL of each latent",
    "mutual information of factors and latents",
    "DCI importance of latents for factors",
    "response of latents to factors",
}
OF_A_DECODER = {"latent traversals", "moving traversals", "prior samples"}
HIERARCHIES = {"very_deep_vae"}


pytestmark = pytest.mark.usefixtures("plain_gan_is_known")


@pytest.fixture
def reported(toy, tiny_run, tmp_path, monkeypatch):
    """Return a run with scores, and its page; figures are made, but only pictures are drawn."""
    monkeypatch.setattr(Drawing, "content", lambda drawing, *_, **__: b"<svg/>")
    monkeypatch.setattr(probes, "TREES", 5)
    few = toy.split(0.05, keep_numbers=True)[1]

    def report(name: str) -> tuple[Run, Page]:
        folder = tmp_path / "run"
        shutil.copytree(tiny_run(name).path, folder)
        run = load(folder, data=few)
        # With these scores no predictors have to be fitted for the heat maps.
        known = np.random.default_rng(0).random((run.latent_dim, 3)).tolist()
        details = {
            "factor_names": list(few.factor_names),
            "mutual_information": known,
            "factor_entropy": [1.0, 1.0, 1.0],
            "importance": known,
        }
        entry = {"value": 0.2, "protocol": "locatello2019", "details": details}
        run.folder.write_scores({"mig": entry, "dci": entry})
        return run, Page(report_html(run))

    return report


@pytest.mark.parametrize("name", METHODS)
def test_the_report_of_a_method_shows_all_that_it_can(name, reported):
    run, page = reported(name)
    has_kl = any("kl_per_dimension" in line for line in run.folder.record())
    expected = set(ALWAYS) if run.code.source != "nowhere" else set()
    if run.code.decodes:
        expected |= OF_A_DECODER
    if run.code.decodes and run.code.source == "images":
        expected.add("reconstructions")
    if run.code.swaps:
        expected.add("swapped contents and styles")
    if run.code.decodes and "style" in run.code.roles:
        expected.add("mixed contents and styles")
    if run.config.method.players:
        expected.add("training curves")
    if has_kl and run.config.method.players:
        expected.add("KL of each latent by step")
    if name in HIERARCHIES:
        expected.add("rate of each layer")
    assert {image["alt"] for image in page.all("img")} == expected
    missing = [words for words in page.words if re.match(r"No [^:]+: ", words)]
    assert len(missing) == (0 if run.code.decodes else 1), missing
    assert "Warnings" in page.headings
    assert run.config.method.main_knob in page.text
