"""How plots look: colours that colour-blind readers can tell apart, letters that can be read."""

import io
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unweave.figures.formats import format_of
from unweave.files.writing import write_atomically

P = ParamSpec("P")

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""M. Okabe and K. Ito, "Color Universal Design", 2002; without their yellow, too pale for lines."""
QUIET = "#9A9A9A"
DASHES = ("-", "--", ":", "-.")
SEQUENTIAL, DIVERGING = "cividis", "PuOr"
"""Both keep their order in grey and for every kind of colour blindness."""
FORMATS = ("png", "svg", "pdf")

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": "#606060",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": "#404040",
    "ytick.color": "#404040",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "unweave",
    "pdf.fonttype": 42,
    "text.parse_math": False,  # names of latents and factors may hold a dollar
}


class Drawing(Figure):
    """A matplotlib figure that needs no window, saves itself and shows itself in a notebook."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        FigureCanvasAgg(self)

    def save(self, path: str | Path) -> None:
        """Write the figure; the suffix decides the format."""
        path = Path(path)
        write_atomically(path, self.content(format_of(path, FORMATS, "plots")))

    def content(self, format: str = "png", dpi: int = 150, *, outlines: bool = False) -> bytes:
        """Return the file's bytes, the same for the same figure.

        The letters of an SVG are text, which can be edited, or with `outlines` shapes,
        which look the same whatever fonts the reader has.
        """
        file = io.BytesIO()
        no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format)
        letters = {"svg.fonttype": "path" if outlines else "none"}
        with matplotlib.rc_context(STYLE | letters):
            self.savefig(file, format=format, dpi=dpi, metadata=no_date)
        return file.getvalue()

    def _repr_png_(self) -> bytes:
        return self.content(dpi=100)


def styled(function: Callable[P, Drawing]) -> Callable[P, Drawing]:
    """Draw with our style, whatever the user's own is."""

    @wraps(function)
    def drawn(*args: P.args, **options: P.kwargs) -> Drawing:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(STYLE)
            return function(*args, **options)

    return drawn


def line_look(index: int) -> dict[str, Any]:
    """Return colour and dash of the line with this number; all differ up to 28 lines."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "linestyle": DASHES[index // len(PALETTE) % len(DASHES)],
    }
