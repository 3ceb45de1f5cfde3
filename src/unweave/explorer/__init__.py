"""The explorer: a local page over run folders, whose sliders decode in the browser."""

from unweave.explorer.static_page import export_page

__all__ = ["export_page"]
