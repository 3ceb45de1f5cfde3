"""Asking a running explorer, header by header."""

import http.client
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
