"""A run's sliders as one HTML file that decodes in the browser and asks for nothing."""

import base64
import gzip
import json
import warnings
from pathlib import Path

from unweave import runs, views
from unweave.errors import ConfigError, Notice
from unweave.explorer import page_data, page_files
from unweave.explorer.onnx_files import encoder_to_onnx
from unweave.explorer.open_runs import Library, OpenRun
from unweave.files.writing import write_atomically
from unweave.runs.run import Run


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
    content = {
        "run": page_data.run_facts(library, library.root.name),
        "latents": page_data.latents(opened),
        "starts": page_data.starts(opened),
    }
    if problem := content["latents"]["problem"]:
        warnings.warn(f"the page shows no images of the data: {problem}", Notice, stacklevel=2)
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
