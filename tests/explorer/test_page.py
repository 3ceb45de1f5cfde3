"""The page in a real browser: what is seen is what the run decodes."""

import json
import os
import shutil
import time

import numpy as np
import pytest
from explored import (
    assert_same,
    canvas,
    decoded,
    grids,
    settle,
    slider_value,
    start_from_row,
)
from PIL import Image

from unweave import views
from unweave.runs.run import load

STEPS = 9


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


@pytest.fixture
def own_run(served, request):
    """A copy of a run that a test may change; asked for before `visit`, to go after its page.

    A page that is still open asks for its run every second, and complains if it is gone.
    """
    folder = served.root / f"own-{request.node.name}"
    shutil.copytree(served.root / "vae-s0", folder)
    yield folder
    shutil.rmtree(folder)


def test_dragging_a_slider_shows_what_the_run_decodes(visit, run):
    page = visit("/runs/vae-s0")
    start_from_row(page, 123)
    settle(page, 1)
    code = run.encode(run.data.images([123]))[0]
    page.wait_for_timeout(300)
    assert_same(canvas(page, ".decoded"), decoded(run, code))
    before = canvas(page, ".decoded")
    seen = grids(page)

    slider = page.locator("input[type=range][data-latent='1']")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.6, 0.8, 0.97):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    page.mouse.up()
    settle(page, seen + 1)
    page.wait_for_timeout(300)
    code[1] = slider_value(page, 1)
    assert code[1] > 1.5
    assert_same(canvas(page, ".decoded"), decoded(run, code))
    assert not np.array_equal(canvas(page, ".decoded"), before)

    # The grid around the same point: the first line varies its latent over the slider's range.
    line = page.locator(".latent").first
    latent = int(line.get_attribute("data-latent"))
    range_input = line.locator("input[type=range]")
    low, high = (float(range_input.get_attribute(end)) for end in ("min", "max"))
    strip = canvas(page, f".latent[data-latent='{latent}'] .strip")
    for i, value in enumerate(np.linspace(low, high, STEPS)):
        code_of_cell = code.copy()
        code_of_cell[latent] = value
        assert_same(strip[:, 33 * i : 33 * i + 32], decoded(run, code_of_cell))


def test_keys_move_sliders_and_cells(visit, run):
    page = visit("/runs/vae-s0")
    start_from_row(page, 5)
    slider = page.locator("input[type=range][data-latent='0']")
    slider.focus()
    page.keyboard.press("Home")
    code = run.encode(run.data.images([5]))[0]
    code[0] = float(slider.get_attribute("min"))
    page.wait_for_timeout(500)
    assert slider_value(page, 0) == pytest.approx(code[0], abs=1e-5)
    assert_same(canvas(page, ".decoded"), decoded(run, code))

    cells = page.locator(".heat button")
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".scatter circle").first.wait_for()
    pressed = page.locator(".heat button[aria-pressed=true]")
    order = page.locator(".latent").evaluate_all("all => all.map(one => one.dataset.latent)")
    assert pressed.get_attribute("data-latent") == order[1]
    assert pressed.get_attribute("data-factor") == run.data.factor_names[1]
    assert page.locator(".scatter canvas").count() == 1  # its traversal


def test_an_uploaded_image_is_started_from(visit, run, tmp_path):
    page = visit("/runs/vae-s0")
    image = run.data.images([900])
    Image.fromarray(np.round(image[0, 0] * 255).astype(np.uint8)).save(tmp_path / "mine.png")
    page.set_input_files("input[type=file]", tmp_path / "mine.png")
    page.get_by_text("Started from your image mine.png").wait_for()
    page.wait_for_timeout(500)
    assert_same(canvas(page, ".decoded"), decoded(run, run.encode(image)[0]))
    (tmp_path / "words.png").write_text("no image")
    page.set_input_files("input[type=file]", tmp_path / "words.png")
    page.get_by_text("not a readable image").wait_for()
    page.complaints.clear()  # a refused upload is an answer of 400, which browsers note


def test_a_draw_from_the_prior_is_started_from(visit, run):
    page = visit("/runs/vae-s0")
    page.get_by_role("button", name="Prior sample").click()
    page.get_by_text("Started from a draw").wait_for()
    page.wait_for_timeout(500)
    assert_same(canvas(page, ".decoded"), decoded(run, run.prior_codes(1, 0)[0]))


def test_a_name_is_kept_in_the_folder_and_used_in_figures(own_run, visit):
    page = visit(f"/runs/{own_run.name}")
    field = page.get_by_label("Name of latent 1")
    field.fill("x <b>position</b>")
    field.press("Enter")
    page.get_by_text("kept", exact=True).wait_for()
    assert load(own_run).latent_names == {1: "x <b>position</b>"}
    assert "z1 x <b>position</b>" in views.traversals(load(own_run)).labels
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_label("Name of latent 1").input_value() == "x <b>position</b>"
    assert page.locator("b", has_text="position").count() == 0  # text stays text


def test_a_run_that_trains_is_followed_without_reloading(own_run, visit):
    (own_run / "networks.safetensors").unlink()
    lines = (own_run / "record.jsonl").read_text()
    status = {"state": "running", "step": 4, "steps": 1000, "pid": os.getpid()}
    (own_run / "status.json").write_text(json.dumps(status))
    page = visit(f"/runs/{own_run.name}")
    page.get_by_text("● live").wait_for()
    page.get_by_text("4 of 4 steps").wait_for()
    start_from_row(page, 77)
    page.wait_for_timeout(500)
    before = canvas(page, ".decoded")
    points = page.locator(".plot polyline").first.get_attribute("points")
    page.evaluate("window.isTheSamePage = true")

    # Training goes on: more lines in the record, then other weights.
    more = [json.dumps({**json.loads(line), "step": 500}) for line in lines.splitlines()]
    with open(own_run / "record.jsonl", "a") as file:
        file.write("\n".join(more) + "\n")
    page.get_by_text("501 of 4 steps").wait_for()
    deadline = time.monotonic() + 30
    while page.locator(".plot polyline").first.get_attribute("points") == points:
        assert time.monotonic() < deadline, "the curves did not follow"
        page.wait_for_timeout(200)

    other = load(own_run)
    for parameter in other.nets.parameters():
        parameter.data.mul_(1.5)
    other.folder.save_networks(other.nets, 600)
    now = load(own_run)
    expected = decoded(now, now.encode(now.data.images([77]))[0])
    assert np.abs(expected - before).max() > 1
    deadline = time.monotonic() + 30
    while np.abs(canvas(page, ".decoded") - expected).max() > 1:
        assert time.monotonic() < deadline, "the decoder did not follow"
        page.wait_for_timeout(200)
    assert page.evaluate("window.isTheSamePage")


def test_the_exported_file_decodes_the_same_image_from_disk(page, exported, run):
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(exported.as_uri())
    page.wait_for_selector("html[data-ready]")
    settle(page, 1)
    choice = page.locator(".gallery button").nth(3)
    row = int(choice.get_attribute("title").removeprefix("row "))
    choice.click()
    page.locator("input[type=range][data-latent='2']").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(500)
    code = run.encode(run.data.images([row]))[0]
    code[2] = slider_value(page, 2)
    assert_same(canvas(page, ".decoded"), decoded(run, code))
    elsewhere = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    assert elsewhere == []


def test_the_exported_file_is_the_whole_page(page, exported, run):
    page.goto(exported.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.locator(".heat button").first.click()
    page.locator(".scatter circle").first.wait_for()
    page.get_by_text("Show the mean of each latent").click()
    page.locator(".response").first.wait_for()
    assert page.locator(".plot polyline").count() > 0
    assert (
        page.locator("[data-application='representation'] img").get_attribute("src")[:5] == "data:"
    )
    assert page.locator("a[href*='.json']").count() == 0  # there is nobody to ask
    # A name lives in the address, and so does the code.
    field = page.get_by_label("Name of latent 1")
    field.fill("width")
    field.press("Enter")
    page.locator("input[type=range][data-latent='0']").press("End")
    page.wait_for_timeout(500)
    before = canvas(page, ".decoded")
    address = page.evaluate("() => location.href")
    assert "width" in address
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(500)
    assert page.get_by_label("Name of latent 1").input_value() == "width"
    assert_same(canvas(page, ".decoded"), before)
    # In a frame there are the images and sliders, and nothing else.
    page.goto(exported.as_uri() + "?frame")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("section:visible h2").all_inner_texts() == ["Latents"]


def test_runs_are_filtered_sorted_and_chosen_for_comparison(visit):
    page = visit("/")
    names = page.locator("tbody .run-name")
    assert names.count() >= 3
    page.get_by_label("Filter runs").fill("vae s1")
    assert names.all_inner_texts() == ["study/vae-s1"]
    page.get_by_label("Filter runs").fill("vae")
    page.get_by_role("button", name="mig").click()
    assert names.first.inner_text() == "study/vae-s1"  # the only one with a score
    page.get_by_role("button", name="run", exact=True).click()
    shown = names.all_inner_texts()
    assert shown == sorted(shown)
    page.get_by_label("Compare vae-s0").check()
    page.get_by_label("Compare study/vae-s1").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.wait_for_selector("html[data-ready]")
    page.locator(".columns canvas.strip").nth(5).wait_for()
    assert page.locator(".columns .decoded").count() == 2
    page.get_by_text("Settings that differ").wait_for()


def test_a_method_without_decoder_has_a_page(visit):
    page = visit("/runs/truth")
    page.get_by_text("nothing to slide").wait_for()
    page.locator(".heat button").first.click()
    page.locator(".scatter circle").first.wait_for()


def test_a_run_that_is_not_there_says_so(visit, page):
    visit("/runs/none")
    page.get_by_text("no run 'none'").wait_for()
    page.complaints.clear()  # browsers note every answer of 404


SHIFTS = """
    window.shift = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("path", ["/", "/runs/vae-s0", "/compare?run=vae-s0&run=study/vae-s1"])
def test_no_page_jumps_or_is_wider_than_the_screen(page, visit, path):
    page.add_init_script(SHIFTS)
    visit(path)
    # Shares of the screen that moved, times how far: up to 0.1 is called good by those who measure.
    assert path.startswith("/compare") or page.evaluate("() => window.shift") < 0.1
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
