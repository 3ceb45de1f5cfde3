"""Parts of pages: what others wrote is escaped, and cells know figures from words."""

import numpy as np
import pytest
from PIL import Image

from read_pages import Page
from unweave.pages import Html, join, page, picture_url, section, table, tag
from unweave.pages.markup import LARGE_PICTURE


def test_attributes_and_words_are_escaped_but_markup_is_not():
    assert tag("p", "a & b", title='"<') == '<p title="&quot;&lt;">a &amp; b</p>'
    assert join("<", [Html("<br>"), None], 3) == "&lt;<br>3"


@pytest.mark.parametrize(
    "figures",
    ["3", "-0.5", "−0.5", "0.25 ± 0.01", "0.250 [0.200, 0.300]", "12 %", "–", "1,024", "16:30"],
)
def test_figures_stay_in_one_line(figures):
    assert f'<td class="number">{figures}</td>' in table(["n"], [[figures]])


@pytest.mark.parametrize("words", ["", "vae", "4x4", "e5", "- no", "5, 8, and more"])
def test_words_are_no_figures(words):
    assert f"<td>{words}</td>" in table(["n"], [[words]])


def test_a_long_name_gets_room():
    assert '<td class="words">' in table(["n"], [["beta_vae, latent_dim 10, learning_rate 0.001"]])


def test_a_table_without_a_header_has_none():
    assert "thead" not in table(["", ""], [["a", "b"]])


def test_a_section_without_content_is_nothing():
    assert section("Empty", None, []) == ""


def test_a_page_carries_its_look_in_light_and_dark_and_loads_nothing():
    text = page("<title>", tag("p", "words"))
    read = Page(text)
    assert "&lt;title&gt;" in text
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text
    assert not read.all("script")
    assert not read.all("link")
    policy = next(m for m in read.all("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy["content"]


def test_large_pictures_are_made_smaller():
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 255, (400, 400, 3), dtype=np.uint8))
    url = picture_url(noise)
    assert url.startswith("data:image/webp")
    assert len(url) < LARGE_PICTURE
    assert picture_url(Image.new("L", (9, 9))).startswith("data:image/png")
