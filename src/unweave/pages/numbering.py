"""Numbers of figures and tables and the contents, given when a page is put together.

Parts of a page are made in any order and know nothing of each other, so they leave marks. A mark
is markup, which no word that a page is given can be: words are escaped.
"""

import re
from collections import Counter

from unweave.pages.html import Html, tag

FIGURE, TABLE = Html("<!--figure-->"), Html("<!--table-->")
"""Before the caption of a figure, of a table."""
FILE = Html("<!--file-->")
"""Before the name of a file of the figure or table whose mark came last."""
CONTENTS = Html("<!--contents-->")
"""Where the contents of the page are to stand."""
MARKS = re.compile(r"<!--(figure|table|file)-->")
HEADING = re.compile(r"<section><h2>(.*?)</h2>")
HEADINGS = re.compile(r"(</?h)([2-5])(?=>)")
FEWEST_ENTRIES = 3  # of contents that are worth their room


def numbered(content: Html) -> Html:
    """Give figures and tables their numbers, in the order of the page."""
    counts: Counter[str] = Counter()
    last = ""

    def number(mark: re.Match[str]) -> str:
        nonlocal last
        kind = mark[1]
        if kind == "file":
            return f"{last}-{counts[last]}-" if last else ""
        counts[kind] += 1
        last = kind
        return tag("b", f"{kind.capitalize()} {counts[kind]}.") + " "

    return Html(MARKS.sub(number, content))


def with_contents(content: Html) -> Html:
    """Give every part of the page a place to link to, and list these where it is asked for."""
    entries: list[tuple[str, str]] = []

    def placed(heading: re.Match[str]) -> str:
        place = f"part-{len(entries) + 1}"
        entries.append((place, heading[1]))
        return f'<section id="{place}"><h2>{heading[1]}</h2>'

    content = Html(HEADING.sub(placed, content))
    links = [tag("li", tag("a", Html(words), href=f"#{place}")) for place, words in entries]
    listed = tag("nav", tag("ol", links), class_="contents", aria_label="contents")
    return Html(content.replace(CONTENTS, listed if len(links) >= FEWEST_ENTRIES else ""))


def deeper(content: Html) -> Html:
    """Return parts of a page as parts of a part: headings one level further down."""
    return Html(HEADINGS.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", content))
