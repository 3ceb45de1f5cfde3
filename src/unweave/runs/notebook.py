"""A run as a notebook shows it: settings, scores, and the traversals its folder holds."""

from pathlib import Path

from unweave import catalog
from unweave.pages import Html, data_url, join, table, tag
from unweave.runs.config import Train
from unweave.runs.folder import RunFolder
from unweave.settings.plain import to_plain

# Notebooks have colours and letters of their own, but put the words of tables to the right.
STYLE = Html(".unweave-run td, .unweave-run th { text-align: left !important; }")


def run_html(config: Train, step: int, folder: RunFolder | None) -> str:
    """Return a page's part; nothing is computed for it but what is in the folder already."""
    knob = config.method.main_knob
    rows = [["method", catalog.name_of(config.method)], ["data", config.data]]
    if knob:
        rows.append([knob, str(to_plain(getattr(config.method, knob)))])
    rows += [
        ["latents", str(config.method.latent_dim)],
        ["step", f"{step:,} of {config.steps:,}"],
        ["seed", str(config.seed)],
    ]
    if folder is not None:
        rows += [["state", str(folder.status()["state"])], ["folder", str(folder.path)]]
    return tag(
        "div",
        tag("style", STYLE),
        table(["", ""], rows),
        None if folder is None else join(_scores(folder), _picture(folder)),
        class_="unweave-run",
    )


def _scores(folder: RunFolder) -> Html | None:
    from unweave.metrics import protocol_words  # on first use: a run is often not shown

    lines = [
        [name, f"{entry['value']:.3f}", protocol_words(entry)]
        for name, entry in folder.scores().items()
        if entry.get("value") is not None
    ]
    return table(["metric", "score", "protocol"], lines) if lines else None


def _picture(folder: RunFolder) -> Html | None:
    path = newest_traversals(folder)
    if path is None:
        return None
    return tag("img", src=data_url(path.read_bytes(), "image/png"), alt="latent traversals")


def newest_traversals(folder: RunFolder) -> Path | None:
    """Return the picture drawn at the end or, before that, the last one of the training."""
    path = folder.figures / "traversals.png"
    if path.is_file():
        return path
    drawn = sorted((folder.figures / "training").glob("traversals-*.png"))
    return drawn[-1] if drawn else None
