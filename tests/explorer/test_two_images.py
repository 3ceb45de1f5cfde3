"""Two images in a real browser: what is made of them is what the run makes of the same codes."""

import numpy as np
import pytest
from explored import TOKEN, Served, assert_same, canvas, decoded, start_from_row

from unweave import views
from unweave.editing import Finder
from unweave.explorer import counterfactuals
from unweave.explorer.server import in_background
from unweave.runs.run import load

HERE = "/runs/vae-s0"


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


@pytest.fixture
def three(shown, run):
    """Rows 40, 700 and 333 as A, B and C, and their codes."""
    start_from_row(shown, 40)
    for name, row in (("B", 700), ("C", 333)):
        shown.get_by_label(f"Row of {name}").evaluate(
            "(one, row) => { one.value = row; one.dispatchEvent(new Event('change')); }", row
        )
        shown.get_by_text(f"{name}: row {row}").wait_for(state="attached")
    return run.encode(run.data.images([40, 700, 333]))


def result(page) -> np.ndarray:
    page.wait_for_timeout(500)
    return canvas(page, ".result")


def test_what_lies_between_is_decoded_between(shown, three, run):
    shown.get_by_role("button", name="Between A and B").click()
    a, b, _ = three
    assert_same(result(shown), decoded(run, (a + b) / 2))
    shown.get_by_label("Share of B").press("End")
    assert_same(result(shown), decoded(run, b))
    strip = canvas(shown, "canvas[aria-label='From A to B']")
    assert_same(strip[:, 2 * 33 : 2 * 33 + 32], decoded(run, 0.75 * a + 0.25 * b))


def test_latents_of_one_are_put_into_the_other(shown, three, run):
    shown.get_by_role("button", name="Latents of B in A").click()
    a, b, _ = three
    shown.locator(".pick input[data-first='1']").check()
    assert_same(result(shown), decoded(run, [a[0], b[1], a[2]]))
    shown.get_by_role("button", name="Use the result above").click()
    shown.wait_for_timeout(400)
    assert_same(canvas(shown, ".decoded"), decoded(run, [a[0], b[1], a[2]]))
    shown.locator(".pick input[data-first='1']").uncheck()


def test_a_minus_b_plus_c(shown, three, run):
    shown.get_by_role("button", name="A − B + C").click()
    a, b, c = three
    assert_same(result(shown), decoded(run, a - b + c))


def test_one_factor_is_changed_beside_the_true_image(shown, served, run):
    carried = served.json(f"{HERE}/alignment.json")["factors"]
    factor = max(carried, key=lambda one: one["share"])["factor"]
    row, value, column = 40, 3, run.data.factor_names.index(factor)
    found = served.json(f"{HERE}/counterfactual.json?row={row}&factor={factor}&value={value}")
    before, after = run.data.factors([row, found["other"]])
    assert after[column] == value
    np.testing.assert_array_equal(np.delete(before, column), np.delete(after, column))
    # The edit: the latent that carries the factor, where images of that value have it.
    code = run.encode(run.data.images([row]))[0]
    finder = Finder(run, views.sample_codes(run))
    target = finder.find(factor)
    label = served.json(f"{HERE}/factors.json")["factors"][column]["labels"][value]
    code[list(target.unit.dimensions)] = finder.code_at(target, label)
    np.testing.assert_allclose(found["code"], code, atol=1e-5)
    start_from_row(shown, row)
    shown.get_by_role("button", name="Change one factor").click()
    shown.get_by_label("Factor to change").select_option(factor)
    shown.get_by_label("New value").select_option(str(value))
    shown.wait_for_timeout(700)
    other = run.data.images([found["other"]])
    assert_same(canvas(shown, ".best-possible"), decoded(run, run.encode(other)[0]))
    assert_same(canvas(shown, ".result"), decoded(run, code))
    assert shown.locator(".truth").get_attribute("src") == views.pictures_to_urls(other[0])


@pytest.mark.parametrize(
    "asked",
    ["row=40&factor=none&value=1", "row=40&factor=side&value=99", "row=99999&factor=side&value=1"],
)
def test_what_no_world_shows_is_refused(served, asked):
    assert served.ask(f"{HERE}/counterfactual.json?{asked}")[0] == 400


def test_style_is_swapped_and_its_leakage_told(browser, tiny_run, monkeypatch):
    monkeypatch.setattr(counterfactuals, "ROWS", 200)  # forests of more take long
    run = tiny_run("ml_vae")
    with in_background(run.path.parent, TOKEN) as (port, _):
        served = Served(run.path.parent, port)
        page = browser.new_page()
        page.goto(f"{served.address}/runs/{run.path.name}?token={TOKEN}")
        page.wait_for_selector("html[data-ready]")
        assert page.locator(".role.content").count() > 0
        start_from_row(page, 40)
        page.get_by_label("Row of B").fill("700")
        page.get_by_label("Row of B").press("Enter")
        page.get_by_text("B: row 700").wait_for()
        page.get_by_role("button", name="Latents of B in A").click()
        page.get_by_role("button", name="Swap style").click()
        page.wait_for_timeout(500)
        images = run.data.images([40, 700])
        expected = np.round(run.swap(images[:1], images[1:])[0, 0] * 255).astype(np.int64)
        assert_same(canvas(page, ".result"), expected)
        page.close()
        found = served.json(f"/runs/{run.path.name}/leakage.json")
        assert set(found["accuracy"]) == {"content", "style"}
        assert 50 < found["judged"] < 150
