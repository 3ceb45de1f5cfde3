"""Requests that do not come to an end, and names of folders with any character."""

import shutil
import socket
import time

import pytest
from explored import TOKEN, Served

from unweave.explorer import patience
from unweave.explorer.server import in_background

START = "GET /runs.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"


def connection(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def is_closed_within(seconds: float, slow: socket.socket, drip: bytes) -> bool:
    """Go on sending, and see whether the other end hangs up meanwhile."""
    slow.settimeout(0.1)
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        try:
            slow.sendall(drip)
            if slow.recv(1) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:  # reset, or broken
            return True
    return False


@pytest.mark.parametrize("drip", [b"", b"X-Slow: 1\r\n"])
def test_headers_that_do_not_come_end_the_connection(runs, drip, monkeypatch):
    monkeypatch.setattr(patience, "HEADER_SECONDS", 0.3)
    with in_background(runs, TOKEN) as (port, _), connection(port) as slow:
        slow.sendall(b"GET /runs.json HTTP/1.1\r\nHost: 127.0.0.1\r\n" if drip else b"")
        assert is_closed_within(20, slow, drip)


def test_a_connection_serves_request_after_request(runs, monkeypatch):
    monkeypatch.setattr(patience, "HEADER_SECONDS", 2.0)
    request = (START.format(port="{port}", token=TOKEN) + "\r\n").replace(
        "runs.json", "page/api.js"
    )
    with in_background(runs, TOKEN) as (port, _), connection(port) as kept:
        for _ in range(3):
            kept.sendall(request.replace("{port}", str(port)).encode())
            assert kept.recv(12) == b"HTTP/1.1 200"
            assert not is_closed_within(1, kept, b"")


def test_a_body_that_does_not_come_is_given_up(runs, monkeypatch):
    monkeypatch.setattr(patience, "BODY_SECONDS", 0.3)
    with in_background(runs, TOKEN) as (port, _), connection(port) as slow:
        start = START.format(port=port, token=TOKEN).replace("GET /runs.json", "POST /runs/a/name")
        slow.sendall((start + "Content-Length: 5000\r\n\r\n{").encode())
        assert slow.recv(12) == b"HTTP/1.1 408"


def test_a_folder_with_a_new_line_in_its_name_is_a_run(runs, tmp_path):
    shutil.copytree(runs / "vae-s0", tmp_path / "two\nlines")
    with in_background(tmp_path, TOKEN) as (port, _):
        served = Served(tmp_path, port)
        assert served.json("/runs.json")["runs"][0]["name"] == "two\nlines"
        assert served.json("/runs/two%0Alines.json")["name"] == "two\nlines"
        assert served.json("/runs/two%0Alines/status.json")["state"] == "done"
