"""A report as blocks, written as one self-contained HTML page or as Markdown with pictures."""

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unweave.files.writing import write_atomically


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Cells:
    """A table of words."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    name: str
    """Name of its file, without an ending."""
    png: bytes
    caption: str


@dataclass(frozen=True)
class Code:
    text: str


Block = Heading | Text | Cells | Picture | Code

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }
h1, h2 { line-height: 1.2; margin-top: 2rem; }
table { border-collapse: collapse; font-size: 0.9rem; display: block; overflow-x: auto; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; }
th { border-bottom: 2px solid #888; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
figcaption { color: #666; font-size: 0.9rem; } pre { background: #f4f4f4; padding: 0.7rem;
  overflow-x: auto; }
"""


def picture_of(figure: Any, name: str, caption: str) -> Picture:
    """Return a matplotlib figure as a block."""
    content = io.BytesIO()
    # Without the date and version that would change the file from day to day.
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    return Picture(name, content.getvalue(), caption)


def write_html(path: Path, title: str, blocks: Sequence[Block]) -> None:
    """Write one page that needs no other file."""
    parts = [
        "<!doctype html>",
        f'<html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style><body>",
        f"<h1>{html.escape(title)}</h1>",
        *(_as_html(block) for block in blocks),
        "</body></html>",
    ]
    write_atomically(path, "\n".join(parts) + "\n")


def _as_html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h2>{html.escape(block.text)}</h2>"
    if isinstance(block, Text):
        return f"<p>{html.escape(block.text)}</p>"
    if isinstance(block, Code):
        return f"<pre>{html.escape(block.text)}</pre>"
    if isinstance(block, Picture):
        data = base64.b64encode(block.png).decode()
        alt = html.escape(block.caption, quote=True)
        return (
            f'<figure><img alt="{alt}" src="data:image/png;base64,{data}">'
            f"<figcaption>{html.escape(block.caption)}</figcaption></figure>"
        )
    header = "".join(f"<th>{html.escape(cell)}</th>" for cell in block.header)
    lines = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
        for line in block.lines
    )
    return f"<table><tr>{header}</tr>\n{lines}</table>"


def write_markdown(path: Path, title: str, blocks: Sequence[Block]) -> None:
    """Write a page with its pictures in a folder beside it."""
    folder = path.with_suffix("")
    parts = [f"# {title}"]
    for block in blocks:
        if isinstance(block, Picture):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / f"{block.name}.png", block.png)
            parts.append(f"![{block.caption}]({folder.name}/{block.name}.png)\n\n*{block.caption}*")
        else:
            parts.append(_as_markdown(block))
    write_atomically(path, "\n\n".join(parts) + "\n")


def _as_markdown(block: Heading | Text | Cells | Code) -> str:
    if isinstance(block, Heading):
        return f"## {block.text}"
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Code):
        return f"```\n{block.text}\n```"
    lines = ["| " + " | ".join(block.header) + " |", "|" + "---|" * len(block.header)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in block.lines
    ]
    return "\n".join(lines)
