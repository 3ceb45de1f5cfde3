"""Ctrl-C ends the explorer without a word, however often it is pressed."""

import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPException

import pytest

SLOW = """
import sys, time
from pathlib import Path
from unweave.explorer import run_list, server

def slowly(library, since):
    Path(sys.argv[2]).touch()
    time.sleep(2)
    return {}

run_list.all_runs = slowly
server.serve(sys.argv[1], browser=False)
"""


@pytest.fixture
def busy(tmp_path):
    """An explorer in a process of its own, which is answering a request."""
    asked = tmp_path / "asked"
    words = [sys.executable, "-c", SLOW, str(tmp_path), str(asked)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as one:
        address = [one.stdout.readline() for _ in range(3)][1].split()[1]
        thread = threading.Thread(target=ask, args=address.split("?token="), daemon=True)
        thread.start()
        deadline = time.monotonic() + 60
        while not asked.exists():
            assert one.poll() is None, one.stderr.read()
            assert time.monotonic() < deadline, "it was not asked"
            time.sleep(0.05)
        yield one
        one.kill()


def ask(address: str, token: str) -> None:
    request = urllib.request.Request(
        f"{address}runs.json", headers={"Authorization": f"Bearer {token}"}
    )
    with suppress(urllib.error.URLError, ConnectionError, HTTPException):  # it goes away meanwhile
        urllib.request.urlopen(request, timeout=60)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_says_nothing(busy, times):
    for _ in range(times):
        busy.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            busy.wait(0.3)  # a hand is not faster
    _, complaints = busy.communicate(timeout=60)
    assert (busy.returncode, complaints) == (0, "")
