"""No test may call the network: whatever opens a connection to another machine is refused.

An audit hook sees every socket that Python opens, in whatever library. `sitecustomize.py`,
in the folder of this name, does the same in the processes that tests start.
"""

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "only_loopback_in_processes"


class NetworkCalled(AssertionError):
    """Something called the network."""


def is_here(host: Any) -> bool:
    """Whether a host is this machine, by a name or number that needs no asking."""
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise an error if an event of Python's audit reaches beyond this machine."""
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and not is_here(address[0]):
            raise NetworkCalled(f"{event} to {address}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not is_here(arguments[0]):
        if event == "socket.getaddrinfo" and arguments[0] in _OWN_NAMES:
            return
        raise NetworkCalled(f"{event} of {arguments[0]}")


_OWN_NAMES = {os.uname().nodename} if hasattr(os, "uname") else set()


def install() -> None:
    """Refuse it in this process, and in those it starts."""
    sys.addaudithook(refuse)
    paths = [str(FOLDER), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
