"""Codes as points: where they lie, whose images they are, and which are nearest."""

import io

import numpy as np
import pytest
from explored import assert_same, canvas, decoded
from PIL import Image

from unweave import views
from unweave.runs.run import load

HERE = "/runs/vae-s0"


@pytest.fixture(scope="module")
def run(runs):
    return load(runs / "vae-s0")


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
    shown.wait_for_function("document.querySelector('.hovered img').naturalWidth === 32")
    shown.mouse.click(box["x"] + share * box["width"], box["y"] + share * box["height"])
    shown.get_by_text(f"Started from row {row}").wait_for()
    shown.wait_for_timeout(400)
    assert_same(canvas(shown, ".decoded"), decoded(run, run.encode(run.data.images([row]))[0]))
    nearest = shown.locator(".near .gallery button").first
    nearest.wait_for()
    assert f"row {row}," in nearest.get_attribute("title")
