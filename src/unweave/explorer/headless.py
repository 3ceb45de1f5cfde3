"""A headless Chromium, for tests, pictures and measurements of the page; needs playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unweave.errors import ConfigError

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = (
    "no Chromium on the PATH: `make test` installs Debian's where it may; otherwise "
    "`apt-get install chromium`, or install Chromium for your system"
)


def find_chromium() -> str | None:
    """Return where Chromium is, if it is."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser with a fresh profile, as playwright's Browser."""
    program = find_chromium()
    if program is None:
        raise ConfigError(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
