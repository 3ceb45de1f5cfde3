"""A report as blocks, written as one HTML page or as Markdown with its pictures beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unweave import pages
from unweave.figures.style import Drawing
from unweave.files.writing import write_atomically
from unweave.pages import CONTENTS, Html, tag
from unweave.report import pictured, plotted, references, references_section


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Text:
    text: str
    is_summary: bool = False
    """Whether the contents of the page follow it."""


@dataclass(frozen=True)
class Cells:
    """A table of words."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    title: str


@dataclass(frozen=True)
class Plot:
    name: str
    """Name of its file, without an ending."""
    drawing: Drawing
    caption: str


@dataclass(frozen=True)
class Picture:
    name: str
    """Name of its file, without an ending."""
    png: bytes
    caption: str


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class References:
    """The papers of methods and metrics."""

    methods: Sequence[str]
    metrics: Sequence[str]


Block = Heading | Text | Cells | Plot | Picture | Code | References


def as_html(title: str, blocks: Iterable[Block]) -> str:
    """Return one page that needs no other file: a section under each heading."""
    parts: list[Html] = []
    headed: str = ""
    under: list[Html] = []

    def close() -> None:
        if headed or under:
            parts.append(pages.section(headed, *under) if headed else tag("section", *under))
            under.clear()

    for block in blocks:
        if isinstance(block, Heading):
            close()
            headed = block.text
        elif isinstance(block, References):
            close()
            headed = ""
            parts.append(references_section(block.methods, block.metrics))
        else:
            under.append(_block_html(block))
            if isinstance(block, Text) and block.is_summary:
                close()
                headed = ""
                parts.append(CONTENTS)
    close()
    return pages.page(title, tag("h1", title), parts)


def _block_html(block: Text | Cells | Plot | Picture | Code) -> Html:
    if isinstance(block, Text):
        return tag("p", block.text, class_="summary" if block.is_summary else None)
    if isinstance(block, Code):
        return tag("pre", tag("code", block.text))
    if isinstance(block, Cells):
        return pages.table(block.header, block.lines, title=block.title)
    if isinstance(block, Plot):
        return plotted(block.drawing, block.caption, block.caption)
    return pictured(pages.data_url(block.png, "image/png"), block.caption, block.caption)


def write_html(path: Path, title: str, blocks: Iterable[Block]) -> None:
    """Write one page that needs no other file."""
    write_atomically(path, as_html(title, blocks))


def write_markdown(path: Path, title: str, blocks: Iterable[Block]) -> None:
    """Write a page with its pictures in a folder beside it."""
    folder = path.with_suffix("")
    parts = [f"# {title}"]
    for block in blocks:
        if isinstance(block, Plot | Picture):
            folder.mkdir(parents=True, exist_ok=True)
            content = block.png if isinstance(block, Picture) else block.drawing.content(dpi=110)
            write_atomically(folder / f"{block.name}.png", content)
            parts.append(f"![{block.caption}]({folder.name}/{block.name}.png)\n\n*{block.caption}*")
        else:
            parts.append(_block_markdown(block))
    write_atomically(path, "\n\n".join(parts) + "\n")


def _block_markdown(block: Heading | Text | Cells | Code | References) -> str:
    if isinstance(block, Heading):
        return f"## {block.text}"
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Code):
        return f"```\n{block.text}\n```"
    if isinstance(block, References):
        listed = [f"- {one.in_words()}" for one in references(block.methods, block.metrics)]
        return "\n".join(["## References", "", *listed]) if listed else ""
    lines = ["| " + " | ".join(block.header) + " |", "|" + "---|" * len(block.header)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in block.lines
    ]
    return "\n".join(lines)
