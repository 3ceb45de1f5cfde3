"""Parts of the page in a real browser: maps, twins, keys, and an image of one's own offline."""

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explored import assert_same, canvas, decoded, settle
from PIL import Image

from unweave import views
from unweave.data import image_from_bytes
from unweave.runs.run import load

DOCS = Path(__file__).parents[2] / "docs" / "explorer.md"
FOCUS = """() => {
    const one = document.activeElement;
    const shown = one.classList.contains("file") ? one.parentElement : one;
    const { outlineStyle, outlineWidth } = getComputedStyle(shown);
    const { width, height } = shown.getBoundingClientRect();
    return {
        words: [one.tagName, one.type, one.textContent.trim(), one.ariaLabel].join(" "),
        isRinged: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
        isThere: width > 0 && height > 0,
    };
}"""


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


def walked(page, most: int = 80) -> list[dict[str, Any]]:
    """Press Tab from the top until the focus comes round; return where it was."""
    page.locator(".brand").focus()
    page.keyboard.press("Shift+Tab")
    stops = [page.evaluate(FOCUS)]
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop["words"].startswith("BODY"):
            break
        stops.append(stop)
    return stops


def cells(page) -> np.ndarray:
    return np.array([float(text) for text in page.locator(".heat button").all_inner_texts()])


def test_the_heat_map_shows_either_measure(shown, run):
    page = shown
    codes = views.sample_codes(run, 2_000)
    order = views.kl_per_dimension(run, codes).order
    for title, kind in (("DCI importance", "dci"), ("Mutual information", "mi")):
        button = page.get_by_role("button", name=title)
        button.click()
        page.locator(f".tools button[aria-pressed=true]:text('{title}')").wait_for()
        expected = views.heat_map(run, kind, codes)
        page.get_by_text(expected.meaning).wait_for()
        np.testing.assert_allclose(cells(page), expected.values[:, order].ravel(), atol=0.0051)
        page.locator(".heat button").nth(1).click()
        page.locator(".scatter circle").first.wait_for()


def test_responses_are_drawn_when_they_are_opened(shown, run):
    page = shown
    assert page.locator(".response").count() == 0
    page.get_by_text("Show the mean of each latent").click()
    page.locator(".response").first.wait_for()
    response = views.latent_response(run)
    latents = page.locator(".response").evaluate_all("all => all.map(one => one.dataset.latent)")
    carried = views.kl_per_dimension(run, views.sample_codes(run, 2_000))
    lively = [int(i) for i in carried.order if carried.active[i]] or [int(carried.order[0])]
    assert [int(latent) for latent in latents] == lively
    # The map: orange below 0, purple above; the largest mean in its strongest shade.
    means = response.position.means[lively[0]]
    reach = max(
        np.abs(means).max(), *[np.abs(lines.means[lively[0]]).max() for lines in response.lines]
    )
    red = canvas(page, ".response .map")
    shades = np.interp(means / reach, [-1, -0.5, 0, 0.5, 1], [127, 253, 247, 178, 45])
    assert np.abs(red - shades).max() <= 1
    assert page.locator(".response").first.locator("polyline").count() == 1  # x and y are the map


def addresses(page) -> set[str]:
    found = page.locator("a[href*='.json']").evaluate_all("all => all.map(one => one.href)")
    return set(found)


def test_everything_that_is_shown_has_a_twin_that_is_linked(visit, shown, served):
    """Walk all links to JSON; together they are the addresses that the documentation lists."""
    page = visit("/")
    found = addresses(page)
    visit("/compare?run=vae-s0&run=study/vae-s1")
    page.locator(".columns h3 a").nth(3).wait_for()
    found |= addresses(page)
    shown.locator(".heat button").first.click()
    shown.locator(".scatter circle").first.wait_for()
    shown.get_by_role("button", name="Random image").click()
    shown.get_by_text("Started from row").wait_for()
    shown.locator(".near h3 a").wait_for()
    shown.get_by_role("button", name="Change one factor").click()
    shown.locator("a[href*='counterfactual.json']").wait_for()
    found |= addresses(shown)
    shown.get_by_role("button", name="Prior sample").click()
    shown.get_by_text("Started from a draw").wait_for()
    found |= addresses(shown)
    kinds = set()
    for address in found:
        path = address.removeprefix(served.address)
        assert isinstance(served.json(path), dict), path
        kinds.add(re.sub(r"^/runs/(study/)?vae-s.", "/runs/NAME", path.partition("?")[0]))
    listed = set(re.findall(r"^\| `(/[^?`]*)", DOCS.read_text(encoding="utf-8"), re.M))
    # Of a study, and of a method that tells content from style: their own tests ask for them.
    assert listed - kinds == {"/studies/NAME.json", "/runs/NAME/leakage.json"}
    assert kinds <= listed


def test_every_control_of_a_run_is_reached_and_ringed(shown):
    stops = walked(shown)
    text = "\n".join(stop["words"] for stop in stops)
    for part in (
        "Skip to content",
        "Random image",
        "Prior sample",
        "file",
        "Back to start",
        "number",
        "range",
        "Name of latent",
        "DCI importance",
        "x and z",  # a cell of the heat map; arrows lead to the others
        "mi.json",
        "SUMMARY",
    ):
        assert part in text, part
    hidden = [stop for stop in stops if not stop["isThere"]]
    assert hidden == []
    bare = [stop["words"] for stop in stops if not stop["isRinged"]]
    assert bare == []


def test_runs_are_sorted_chosen_and_compared_by_keys(visit):
    page = visit("/")
    assert all(stop["isRinged"] for stop in walked(page))
    page.get_by_role("button", name="run", exact=True).focus()
    page.keyboard.press("Enter")
    order = page.locator("th[aria-sort]").get_attribute("aria-sort")
    page.keyboard.press("Enter")  # the focus is still there after the table was drawn anew
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") != order
    for name in ("vae-s0", "study/vae-s1"):
        page.get_by_label(f"Compare {name}", exact=True).focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare 2 runs").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?**")


def test_arrows_stay_within_the_heat_map(shown):
    page = shown
    first = page.locator(".heat button").first
    first.focus()
    for key in ("ArrowLeft", "ArrowUp", "Home"):
        page.keyboard.press(key)
        assert first.evaluate("one => one === document.activeElement")
    page.keyboard.press("End")
    last = page.locator(".heat tbody tr").first.locator("button").last
    assert last.evaluate("one => one === document.activeElement")
    assert page.locator(".heat button[tabindex='0']").count() == 1


def test_the_exported_file_starts_from_an_image_of_the_readers(page, exported, run, tmp_path):
    page.goto(exported.as_uri())
    page.wait_for_selector("html[data-ready]")
    settle(page, 1)
    # One that has the right size, and one that has to be cut, scaled and made grey.
    rng = np.random.default_rng(0)
    blots = Image.fromarray(rng.integers(0, 255, (7, 11, 3), dtype=np.uint8))
    photograph = blots.resize((330, 210), Image.Resampling.BICUBIC)
    small = Image.fromarray(np.round(run.data.images([900])[0, 0] * 255).astype(np.uint8))
    for name, picture, grey_levels in (("small.png", small, 0), ("large.png", photograph, 2)):
        content = io.BytesIO()
        picture.save(content, "PNG")
        (tmp_path / name).write_bytes(content.getvalue())
        page.set_input_files("input[type=file]", tmp_path / name)
        page.get_by_text(f"Started from your image {name}").wait_for()
        page.wait_for_timeout(500)
        # The picture is the one that Python would cut and scale, and its code is decoded.
        address = page.locator(".original").get_attribute("src")
        start = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("L")
        expected = image_from_bytes(content.getvalue(), run.image_shape)
        difference = np.abs(np.asarray(start) - np.round(255 * expected[0]))
        assert difference.max() <= grey_levels
        seen = np.asarray(start, dtype=np.float32)[None, None] / 255
        assert_same(canvas(page, ".decoded"), decoded(run, run.encode(seen)[0]))
    (tmp_path / "words.png").write_text("no image")
    page.set_input_files("input[type=file]", tmp_path / "words.png")
    page.get_by_text("words.png is not a readable image").wait_for()
