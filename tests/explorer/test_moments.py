"""The page of a run with weights that were kept on the way, against `uw.load(run, step=…)`."""

import numpy as np
import pytest
from explored import assert_same, canvas, decoded

from unweave.runs.earlier import at_step
from unweave.runs.run import load

HERE = "/runs/vae-s0"
ROW = 40


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


@pytest.fixture(scope="module")
def earlier(run):
    return at_step(run, 2)


def test_answers_are_of_the_weights_that_are_asked_for(served, run, earlier):
    code = earlier.encode(run.data.images([ROW]))[0]
    assert np.abs(code - run.encode(run.data.images([ROW]))[0]).max() > 0.05
    np.testing.assert_allclose(
        served.json(f"{HERE}/row.json?row={ROW}&step=2")["code"], code, atol=1e-5
    )
    assert served.json(f"{HERE}/training_pictures.json")["weights"] == [2]
    quick = served.json(f"{HERE}/latents.json?quick=1&step=2")
    assert (quick["step"], served.json(f"{HERE}/latents.json")["step"]) == (2, 4)
    lines = [line for line in run.folder.record() if "kl_per_dimension" in line]
    assert quick["is_quick"]
    assert quick["kl"] == pytest.approx(lines[0]["kl_per_dimension"])
    status, _, content = served.ask(f"{HERE}/row.json?row={ROW}&step=3")
    assert status == 400
    assert b"no weights of step 3; it keeps those of steps 2" in content


def show(page, what: str) -> None:
    page.get_by_label("Weights of").select_option(what)
    page.wait_for_function("() => !document.querySelector('.moments select').disabled")


def test_the_sliders_go_back_to_weights_of_the_time_lapse(visit, run, earlier):
    page = visit(f"{HERE}#row={ROW}")
    images = run.data.images([ROW])
    slider = page.get_by_label("Step of training")
    assert not page.get_by_text("Use these weights").is_visible(), "none are kept of the last"
    slider.press("Home")
    page.get_by_role("button", name="Use these weights").click()
    page.wait_for_function("() => document.querySelector('.moments select').value === '2'")
    page.wait_for_function("() => !document.querySelector('.moments select').disabled")
    assert_same(canvas(page, ".decoded"), decoded(earlier, earlier.encode(images)[0]))
    assert np.abs(canvas(page, ".decoded") - decoded(run, run.encode(images)[0])).max() > 10
    page.wait_for_function("() => location.hash.includes('step=2')")
    python = page.evaluate(
        "async () => { navigator.clipboard.writeText = async (text) => { window.copied = text; };"
        "const entries = [...document.querySelectorAll('.stage .entries button')];"
        "entries.find((entry) => entry.textContent.includes('Python')).click();"
        "await new Promise((resolve) => setTimeout(resolve, 100)); return window.copied; }"
    )
    assert 'uw.load("runs/vae-s0", step=2)' in python
    show(page, "the newest step")
    assert_same(canvas(page, ".decoded"), decoded(run, run.encode(images)[0]))


def test_a_link_opens_at_its_step_and_says_so_where_it_is_gone(visit, run, earlier):
    page = visit(f"{HERE}#row={ROW}&step=2")
    page.get_by_text("maps are of that moment").wait_for()
    images = run.data.images([ROW])
    assert_same(canvas(page, ".decoded"), decoded(earlier, earlier.encode(images)[0]))
    page.goto("about:blank")
    page = visit(f"{HERE}#row={ROW}&step=3")
    assert page.get_by_text("no weights of step 3").count() == 1
    assert all("400" in complaint for complaint in page.complaints)
    page.complaints.clear()
    show(page, "the newest step")
    assert_same(canvas(page, ".decoded"), decoded(run, run.encode(images)[0]))
