"""Every method of the catalog gets a report with all that it can show."""

import re
import shutil

import numpy as np
import pytest

from plain_gan import PlainGAN
from read_pages import Page
from tiny_methods import CLASSES, METHODS
from unweave.evaluation import probes
from unweave.figures.style import Drawing
from unweave.methods import Method, method_named, summary_of
from unweave.report import report_html, run_sections
from unweave.runs.run import Run, load

OF_CODES = {
    "KL of each latent",
    "mutual information of factors and latents",
    "DCI importance of latents for factors",
    "response of latents to factors",
}
OF_A_DECODER = {"latent traversals", "moving traversals", "prior samples"}
HIERARCHIES = {"very_deep_vae"}


def known_method(name: str) -> type[Method]:
    """Find the plain GAN too, as a plugin would be found."""
    return CLASSES[name] if name in CLASSES else method_named(name)


def known_summary(method: Method) -> str:
    return "a plain GAN" if isinstance(method, PlainGAN) else summary_of(method)


@pytest.fixture
def reported(toy, tiny_run, tmp_path, monkeypatch):
    """Return a run with scores, and its page; figures are made, but only pictures are drawn."""
    monkeypatch.setattr(Drawing, "content", lambda drawing, *_, **__: b"<svg/>")
    monkeypatch.setattr(probes, "TREES", 5)
    monkeypatch.setattr("unweave.runs.config.method_named", known_method)
    monkeypatch.setattr(run_sections, "summary_of", known_summary)
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
    code = run.code
    expected = set() if code.source == "nowhere" else set(OF_CODES)
    if code.decodes:
        expected |= OF_A_DECODER
    if code.decodes and code.source == "images":
        expected.add("reconstructions")
    if code.swaps:
        expected.add("swapped contents and styles")
    if run.config.method.players:
        expected.add("training curves")
    if has_kl and run.config.method.players:
        expected.add("KL of each latent by step")
    if name in HIERARCHIES:
        expected.add("rate of each layer")
    assert {image["alt"] for image in page.all("img")} == expected
    missing = [words for words in page.words if re.match(r"No [^:]+: ", words)]
    assert len(missing) == (0 if code.decodes else 1), missing
    assert "Warnings" in page.headings
    assert run.config.method.main_knob in page.text
