"""Asking a running explorer header by header, and reading its page."""

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TOKEN = "a-token-only-for-tests"
WAIT = 60_000  # milliseconds; machines that test are often busy


@dataclass
class Served:
    """A running explorer."""

    root: Path
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: Any = None,
        token: bool = True,
        **headers: str,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request exactly as said; header names have _ for -."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent.setdefault("Authorization", f"Bearer {TOKEN}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            chunked = not isinstance(body, bytes | str | None)
            connection.request(method, path, body, sent, encode_chunked=chunked)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def json(self, path: str, **how: Any) -> Any:
        status, headers, content = self.ask(path, **how)
        assert status == 200, content
        assert headers["content-type"] == "application/json"
        return json.loads(content)


def canvas(page, selector: str) -> np.ndarray:
    """Return the first colour of a canvas's pixels, (height, width)."""
    width, height, values = page.evaluate(
        """(selector) => {
            const canvas = document.querySelector(selector);
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            return [width, height, Array.from(data.filter((_, i) => i % 4 === 0))];
        }""",
        selector,
    )
    return np.array(values, dtype=np.int64).reshape(height, width)


def decoded(run, code) -> np.ndarray:
    return np.round(run.decode(np.array([code], dtype=np.float32))[0, 0] * 255).astype(np.int64)


def settle(page, grids: int) -> None:
    """Wait until the grid was drawn that often."""
    page.wait_for_function(
        "count => performance.getEntriesByName('unweave grid').length >= count", arg=grids
    )


def grids(page) -> int:
    return page.evaluate("performance.getEntriesByName('unweave grid').length")


def slider_value(page, latent: int) -> float:
    return float(page.locator(f"input[type=range][data-latent='{latent}']").input_value())


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1  # of 255


def start_from_row(page, row: int) -> None:
    field = page.get_by_label("Row of the data")
    field.fill(str(row))
    field.press("Enter")
    page.get_by_text(f"Started from row {row}").wait_for()
