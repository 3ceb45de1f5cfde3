"""unweave explore [FOLDER] [--export PAGE]"""

from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.errors import ConfigError

DESCRIPTION = """Look at runs in a browser: sliders, heat maps, curves, comparisons.

  unweave explore runs
  unweave explore runs/my-run
  unweave explore --export page.html runs/my-run
  unweave explore --example

The page is served on loopback only, under an address with a random token. An exported
page is one file that needs no server and no network."""


@dataclass(frozen=True)
class Flags:
    folder: tyro.conf.Positional[str] = "runs"
    """Folder of runs, or of one run."""
    export: str | None = None
    """Write the sliders of one run as a file that decodes in the browser, instead of serving."""
    example: bool = False
    """Look at the small trained models that come with unweave, instead of runs of yours."""
    port: int = 0
    """Port on loopback; 0 takes one that is free."""
    no_browser: bool = False
    """Print the address and open no browser."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "explore", DESCRIPTION)
    if flags.example:
        from unweave.examples import unpack_all

        flags = replace(flags, folder=str(unpack_all()))
    if flags.export is not None:
        from unweave.explorer import export_page

        page = export_page(flags.folder, flags.export)
        _output.say(f"page: {page} ({Path(page).stat().st_size / 1e6:.1f} MB)")
        return 0
    try:
        from unweave.explorer.server import serve
    except ImportError as error:
        raise ConfigError(
            f"the explorer needs {error.name}: pip install 'unweave[explore]'"
        ) from None
    serve(flags.folder, port=flags.port, browser=not flags.no_browser)
    return 0
