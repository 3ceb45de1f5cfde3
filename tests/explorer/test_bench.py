"""The workbench in a real browser: the address, undo, files, pad, play; pixels are the run's."""

import csv
import io
import json

import numpy as np
import pytest
from explored import assert_same, canvas, decoded, slider_value, start_from_row
from PIL import Image

from unweave.runs.run import load

SIDE = 32


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


def moved(page, latent: int, key: str) -> float:
    """Press a key on a slider, and return where it is then."""
    page.locator(f"input[type=range][data-latent='{latent}']").press(key)
    page.wait_for_timeout(300)
    return slider_value(page, latent)


def saved(page, words: str) -> bytes:
    """Choose an entry of the bench's menu, and return the file."""
    page.locator(".stage .menu summary").click()
    with page.expect_download() as found:
        page.get_by_role("button", name=words).click()
    return found.value.path().read_bytes()


def test_start_reconstruction_and_edit_stand_side_by_side(shown, run):
    start_from_row(shown, 123)
    code = run.encode(run.data.images([123]))[0]
    code[1] = moved(shown, 1, "End")
    boxes = [shown.locator(f".views {part}").bounding_box() for part in ("img", "canvas >> nth=1")]
    assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=1)
    assert_same(
        canvas(shown, ".reconstruction"), decoded(run, run.encode(run.data.images([123]))[0])
    )
    assert_same(canvas(shown, ".decoded"), decoded(run, code))


def test_what_is_done_can_be_undone_and_one_latent_reset(shown, run):
    start_from_row(shown, 10)
    first = run.encode(run.data.images([10]))[0]
    low = moved(shown, 0, "Home")
    high = moved(shown, 2, "End")
    shown.get_by_role("button", name="Undo").click()
    shown.wait_for_timeout(300)
    assert_same(canvas(shown, ".decoded"), decoded(run, [low, first[1], first[2]]))
    shown.get_by_role("button", name="Redo").click()
    shown.get_by_role("button", name="Reset z0").click()
    shown.wait_for_timeout(300)
    assert_same(canvas(shown, ".decoded"), decoded(run, [first[0], first[1], high]))
    shown.locator("input[type=range]").first.press("Control+z")
    shown.wait_for_timeout(300)
    assert_same(canvas(shown, ".decoded"), decoded(run, [low, first[1], high]))


def test_a_link_shows_the_same(shown, visit, run):
    start_from_row(shown, 44)
    moved(shown, 1, "Home")
    cell = shown.locator(".heat button").nth(4)
    cell.click()
    shown.locator(".scatter circle").first.wait_for()
    shown.wait_for_timeout(400)
    fragment = shown.evaluate("location.hash")
    assert "row=44" in fragment
    assert "cell=" in fragment
    page = visit("/runs/vae-s0" + fragment)
    page.get_by_text("Started from row 44").wait_for()
    page.locator(".scatter circle").first.wait_for()
    page.wait_for_timeout(300)
    assert_same(canvas(page, ".decoded"), canvas(shown, ".decoded"))
    pressed = page.locator(".heat button[aria-pressed=true]")
    assert pressed.get_attribute("aria-label") == cell.get_attribute("aria-label")


def test_images_lines_and_codes_are_saved(shown, run):
    start_from_row(shown, 77)
    code = run.encode(run.data.images([77]))[0]
    code[2] = moved(shown, 2, "End")
    picture = Image.open(io.BytesIO(saved(shown, "Image (PNG)"))).convert("L")
    assert_same(np.asarray(picture, dtype=np.int64), decoded(run, code))
    slider = shown.locator("input[type=range][data-latent='2']")
    low, high = (float(slider.get_attribute(end)) for end in ("min", "max"))
    line = Image.open(io.BytesIO(saved(shown, "Line of the latent moved last"))).convert("L")
    assert line.size == (9 * (SIDE + 1) - 1, SIDE)
    middle = np.asarray(line, dtype=np.int64)[:, 4 * (SIDE + 1) : 4 * (SIDE + 1) + SIDE]
    assert_same(middle, decoded(run, [*code[:2], (low + high) / 2]))
    grid = Image.open(io.BytesIO(saved(shown, "All lines (PNG)")))
    assert grid.size == (9 * (SIDE + 1) - 1, 3 * (SIDE + 1) - 1)
    names, values = csv.reader(io.StringIO(saved(shown, "Code (CSV)").decode()))
    assert names == ["z0", "z1", "z2"]
    np.testing.assert_allclose([float(value) for value in values], code, atol=1e-6)
    state = json.loads(saved(shown, "Code (JSON)"))
    assert (state["run"], state["row"]) == ("vae-s0", 77)


@pytest.mark.parametrize("kind", ["GIF", "WebP"])
def test_a_latent_is_recorded_as_an_animation(shown, run, kind):
    start_from_row(shown, 5)
    moved(shown, 0, "Home")
    code = run.encode(run.data.images([5]))[0]
    slider = shown.locator("input[type=range][data-latent='0']")
    low, high = (float(slider.get_attribute(end)) for end in ("min", "max"))
    with Image.open(io.BytesIO(saved(shown, f"to and fro ({kind})"))) as film:
        assert (film.n_frames, film.info["loop"]) == (24, 0)
        for frame, share in ((0, 0.0), (6, 0.5), (12, 1.0), (18, 0.5)):
            film.seek(frame)
            film.load()
            assert film.info["duration"] == pytest.approx(4000 / 24, abs=5)
            seen = np.asarray(film.convert("RGB"), dtype=np.int64)[..., 0]
            assert_same(seen, decoded(run, [low + share * (high - low), code[1], code[2]]))


def test_the_copied_python_makes_the_same_image(shown, run, monkeypatch):
    start_from_row(shown, 31)
    moved(shown, 1, "End")
    shown.evaluate(
        "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
    )
    shown.locator(".stage .menu summary").click()
    shown.get_by_role("button", name="Copy the Python").click()
    shown.wait_for_function("() => window.copied")
    program = shown.evaluate("() => window.copied")
    monkeypatch.chdir(run.path.parents[1])
    names: dict = {}
    exec(program, names)  # it is ours, and this is what a reader does with it
    image = np.round(names["image"][0] * 255).astype(np.int64)
    assert_same(canvas(shown, ".decoded"), image)


def test_a_played_latent_moves_until_it_is_stopped(shown):
    start_from_row(shown, 5)
    button = shown.get_by_role("button", name="Play z1")
    button.click()
    before = slider_value(shown, 1)
    for _ in range(200):
        if abs(slider_value(shown, 1) - before) > 0.3:
            break
        shown.wait_for_timeout(50)
    else:
        raise AssertionError("it did not move")
    button.click()
    shown.wait_for_timeout(200)
    still = slider_value(shown, 1)
    shown.wait_for_timeout(300)
    assert slider_value(shown, 1) == still
    assert button.get_attribute("aria-pressed") == "false"


def test_the_pad_moves_two_latents_over_the_plane_of_their_images(shown, run):
    start_from_row(shown, 200)
    code = run.encode(run.data.images([200]))[0]
    shown.get_by_text("Pad: move two latents at once").click()
    shown.locator(".plane[data-drawn]").wait_for()
    pad = shown.locator(".pad")
    first, second = (
        int(shown.get_by_label(label).evaluate("one => one.selectedOptions[0].text.slice(1)"))
        for label in ("Latent from left to right", "Latent from top to bottom")
    )
    ends = {}
    for latent in (first, second):
        slider = shown.locator(f"input[type=range][data-latent='{latent}']")
        ends[latent] = [float(slider.get_attribute(end)) for end in ("min", "max")]
    plane = canvas(shown, ".plane")
    corner = code.copy()
    corner[first], corner[second] = ends[first][1], ends[second][0]
    assert_same(plane[:SIDE, -SIDE:], decoded(run, corner))
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    shown.mouse.move(box["x"] + 1, box["y"] + 1)
    shown.mouse.down()
    shown.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] - 1)
    shown.mouse.up()
    shown.wait_for_timeout(400)
    corner[first], corner[second] = ends[first][1], ends[second][1]
    assert_same(canvas(shown, ".decoded"), decoded(run, corner))
    pad.press("ArrowLeft")
    shown.wait_for_timeout(300)
    low, high = ends[first]
    assert slider_value(shown, first) == pytest.approx(high - (high - low) / 40, abs=0.02)
    shown.get_by_text("Pad: move two latents at once").click()
