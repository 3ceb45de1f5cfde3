"""A run's sliders as one HTML file that decodes in the browser and asks for nothing."""

import base64
import gzip
import json
from pathlib import Path

from unweave import runs, views
from unweave.errors import ConfigError
from unweave.explorer import contents, page_files
from unweave.explorer.library import Library, OpenRun
from unweave.files import write_atomically


def export_page(folder: str | Path, path: str | Path) -> Path:
    """Write the page of one run; return where it is."""
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: name a file in a folder that exists")
    library = Library(folder)
    if not library.is_one_run:
        raise ConfigError(f"{folder} is not a run folder: it has no config.json")
    opened = OpenRun(runs.load(folder))
    if not opened.run.has_decoder:
        raise ConfigError(f"{opened.run.name} has no decoder: there is nothing to slide")
    content = {
        "run": contents.run_facts(library, library.root.name),
        "latents": contents.latents(opened),
        "starts": contents.starts(opened),
    }
    text = json.dumps(views.plain(content), ensure_ascii=False, allow_nan=False)
    decoder = gzip.compress(opened.decoder, compresslevel=9, mtime=0)
    page = page_files.single_page(
        {
            "content": text.replace("<", "\\u003c"),  # no text of a run can end the element
            "decoder": base64.b64encode(decoder).decode(),
            "runtime": page_files.runtime_text(),
        }
    )
    write_atomically(path, page)
    return path
