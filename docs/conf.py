"""The documentation site: `make docs`.

What is generated goes to docs/generated, which is not in git: a page of each method and metric
from its docstring, settings and results, the gallery of worlds, and notebooks as pages.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import site_pages  # noqa: E402 - beside this file

project = "unweave"
author = "The unweave authors"
copyright = "The unweave authors"
release = version_of("unweave")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
# Tables of contents are links to the heading of a page; a level may be left out in notebooks.
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = f"unweave {release}"
html_static_path: list[str] = []
html_show_sourcelink = False
html_copy_source = False
pygments_style = "default"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
nitpicky = False


def setup(app: Any) -> None:
    site_pages.write(HERE / "generated")
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", plain_words)


def plain_words(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show docstrings as they are written: for people, not in the mark-up that autodoc expects."""
    lines[:] = site_pages.as_rest(lines)
