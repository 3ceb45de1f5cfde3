"""Advice names what there is, and follows from what a run shows."""

import re
from pathlib import Path

import numpy as np
import pytest

import known_models
from unweave import advice, applications
from unweave.cli import main
from unweave.cli._parse import take_choices
from unweave.methods import method_named
from unweave.runs.wrapped import wrap

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("choice", advice.CHOICES, ids=lambda c: f"{c.have}-{c.want}-{c.method}")
def test_every_choice_is_a_method_with_settings_and_a_page_that_exist(choice):
    method = method_named(choice.method)
    take_choices([], method, "method")
    fields = {name for name in dir(method()) if not name.startswith("_")}
    for flag in re.findall(r"--method\.([\w-]+)", choice.flags):
        assert flag.replace("-", "_") in fields
    assert choice.have in advice.HAVE
    assert choice.want in advice.WANT
    page, _, heading = choice.page.partition("#")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert not heading or re.search(rf"^##+ {heading}$", text, re.MULTILINE | re.IGNORECASE)


@pytest.mark.parametrize("choice", advice.CHOICES, ids=lambda c: f"{c.have}-{c.want}-{c.method}")
def test_a_choice_rests_on_a_rule_that_is_met(choice):
    page, _, rule = choice.page.partition("#")
    if page == advice.ACCEPTANCE:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        line = next(line for line in text.splitlines() if line.startswith(f"| [{rule}]("))
        assert " passes" in line
        assert re.search(r"all \d+ fail", line)


@pytest.mark.parametrize("use", advice.USES, ids=lambda use: use.application)
def test_every_use_is_an_application_with_results(use, capsys):
    assert use.application.replace("-", "_") in applications.names()
    page, _, place = use.page.partition("#")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    # As GitHub makes the place of a heading: small, no punctuation, hyphens for spaces.
    places = [re.sub(r"[^\w\s²-]", "", h.lower()).replace(" ", "-") for h in headings]
    assert place in places
    assert main(["advise", "--use", use.application]) == 0
    assert use.page in "".join(capsys.readouterr().out.split())


def test_the_page_shows_the_tables():
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    assert advice.choices_as_markdown() in page
    assert advice.uses_as_markdown() in page
    assert advice.remedies_as_markdown() in page


def test_every_warning_has_a_remedy():
    from unweave.views import warning_signs

    source = Path(warning_signs.__file__).read_text(encoding="utf-8")
    kinds = set(re.findall(r'Warned\(\s*"(\w+)"', source))
    assert kinds >= {"collapsed", "idle", "correlated", "kl_limit"}
    assert kinds <= set(advice.REMEDIES)


def test_beta_to_begin_with_is_the_papers_on_its_own_images():
    assert advice.starting_beta((1, 64, 64)) == pytest.approx(4, abs=0.02)
    assert advice.starting_beta((3, 64, 64), 20) == pytest.approx(6, abs=0.05)


def test_who_has_more_is_told_of_more():
    assert advice.choices("pairs", "axes")[0].method == "ada_gvae"
    assert "cooled_tcvae" in [c.method for c in advice.choices("pairs", "axes")]
    assert advice.choices("classes", "likelihood")[0].method == "very_deep_vae"


def test_a_run_is_told_what_it_shows(toy):
    separated = known_models.separated(toy)
    assert {told.remedy.sign for told in advice.diagnose(separated)} <= {"collapsed (some latents)"}
    mixed = {told.remedy.sign for told in advice.diagnose(known_models.entangled(toy))}
    assert "entangled_factors" in mixed

    def grey(codes):
        return np.full((len(codes), 1, 32, 32), 0.1, dtype=np.float32)

    blurred = known_models.separated(toy, decode=grey)
    assert "blurred" in {told.remedy.sign for told in advice.diagnose(blurred)}
    assert advice.explained_share(separated) == pytest.approx(1.0)

    def still(images):
        return np.zeros((len(images), 4), np.float32), np.zeros((len(images), 4), np.float32)

    dead = wrap(lambda images: still(images)[0], toy, posterior=still, name="dead")
    assert advice.diagnose(dead)[0].remedy.sign == "collapsed (whole code)"


def test_the_command_answers_and_refuses(tiny_run, capsys):
    assert main(["advise", "--have", "pairs", "--data", "toy_xys"]) == 0
    out = capsys.readouterr().out
    assert "unweave train ada_gvae --data toy_xys" in out
    assert "to begin with: 1 for 1 × 32 × 32" in out
    assert main(["advise", str(tiny_run("vae").path)]) == 0
    assert "  - " in capsys.readouterr().out
    assert main(["advise", "--have", "pears"]) == 2
    assert "'pairs'" in capsys.readouterr().err
    assert main(["advise", "--have", "clips", "--want", "content"]) == 0
    assert "nothing here gives" in capsys.readouterr().out
