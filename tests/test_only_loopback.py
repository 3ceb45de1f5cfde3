"""The suite itself runs without a network: this is what holds it to that."""

import socket
import subprocess
import sys
import urllib.request

import pytest

from only_loopback import NetworkCalled, is_here

ELSEWHERE = "192.0.2.1"  # an address that is nobody's, kept for examples


def test_no_test_reaches_another_machine():
    with socket.socket() as connection, pytest.raises(NetworkCalled):
        connection.connect((ELSEWHERE, 80))
    with socket.socket(type=socket.SOCK_DGRAM) as messages, pytest.raises(NetworkCalled):
        messages.sendto(b"hello", (ELSEWHERE, 53))
    with pytest.raises(NetworkCalled):
        socket.getaddrinfo("example.org", 80)
    with pytest.raises(NetworkCalled):
        urllib.request.urlopen("http://example.org")


def test_no_process_of_a_test_does_either():
    program = f"import socket; socket.socket().connect(({ELSEWHERE!r}, 80))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "NetworkCalled" in done.stderr


def test_this_machine_is_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert is_here("::1")
    assert is_here(b"localhost")
    assert not is_here("127.0.0.1.example.org")
