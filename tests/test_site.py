"""What the documentation site generates. `make docs` builds it, with warnings as errors."""

import importlib
import io
import json
import sys
from pathlib import Path

import pytest
from docutils.core import publish_doctree

from unweave import catalog

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("site_pages")
    finally:
        sys.path.remove(str(DOCS))


def test_a_method_has_a_page_with_its_formula_settings_paper_and_results(pages):
    text = pages.method_page("beta_vae")
    assert text.startswith("# beta_vae\n")
    assert "| `beta` |" in text
    assert "](https://openreview.net/forum?id=Sy2fzU9gl)" in text
    assert "unweave train beta_vae" in text
    kept = (DOCS / "results" / "acceptance" / "beta_vae.jsonl").read_text(encoding="utf-8")
    arms = {json.loads(line)["arm"] for line in kept.splitlines()}
    assert all(f"| {arm} |" in text for arm in arms)
    assert "### beta_vae_warm_up" in text


@pytest.mark.parametrize("name", catalog.own_names("unweave.methods"))
def test_every_method_says_when_to_use_it_and_when_not(pages, name):
    use = pages.when_to_use(name)
    assert {"Not", "not"} & set(use.split()), "what it is not for"
    text = pages.method_page(name)
    assert text.count(use) == 1
    assert text.index("## When to use it, and when not") < text.index(use)


def test_a_page_has_the_pictures_and_numbers_that_are_kept(pages):
    text = pages.method_page("beta_vae")
    assert "![beta_vae: the method beside its saboteurs](../../results/acceptance/beta_vae" in text
    assert "![traversals of beta_vae](../../results/dsprites/beta_vae.png)" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| β-VAE |")]
    assert row in (DOCS / "results" / "dsprites.md").read_text(encoding="utf-8")
    did = text.partition("## What `beta` did here")[2]
    arms = ["beta 1", "beta 4", "beta 10"]
    assert [f"| beta_vae, {arm} |" in did for arm in arms] == [True] * 3
    assert "beta_tcvae" not in did.partition("## ")[0]
    assert "[Generators](../../results/generators.md)" in pages.method_page("info_gan")


def test_figures_of_the_defaults_are_shown_where_there_are_any(pages, tmp_path, monkeypatch):
    assert "patches_any" not in pages.on_dsprites("dc_ign") or pages.by_default("dc_ign")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "dsprites.md").write_text("# None\n")
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    assert pages.on_dsprites("vae") == ""
    lines = [
        {"run": f"{run}-dsprites-0-s0", "steps": 5000, "figures": {"mig": mig}, "complaints": said}
        for run, mig, said in (
            ("vae", 0.1, []),
            ("vae", 0.2, ["collapsed"]),
            ("beta_vae", 0.3, []),
            ("semi_supervised+beta_vae", 0.4, []),
        )
    ]
    kept = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "results" / "defaults.jsonl").write_text(kept)
    text = pages.on_dsprites("vae")
    assert "| mig | 0.2 |" in text
    assert "Complaints: collapsed." in text
    assert "No complaints." in pages.on_dsprites("beta_vae")
    assert "| mig | 0.3 |" in pages.on_dsprites("beta_vae")
    assert "| mig | 0.4 |" in pages.on_dsprites("semi_supervised")
    assert pages.by_default("semi") is None


def test_what_knobs_did_is_shown_for_the_method_alone(pages, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    assert pages.knobs("vae") == ""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "knobs.md").write_text(
        "# Knobs\n\n## vae\n\n| latent_dim |\n|---|\n| 5 |\n\n"
        "## beta_vae\n\n| beta |\n|---|\n| 4 |\n"
    )
    assert "| 5 |" in pages.knobs("vae")
    assert "| 4 |" not in pages.knobs("vae")
    assert pages.knobs("beta_vae").endswith("| 4 |")


def test_rules_of_a_method_whose_name_begins_alike_are_left_out(pages):
    text = pages.acceptance("aae")
    assert "### aae_gaussian" in text
    assert "### aae_clustering" not in text


def test_a_metric_has_a_page_with_its_protocols_and_call(pages):
    text = pages.metric_page("mig")
    assert "| `locatello2019` |" in text
    assert "metrics.mig(\n    codes,\n    factors,\n    *," in text


def test_lists_name_every_entry(pages):
    methods = catalog.own_names("unweave.methods")
    text = pages.contents("Methods", "unweave.methods", methods)
    assert all(f"]({name}.md)" in text for name in methods)
    assert all(f"| `{name}` |" in pages.worlds_page() for name in catalog.own_names("unweave.data"))


def test_a_notebook_becomes_a_page_with_its_pictures(pages, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "NOTEBOOKS", tmp_path)
    outputs = [
        {"output_type": "stream", "text": ["said\n"]},
        {"output_type": "display_data", "data": {"image/png": "aGk="}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": outputs},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    text = pages.notebook_pages()["notebooks/a.md"]
    assert text.index("# Title") < text.index("print(1)") < text.index("said")
    assert "![output](a-1.png)" in text
    assert (tmp_path / "generated" / "notebooks" / "a-1.png").read_bytes() == b"hi"


@pytest.mark.parametrize(
    "text",
    [
        "Return `a*b` and *args, **kwargs, x_ | y|.",
        "One line\n    that goes on indented.",
        "First:\n\n    L(x) = E[-log p(x|z)] * 2\n\nThen a `name` and a ` alone.",
        ">>> run = uw.train('vae')\n1",
        "- a list\n- of two_\n\nEnds with a backslash \\",
    ],
)
def test_docstrings_are_shown_word_by_word_and_never_warn(pages, text):
    said = io.StringIO()
    lines = pages.as_rest(text.split("\n"))
    tree = publish_doctree("\n".join(lines), settings_overrides={"warning_stream": said})
    assert said.getvalue() == ""
    words = "".join(tree.astext().split())
    assert words == "".join(text.replace("`a*b`", "a*b").replace("`name`", "name").split()).replace(
        "-alist-oftwo_", "alistoftwo_"
    )
