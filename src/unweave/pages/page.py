"""A whole page with its look inside, which may load nothing."""

import functools
from pathlib import Path
from typing import Any

from unweave.pages.html import Html, tag
from unweave.pages.numbering import numbered, with_contents

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
LOOK = Path(__file__).with_name("look.css")
"""Colours, letters, sections and tables of every page, the explorer's included."""
DOCUMENT = Path(__file__).with_name("document.css")
"""What pages to be read and printed have beyond that."""


def page(title: str, *children: Any) -> str:
    """Return a document in one file that needs no network.

    Figures and tables with a caption are numbered, in the order in which they stand.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", title),
        tag("style", _style()),
    )
    body = tag("body", with_contents(numbered(tag("main", *children))))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


@functools.cache
def _style() -> Html:
    return Html("".join(file.read_text(encoding="utf-8") for file in (LOOK, DOCUMENT)))
