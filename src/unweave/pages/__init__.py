"""HTML of every report, notebook and page: built from parts that escape, in one look."""

from unweave.pages.downloads import downloads, files_in
from unweave.pages.html import Html, data_url, join, tag
from unweave.pages.markup import figure, folded, picture_url, section, table
from unweave.pages.numbering import CONTENTS, deeper
from unweave.pages.page import LOOK, page

__all__ = [
    "CONTENTS",
    "LOOK",
    "Html",
    "data_url",
    "deeper",
    "downloads",
    "figure",
    "files_in",
    "folded",
    "join",
    "page",
    "picture_url",
    "section",
    "table",
    "tag",
]
