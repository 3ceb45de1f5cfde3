"""Sections of a run's page in a real browser, opened once: embedding, two images, scores, and all.

What is made of codes is compared with what the run makes of them.
"""

import csv
import io
import json
import shutil
from xml.etree import ElementTree

import numpy as np
import pytest
from explored import TOKEN, Served, assert_same, canvas, decoded, start_from_row
from PIL import Image

from unweave import views
from unweave.editing import Finder
from unweave.explorer import counterfactuals
from unweave.explorer.open_runs import Library
from unweave.explorer.score_cards import score_cards
from unweave.explorer.server import in_background
from unweave.runs.folder import RunFolder, versions
from unweave.runs.run import load

HERE = "/runs/vae-s0"


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


def test_what_an_application_found_is_shown_with_its_caveats(shown, served):
    part = shown.locator("[data-application='representation']")
    part.get_by_text("The code tells <b>half</b> of the class.").wait_for()  # text stays text
    part.get_by_text("It was trained for four steps.").wait_for()
    assert part.locator("tbody td").all_inner_texts() == ["sufficiency", "0.500", "0.100"]
    part.locator("img").scroll_into_view_if_needed()
    shown.wait_for_function(
        "() => document.querySelector('.application-figure').naturalWidth === 40"
    )
    content = served.ask(f"{HERE}/applications/representation.png")[2]
    assert Image.open(io.BytesIO(content)).size == (40, 20)
    assert served.ask(f"{HERE}/applications/fairness.png")[0] == 404


def test_the_sentence_names_latents_as_the_heat_map_does(served, run):
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


def test_baselines_of_a_report_stand_in_the_cards(scored, tmp_path):
    root = tmp_path / "runs"
    for name in ("mine", "truth"):
        shutil.copytree(scored.root / name, root / name)
    folder = RunFolder(root / "mine")
    (entry,) = folder.scores().values()
    del entry["nulls"]
    folder.write_scores({"mig": entry | {"made": {"preset": "full", "seeds": 1, "rows": 9}}})
    key = {"step": 4, "scores": {"mig": [0.3, "one", "full", 1]}, "unweave": versions()["unweave"]}
    kept = {"key": key, "rows": 9, "nulls": {"mig": {"rotated": [0.4, 0.2]}}}
    kept["values"] = {"mig": {"PCA": 0.1, "ground truth": 0.9, "forged": 0.7}}
    (folder.path / "baselines.json").write_text(json.dumps(kept))
    found = score_cards(Library(root), "mine")
    (card,) = found["cards"]
    # The one that was trained here can be opened, and stands for what the report calls so.
    assert [(one["run"], one["method"], one["value"]) for one in card["others"]] == [
        ("truth", "ground_truth", 0.8),
        (None, "PCA", 0.1),
        (None, "forged", 0.7),
    ]
    assert card["nulls"]["rotated"]["mean"] == pytest.approx(0.3)
    assert card["is_above_nulls"] is False
    assert found["missing_baselines"] == []
    (folder.path / "baselines.json").write_text(json.dumps(kept | {"key": {}}))
    stale = score_cards(Library(root), "mine")
    assert [one["run"] for one in stale["cards"][0]["others"]] == ["truth"]
    assert "pca" in stale["missing_baselines"]


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


def test_points_are_codes_in_the_plane_that_is_asked_for(served, run):
    sample = views.sample_codes(run)
    found = served.json(f"{HERE}/embedding.json?axes=2,0")
    assert found["rows"] == sample.rows.tolist()
    np.testing.assert_allclose(found["x"], sample.codes[:, 2], atol=1e-3)
    np.testing.assert_allclose(found["y"], sample.codes[:, 0], atol=1e-3)
    assert found["labels"] == ["z2", "z0"]
    assert [factor["name"] for factor in found["factors"]] == list(run.data.factor_names)
    # Principal components: uncorrelated, and as wide as the two largest singular values say.
    found = served.json(f"{HERE}/embedding.json")
    points = np.stack([found["x"], found["y"]])
    widths = np.linalg.svd(sample.codes - sample.codes.mean(axis=0), compute_uv=False)[:2]
    np.testing.assert_allclose(points @ points.T, np.diag(widths**2), rtol=1e-3, atol=1)
    assert served.ask(f"{HERE}/embedding.json?axes=0,9")[0] == 400
    assert served.ask(f"{HERE}/embedding.json?axes=tsne")[0] == 400


def test_the_nearest_images_are_nearest(served, run):
    sample = views.sample_codes(run)
    code = sample.codes[17]
    found = served.json(f"{HERE}/neighbors.json?code={','.join(map(str, code))}")
    assert found["neighbors"][0]["row"] == sample.rows[17]
    assert found["neighbors"][0]["distance"] == pytest.approx(0, abs=1e-4)
    distances = [one["distance"] for one in found["neighbors"]]
    assert distances == sorted(distances)
    assert served.ask(f"{HERE}/neighbors.json?code=1,2")[0] == 400
    row = found["neighbors"][1]["row"]
    status, headers, content = served.ask(f"{HERE}/image.png?row={row}")
    assert (status, headers["content-type"]) == (200, "image/png")
    seen = np.asarray(Image.open(io.BytesIO(content)), dtype=np.int64)
    assert_same(seen, np.round(run.data.images([row])[0, 0] * 255).astype(np.int64))
    assert served.ask(f"{HERE}/image.png?row=99999")[0] == 400


def test_a_point_is_looked_at_and_started_from(shown, run):
    cloud = shown.locator(".cloud")
    cloud.scroll_into_view_if_needed()
    assert cloud.get_attribute("data-points") == str(len(views.sample_codes(run).rows))
    shown.get_by_label("Axes of the embedding").select_option("0,1")
    shown.get_by_label("Colour by").select_option("side")
    shown.wait_for_timeout(300)
    box = cloud.bounding_box()
    for share in np.linspace(0.2, 0.8, 13):  # somewhere in there is a point
        shown.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])
        if shown.locator(".hovered").is_visible():
            break
    row = int(shown.locator(".hovered span").inner_text().split()[1])
    shown.wait_for_function("() => document.querySelector('.hovered img').naturalWidth === 32")
    shown.mouse.click(box["x"] + share * box["width"], box["y"] + share * box["height"])
    shown.get_by_text(f"Started from row {row}").wait_for()
    shown.wait_for_timeout(400)
    assert_same(canvas(shown, ".decoded"), decoded(run, run.encode(run.data.images([row]))[0]))
    nearest = shown.locator(".near .gallery button").first
    nearest.wait_for()
    assert f"row {row}," in nearest.get_attribute("title")


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


def saved(page, menu, words: str) -> bytes:
    menu.locator("summary").click()
    with page.expect_download() as found:
        menu.get_by_role("button", name=words).click()
    return found.value.path().read_bytes()


def test_maps_and_scatters_are_saved(shown, served):
    shown.locator(".heat button").first.click()
    shown.locator(".scatter circle").first.wait_for()
    menu = shown.locator(".scatter .menu")
    drawing = saved(shown, menu, ".svg").decode()
    points = served.json(f"{HERE}/scatter.json?latent={0}&factor=x")["values"]
    root = ElementTree.fromstring(drawing)
    circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(points)
    assert circles[0].get("fill").startswith("rgb(")  # it needs no sheet of ours
    picture = Image.open(io.BytesIO(saved(shown, menu, ".png"))).convert("RGB")
    assert picture.size == (960, 510)
    assert len(picture.getcolors(1_000_000)) > 20
    assert picture.getpixel((1, 1)) == (255, 255, 255)
    lines = saved(shown, menu, ".csv").decode().splitlines()
    assert len(lines) == len(points) + 1
    tools = shown.locator(".place-heat .tools .menu")
    header, *rows = csv.reader(io.StringIO(saved(shown, tools, "Table (CSV)").decode()))
    known = served.json(f"{HERE}/heat_map.json?kind=mi")
    assert header == ["factor", *known["latents"]]
    np.testing.assert_allclose([[float(cell) for cell in row[1:]] for row in rows], known["values"])
    assert Image.open(io.BytesIO(saved(shown, tools, "Picture (PNG)"))).size[0] == 150 + 3 * 64
    curves = shown.locator(".place-curves .menu")
    _, *points = csv.reader(io.StringIO(saved(shown, curves, "all (CSV)").decode()))
    known = served.json(f"{HERE}/curves.json")["curves"]
    assert len(points) == sum(len(curve["steps"]) for curve in known)
    assert "<polyline" in saved(shown, curves, "loss (SVG)").decode()
