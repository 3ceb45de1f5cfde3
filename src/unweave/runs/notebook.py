"""A run as a notebook shows it: settings, scores, and the traversals its folder holds."""

import base64
from html import escape
from pathlib import Path

from unweave import catalog
from unweave.metrics import protocol_words
from unweave.runs.config import Train
from unweave.runs.folder import RunFolder
from unweave.settings.plain import to_plain
from unweave.settings.schedules import Schedule


def run_html(config: Train, step: int, folder: RunFolder | None) -> str:
    """Return a page's part; nothing is computed for it but what is in the folder already."""
    method = catalog.name_of(config.method)
    knob = config.method.main_knob
    rows = [("method", method), ("data", config.data)]
    if knob:
        value = getattr(config.method, knob)
        rows.append((knob, str(to_plain(value) if isinstance(value, Schedule) else value)))
    rows += [
        ("latents", str(config.method.latent_dim)),
        ("step", f"{step:,} of {config.steps:,}"),
        ("seed", str(config.seed)),
    ]
    parts = []
    if folder is not None:
        rows += [("state", str(folder.status()["state"])), ("folder", str(folder.path))]
        parts += [_scores(folder), _picture(folder)]
    settings = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<div><table>{settings}</table>{''.join(parts)}</div>"


def _scores(folder: RunFolder) -> str:
    cells = [
        (escape(name), f"{entry['value']:.3f}", escape(protocol_words(entry)))
        for name, entry in folder.scores().items()
        if entry.get("value") is not None
    ]
    if not cells:
        return ""
    lines = "".join(f"<tr><td>{'</td><td>'.join(line)}</td></tr>" for line in cells)
    return f"<table><tr><th>metric</th><th>score</th><th>protocol</th></tr>{lines}</table>"


def _picture(folder: RunFolder) -> str:
    path = newest_traversals(folder)
    if path is None:
        return ""
    content = base64.b64encode(path.read_bytes()).decode()
    return f"<img alt='latent traversals' src='data:image/png;base64,{content}'>"


def newest_traversals(folder: RunFolder) -> Path | None:
    """Return the picture drawn at the end or, before that, the last one of the training."""
    path = folder.figures / "traversals.png"
    if path.is_file():
        return path
    drawn = sorted((folder.figures / "training").glob("traversals-*.png"))
    return drawn[-1] if drawn else None
