"""HTML of every report, notebook and page: built from parts that escape, in one look."""

from unweave.pages.markup import (
    Html,
    data_url,
    figure,
    folded,
    join,
    picture_url,
    section,
    table,
    tag,
)
from unweave.pages.page import LOOK, page

__all__ = [
    "LOOK",
    "Html",
    "data_url",
    "figure",
    "folded",
    "join",
    "page",
    "picture_url",
    "section",
    "table",
    "tag",
]
