"""Reports of networks and data of the usual size, opened from disk in a real browser."""

import numpy as np
import pytest

from unweave.data import load_data
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.vae import VAE
from unweave.networks.conv64 import Conv64
from unweave.runs.config import Machine, Train
from unweave.training import loop
from unweave.watchers import Pictures
from unweave.workflows import write_report

LARGEST = 5_000_000  # bytes
IMAGES = """() => Promise.all([...document.images].map(async (image) => {
    await image.decode();
    return [image.alt, image.naturalWidth, image.naturalHeight];
}))"""


@pytest.fixture(scope="module")
def of_one(tmp_path_factory):
    """The usual network on dSprites; its report has all that it has after a longer training.

    It takes long to make: one test has it, so that one worker makes it.
    """
    config = Train(
        method=BetaVAE(latent_dim=10, beta=1),
        data="dsprites",
        architecture=Conv64(),
        steps=6,
        batch_size=64,
    )
    folder = tmp_path_factory.mktemp("real") / "run"
    machine = Machine(evaluations=3)
    run = loop.start(config, load_data("dsprites"), folder, machine, [Pictures()])
    # With these scores no predictors have to be fitted for the heat maps, which takes long.
    known = np.random.default_rng(0).random((10, 5))
    shared = {"factor_names": list(run.data.factor_names), "mutual_information": known.tolist()}
    details = {**shared, "factor_entropy": [1.0] * 5, "importance": known.tolist()}
    entry = {"value": 0.2, "protocol": "locatello2019", "higher_is_better": True}
    run.folder.write_scores({name: {**entry, "details": details} for name in ("mig", "dci")})
    # Baselines take long on dSprites; test_report.py has them.
    return write_report(run, baselines=False)


@pytest.fixture(scope="module")
def of_several(toy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    runs = []
    for seed in range(4):
        config = Train(method=VAE(latent_dim=3), data="toy_xys", steps=2, batch_size=8, seed=seed)
        name = f"a-run-whose-name-is-longer-than-narrow-pages-are-wide-{seed}"
        run = loop.start(config, toy, folder / name, Machine(evaluations=1))
        scores = {
            metric: {"value": (seed + shift) % 4 / 4, "protocol": "p", "higher_is_better": True}
            for shift, metric in enumerate(("mig", "sap", "modularity", "factor_vae_score"))
        }
        run.folder.write_scores(scores)
        runs.append(run)
    return write_report(runs, folder / "all.html")


@pytest.mark.parametrize("name", ["of_one", "of_several"])
def test_a_report_opens_from_disk_whole_fits_every_screen_and_a_mail(name, page, request):
    path = request.getfixturevalue(name)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    images = page.evaluate(IMAGES)
    assert len(images) >= 6
    assert path.stat().st_size <= LARGEST
    assert all(width > 0 and height > 0 for _, width, height in images), images
    for details in page.locator("summary").all():
        details.click()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]


def test_a_dark_page_keeps_its_figures_on_white(of_several, page):
    page.emulate_media(color_scheme="dark")
    page.goto(of_several.as_uri())
    grounds = page.evaluate(
        """() => ["body", "section", ".plot .scroll"].map((place) =>
            getComputedStyle(document.querySelector(place)).backgroundColor)"""
    )
    assert grounds == ["rgb(19, 23, 27)", "rgb(27, 32, 38)", "rgb(255, 255, 255)"]


def test_a_report_is_printed_dark_on_white_with_everything_open(of_several, page):
    page.goto(of_several.as_uri())
    page.emulate_media(color_scheme="dark", media="print")
    seen = page.evaluate(
        """() => {
            const style = (place) => getComputedStyle(document.querySelector(place));
            return [style("body").backgroundColor, style("p").color, style(".files").display];
        }"""
    )
    assert seen == ["rgb(255, 255, 255)", "rgb(0, 0, 0)", "none"]
    assert page.pdf(format="A4")[:4] == b"%PDF"


def test_figures_and_tables_can_be_saved_from_the_page(of_several, page):
    page.goto(of_several.as_uri())
    for number, name in ((0, "table-1-scores-by-setting"), (2, "figure-1-scores-by-method")):
        with page.expect_download() as waiting:
            page.locator(".files a").nth(number).click()
        assert waiting.value.suggested_filename.startswith(name)
        assert waiting.value.failure() is None


def test_a_report_can_be_read_by_keyboard(of_several, page):
    """What scrolls or folds takes the focus, shows that it has it, and answers to keys."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(of_several.as_uri())
    kinds, outlines = set(), set()
    for _ in range(60):
        page.keyboard.press("Tab")
        kind, outline = page.evaluate(
            """() => {
                const style = getComputedStyle(document.activeElement);
                return [document.activeElement.tagName, style.outlineStyle + style.outlineWidth];
            }"""
        )
        if kind == "BODY":
            break
        kinds.add(kind)
        outlines.add(outline)
    assert {"DIV", "SUMMARY"} <= kinds
    assert not any(outline.startswith("none") or outline.endswith("0px") for outline in outlines)
    summary = page.locator("summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
