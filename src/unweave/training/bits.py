"""What decides the last bits of a run beyond its settings, kept with it.

Sums are rounded in another order with other threads, kernels or versions. A run goes on
with what it began with, as far as it is there and the user does not say otherwise.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unweave import devices
from unweave.errors import ConfigError
from unweave.runs.config import Machine
from unweave.runs.folder import RunFolder


def as_before(machine: Machine, facts: Mapping[str, Any]) -> Machine:
    """Return a machine that leaves nothing open of what a run began with."""
    threads, device = facts.get("threads"), facts.get("device", "auto")
    if machine.threads is None and isinstance(threads, int) and threads > 0:
        machine = replace(machine, threads=threads)
    if machine.device == "auto" and _is_there(device):
        machine = replace(machine, device=device)
    if facts.get("compile") and devices.can_compile(devices.choose_device(machine.device)):
        machine = replace(machine, compile=True)
    return machine


def changes(folder: RunFolder, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say in a line what is not as it was, so that bits will differ; "" if all is."""
    changed = [name for name in now if name in before and before[name] != now[name]]
    if not changed:
        return ""
    then = ", ".join(f"{name} {before[name]}" for name in changed)
    here = ", ".join(f"{name} {now[name]}" for name in changed)
    return (
        f"{folder.path} was trained with {then} and goes on with {here}: "
        f"its last digits will not be those of a run in one piece"
    )


def _is_there(device: Any) -> bool:
    try:
        return isinstance(device, str) and devices.choose_device(device) is not None
    except ConfigError:
        return False
