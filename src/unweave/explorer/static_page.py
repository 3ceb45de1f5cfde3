"""A run's page as one HTML file that decodes in the browser and asks for nothing.

The file holds the answers that a server would give, by their addresses; the page is the same.
"""

import base64
import gzip
import json
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote

from unweave import runs, views
from unweave.errors import ConfigError, Notice
from unweave.explorer import kept_applications, kept_pictures, page_data, page_files
from unweave.explorer.embedding import embedding_with_images
from unweave.explorer.onnx_files import encoder_to_onnx
from unweave.explorer.open_runs import Library, OpenRun
from unweave.explorer.score_cards import score_cards
from unweave.files.writing import write_atomically
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run

MOST_SCATTERS = 16  # latents whose scatters are in the file
POINTS = 400  # of a scatter
CLOUD = 600  # points of the embedding
MOST_PICTURES = 12  # of one kind, drawn while training
PICTURE_BYTES = 3_000_000


def export_page(folder: str | Path, path: str | Path) -> Path:
    """Write the page of one run; return where it is."""
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: name a file in a folder that exists")
    library = Library(folder)
    if not library.is_one_run:
        raise ConfigError(f"{folder} is not a run folder: it has no config.json")
    opened = OpenRun(runs.load(folder))
    opened.run.code.require_decoder(opened.run.kind)
    name = library.root.name
    known = page_data.latents(opened)
    if problem := known["problem"]:
        warnings.warn(f"the page shows no images of the data: {problem}", Notice, stacklevel=2)
    content = {
        "name": name,
        "answers": _answers(library, opened, known),
        "starts": page_data.starts(opened),
    }
    text = json.dumps(views.plain(content), ensure_ascii=False, allow_nan=False)
    inside = {
        "content": text.replace("<", "\\u003c"),  # no text of a run can end the element
        "decoder": _packed(opened.decoder),
        "runtime": page_files.runtime_text(),
    }
    encoder = _encoder(opened.run)
    if encoder is not None:
        inside["encoder"] = _packed(encoder)
    write_atomically(path, page_files.single_page(inside))
    return path


def _answers(library: Library, opened: OpenRun, known: dict[str, Any]) -> dict[str, Any]:
    """Return what the page of a run asks for, by address."""
    name = library.root.name
    folder = library.folder(name)
    here = f"/runs/{quote(name, safe='')}"
    found: dict[str, Any] = {
        f"{here}.json": page_data.run_facts(library, name),
        f"{here}/latents.json?quick=1": known,
        f"{here}/curves.json": page_data.curves(folder),
        f"{here}/scores.json": score_cards(library, name),
        f"{here}/applications.json": _applications(opened),
        f"{here}/training_pictures.json": _pictures(folder),
    }
    if known["problem"] or opened.run.code.source == "nowhere":
        return found | {f"{here}/warnings.json": {"warnings": [], "in_short": []}}
    found[f"{here}/warnings.json"] = page_data.warnings(opened)
    found[f"{here}/caption.json"] = page_data.caption(opened)
    found[f"{here}/embedding.json?axes=pca"] = embedding_with_images(opened, CLOUD)
    if known["factors"]:
        found[f"{here}/response.json"] = page_data.response(opened)
        for kind in views.KINDS:
            found[f"{here}/heat_map.json?kind={kind}"] = page_data.heat_map(opened, kind)
        for latent in known["order"][:MOST_SCATTERS]:
            for factor in known["factors"]:
                address = f"{here}/scatter.json?latent={latent}&factor={quote(factor, safe='')}"
                found[address] = page_data.scatter(opened, latent, factor, POINTS)
    return found


def _applications(opened: OpenRun) -> dict[str, Any]:
    """Return what applications found, with their figures inside."""
    found = kept_applications.kept(opened)
    for one in found["applications"]:
        if one["picture"]:
            one["picture"] = _picture_url(kept_applications.figure(opened, one["name"]))
    return found


def _picture_url(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _pictures(folder: RunFolder) -> dict[str, Any]:
    """Return pictures of training, the last ones and as many as a file to mail can hold."""
    listed = kept_pictures.training_pictures(folder)["kinds"]
    kinds: dict[str, list[dict[str, Any]]] = {}
    left = PICTURE_BYTES
    for kind, entries in listed.items():
        for entry in entries[-MOST_PICTURES:]:
            content = kept_pictures.training_picture(folder, entry["file"])
            left -= len(content)
            if left >= 0:
                kinds.setdefault(kind, []).append(entry | {"picture": _picture_url(content)})
    return {"kinds": kinds, "weights": []}  # a file to mail has one decoder


def _encoder(run: Run) -> bytes | None:
    """Return the encoder, so that the page can start from an image of the reader's.

    What a browser reads from an image file has one or three channels.
    """
    if run.code.source != "images" or run.image_shape[0] not in (1, 3):
        return None
    try:
        return encoder_to_onnx(run)
    except ConfigError as error:
        warnings.warn(f"the page will not take uploads: {error}", Notice, stacklevel=3)
        return None


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=0)).decode()
