"""Sections of a run's page: the sentence on top, scores among others, applications, time-lapse."""

import io
import json
import shutil

import numpy as np
import pytest
from explored import TOKEN, Served
from PIL import Image

from unweave import views
from unweave.explorer.server import in_background

HERE = "/runs/vae-s0"


def test_what_an_application_found_is_shown_with_its_caveats(shown, served):
    part = shown.locator("[data-application='representation']")
    part.get_by_text("The code tells <b>half</b> of the class.").wait_for()  # text stays text
    part.get_by_text("It was trained for four steps.").wait_for()
    assert part.locator("tbody td").all_inner_texts() == ["sufficiency", "0.500", "0.100"]
    part.locator("img").scroll_into_view_if_needed()
    shown.wait_for_function("document.querySelector('.application-figure').naturalWidth === 40")
    content = served.ask(f"{HERE}/applications/representation.png")[2]
    assert Image.open(io.BytesIO(content)).size == (40, 20)
    assert served.ask(f"{HERE}/applications/fairness.png")[0] == 404


def test_the_sentence_names_latents_as_the_heat_map_does(served, runs):
    from unweave.runs.run import load

    run = load(runs / "vae-s0")
    expected = views.caption(run)
    found = served.json(f"{HERE}/caption.json")
    assert found["text"] == expected.text
    assert found["names"] == {str(latent): name for latent, name in expected.names.items()}


@pytest.fixture(scope="module")
def scored(runs, tmp_path_factory):
    """A run with a score and nulls, one of its kind, a baseline, and one by another protocol."""
    root = tmp_path_factory.mktemp("scored") / "runs"
    for name, source, value, protocol in (
        ("mine", "vae-s0", 0.3, "one"),
        ("same", "vae-s0", 0.5, "one"),
        ("other", "vae-s0", 0.9, "two"),
        ("truth", "truth", 0.8, "one"),
    ):
        shutil.copytree(runs / source, root / name)
        score = {"value": value, "protocol": protocol, "higher_is_better": True, "details": {}}
        score |= {"nulls": {"rotated": [0.1, 0.2]}, "chance": 0.05}
        (root / name / "scores.json").write_text(json.dumps({"mig": score}))
    with in_background(root, TOKEN) as (port, _):
        yield Served(root, port)


def test_a_score_stands_among_its_kind(scored, page):
    found = scored.json("/runs/mine/scores.json")
    (card,) = found["cards"]
    assert [(one["run"], one["value"], one["is_baseline"]) for one in card["others"]] == [
        ("truth", 0.8, True),
        ("same", 0.5, False),
    ]
    assert card["nulls"]["rotated"]["mean"] == pytest.approx(0.15)
    assert "ground_truth" not in found["missing_baselines"]
    assert "pca" in found["missing_baselines"]
    page.goto(f"{scored.address}/runs/mine?token={TOKEN}")
    page.wait_for_selector("html[data-ready]")
    line = page.locator(".card[data-metric='mig'] .among")
    places = {}
    for name, selector, attribute in (
        ("own", ".own", "cx"),
        ("other", ".other", "cx"),
        ("baseline", ".baseline", "d"),
    ):
        text = line.locator(selector).get_attribute(attribute)
        places[name] = float(text.lstrip("M").split()[0])
    # All lie on one line from 0 to 1.
    low, high = 10.0, 290.0
    for name, value in (("own", 0.3), ("other", 0.5), ("baseline", 0.8)):
        assert places[name] == pytest.approx(low + value * (high - low))
    line.locator("a", has=page.locator(".other")).click()
    page.wait_for_url("**/runs/same")


def test_pictures_of_training_are_slid_through(shown, served):
    kinds = served.json(f"{HERE}/training_pictures.json")["kinds"]
    entries = kinds["traversals"]
    assert len(entries) >= 2
    slider = shown.get_by_label("Step of training")
    slider.scroll_into_view_if_needed()
    slider.press("Home")
    source = shown.locator(".time-lapse img").get_attribute("src")
    assert source.endswith(entries[0]["file"])
    slider.press("End")
    assert shown.locator(".time-lapse img").get_attribute("src").endswith(entries[-1]["file"])
    status, _, content = served.ask(f"{HERE}/training/{entries[0]['file']}")
    assert status == 200
    assert np.asarray(Image.open(io.BytesIO(content))).size > 0


def test_the_tour_leads_through_the_page_and_is_offered_once(shown):
    button = shown.locator(".tour-button")
    assert button.inner_text() == "New here? Take the tour"
    button.click()
    card = shown.get_by_role("dialog")
    titles = []
    while card.count():
        titles.append(card.locator("h2").inner_text())
        assert shown.locator(".toured").count() == 1
        card.locator("button.main").click()
    assert titles[0] == "The run in one sentence"
    assert titles[-1] == "Scores"
    assert len(set(titles)) == 5
    assert button.inner_text() == "Tour"
    button.click()
    card.press("Escape")
    assert card.count() == 0
    assert shown.locator(".toured").count() == 0
