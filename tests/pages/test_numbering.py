"""Figures and tables are numbered in the order of the page, and its parts are listed."""

import csv
import io

import pytest

from read_pages import Page
from unweave.pages import CONTENTS, deeper, figure, files_in, page, section, table, tag
from unweave.pages.downloads import LARGEST, words_of
from unweave.pages.latex import latex_table, latex_text

PIXEL = "data:image/png;base64,AAAA"
LINES = [["a_b", "1 ± 0.5"], ["50 %", "<i>"]]


def test_figures_and_tables_count_apart_in_the_order_they_stand():
    second = figure(PIXEL, "two", "second picture", files={"svg": b"<svg/>", "pdf": b"%PDF"})
    first = figure(PIXEL, "one", "first picture")
    text = page("t", first, table(["n", "v"], LINES, title="Numbers. And more."), second)
    words = Page(text).words
    assert [w for w in words if w.startswith(("Figure", "Table"))] == [
        "Figure 1.",
        "Table 1.",
        "Figure 2.",
    ]
    assert sorted(files_in(text)) == [
        "figure-2-second-picture.pdf",
        "figure-2-second-picture.svg",
        "table-1-numbers.csv",
        "table-1-numbers.tex",
    ]
    assert files_in(text)["figure-2-second-picture.svg"] == b"<svg/>"


def test_words_cannot_pass_for_marks():
    text = page("t", figure(PIXEL, "<!--figure--> <!--contents-->", "a"), CONTENTS)
    assert "Figure 2" not in text
    assert "&lt;!--figure--&gt;" in text


def test_what_is_folded_away_has_no_number_but_files():
    text = page("t", table(["n"], [["1"]], title="All", number=False))
    assert "Table" not in Page(text).text
    assert sorted(files_in(text)) == ["all.csv", "all.tex"]


def test_contents_link_to_the_parts_of_a_page():
    parts = [section(name, tag("p", "words")) for name in ("One & two", "Three", "Four")]
    inner = deeper(section("Inner", tag("p", "words")))
    read = Page(page("t", CONTENTS, parts, section("Five", inner)))
    assert read.headings == ["One & two", "Three", "Four", "Five"]
    links = [link["href"] for link in read.all("a")]
    places = ["#" + part["id"] for part in read.all("section") if "id" in part]
    assert links == places == ["#part-1", "#part-2", "#part-3", "#part-4"]
    assert ("h3", {}) in read.tags


def test_contents_of_two_parts_are_left_out():
    text = page("t", CONTENTS, section("One", "a"), section("Two", "b"))
    assert not Page(text).all("nav")


def test_a_table_is_offered_as_values_and_for_latex():
    cells = tag("div", "rotated 0.5") + tag("div", "shuffled & 0.1")
    text = page("t", table(["name", "v"], [*LINES, ["c", type(tag("p"))(cells)]], title="T"))
    files = files_in(text)
    rows = list(csv.reader(io.StringIO(files["table-1-t.csv"].decode())))
    assert rows == [["name", "v"], *LINES, ["c", "rotated 0.5; shuffled & 0.1"]]
    typeset = files["table-1-t.tex"].decode()
    assert r"a\_b & 1 $\pm$ 0.5 \\" in typeset
    assert r"50 \% & <i> \\" in typeset
    assert typeset.count(r"\\") == 4


def test_a_file_that_would_bloat_the_page_is_not_offered():
    text = page("t", figure(PIXEL, "", "a", files={"svg": b"x" * (LARGEST + 1), "pdf": b"x"}))
    assert list(files_in(text)) == ["figure-1-a.pdf"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a_b & 3 %", r"a\_b \& 3 \%"), ("β ≤ 4", r"$\beta$ $\le$ 4"), ("\\{", r"\textbackslash{}\{")],
)
def test_latex_takes_every_character_for_itself(text, expected):
    assert latex_text(text) == expected


def test_a_table_without_header_has_no_rule_below_it():
    assert r"\midrule" not in latex_table(["", ""], [["a", "b"]])
    assert words_of(3) == "3"
