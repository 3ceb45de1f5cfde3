"""What every application gives: numbers, a table, a paragraph with its caveats, a figure."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.figures import ImageGrid
from unweave.files.writing import write_atomically
from unweave.runs.model import Model
from unweave.views import plain

if TYPE_CHECKING:
    from unweave.figures.style import Drawing

Cell = str | float | int | None


@dataclass(frozen=True)
class ResultTable:
    """Numbers as a reader sees them, what is measured beside what it is to be compared with."""

    title: str
    header: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]

    def shown(self) -> list[list[str]]:
        """Return the lines as words; numbers with as many digits as mean something."""
        return [[_in_words(cell) for cell in line] for line in self.lines]

    def __str__(self) -> str:
        rows = [list(self.header), *self.shown()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in rows]
        return "\n".join([self.title, *(line.rstrip() for line in lines)])


@dataclass(frozen=True)
class Applied:
    """The result of one application on one model."""

    application: str
    model: str
    """What the model is called."""
    data: str
    step: int
    settings: Mapping[str, Any]
    numbers: Mapping[str, Any]
    """Everything that was measured, with baselines, chance and nulls."""
    tables: tuple[ResultTable, ...]
    paragraph: str
    """What was done and found."""
    caveats: tuple[str, ...]
    """What a reader must not conclude."""
    figure: "Drawing | ImageGrid | None" = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return all but the figure, as JSON can hold it."""
        return {
            "application": self.application,
            "model": self.model,
            "data": self.data,
            "step": self.step,
            "settings": plain(dict(self.settings)),
            "numbers": plain(dict(self.numbers)),
            "tables": [plain(asdict(table)) for table in self.tables],
            "paragraph": self.paragraph,
            "caveats": list(self.caveats),
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Write the numbers and the figure into a folder, called after the application."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.application}.json"]
        content = json.dumps(self.to_json(), indent=1, ensure_ascii=False)
        write_atomically(paths[0], content + "\n")
        if self.figure is not None:
            paths.append(folder / f"{self.application}.png")
            self.figure.save(paths[1])
        return paths


def applied_to(
    model: Model,
    settings: Any,
    numbers: Mapping[str, Any],
    *,
    tables: tuple[ResultTable, ...],
    paragraph: str,
    caveats: tuple[str, ...],
    figure: "Drawing | ImageGrid | None" = None,
    data: str = "",
) -> Applied:
    """Return the result of the application whose settings these are."""
    return Applied(
        type(settings).__module__.rpartition(".")[2],
        model.name,
        data or model.data.name,
        model.step,
        plain(asdict(settings)),
        numbers,
        tables,
        paragraph,
        caveats,
        figure,
    )


def mean_and_deviation(values: Sequence[float]) -> str:
    """Write the mean of some values, and their deviation where there are several."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{mean:.3f} ± {deviation:.3f}"


def _in_words(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return "–"
        return f"{cell:.3f}" if abs(cell) < 100 else f"{cell:,.2f}"
    return str(cell)
