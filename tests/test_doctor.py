"""The doctor: what it finds, and that it tells what is wrong."""

import os
import shutil
import subprocess
import sys

import pytest

from unweave import doctor
from unweave.cli import main


def findings(**changes) -> dict[str, doctor.Finding]:
    return {finding.what: finding for finding in doctor.examine(**changes)}


def test_it_finds_versions_cores_and_room():
    found = findings(speed=False)
    assert found["Python"].found.startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert "torch" in found["packages"].found
    assert found["cores"].found.startswith(f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}")
    assert "GB free" in found["cache"].found


def test_a_missing_extra_is_told_with_how_to_get_it(monkeypatch):
    there = doctor._is_installed
    monkeypatch.setattr(doctor, "_is_installed", lambda name: name != "ray" and there(name))
    extra = findings(speed=False)["extra ray"]
    assert (extra.found, extra.advice) == (
        "lacks ray",
        "if you want it: pip install 'unweave[ray]'",
    )


def test_other_work_and_a_full_disk_are_told(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 99.0, 99.0))
    usage = type(shutil.disk_usage("."))(10**12, 10**12 - 10**9, 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    found = findings(speed=False)
    assert "other work" in found["cores"].advice
    assert "UNWEAVE_CACHE" in found["cache"].advice


@pytest.mark.parametrize(("rates", "told"), [((100.0, 50.0), "--threads 1"), ((100.0, 190.0), "")])
def test_threads_that_slow_each_other_are_told(monkeypatch, rates, told):
    monkeypatch.setattr(doctor.torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(doctor, "products_per_second", lambda threads: 100 / doctor.USUAL)
    monkeypatch.setattr(doctor, "images_per_second", lambda data, threads: rates[threads - 1])
    found = findings()
    assert found["speed of 1 thread"].advice == ""
    assert told in found["speed of 2 threads"].advice
    assert bool(found["speed of 2 threads"].advice) == bool(told)


def test_the_command_prints_all_of_it(capsys):
    assert main(["doctor", "--no-speed"]) == 0
    assert "packages" in capsys.readouterr().out


def test_speeds_are_those_of_real_work():
    assert doctor.products_per_second(1, seconds=0.05) > 0.1
    data = doctor._images()
    assert doctor.images_per_second(data, 1, steps=2) > 1


@pytest.mark.parametrize(("given", "spins"), [({}, "10000"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "")])
def test_threads_of_commands_soon_sleep_unless_the_user_says_otherwise(given, spins):
    code = "import unweave.cli, os; print(os.environ.get('GOMP_SPINCOUNT', ''))"
    ours = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {k: v for k, v in os.environ.items() if k not in ours} | given
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == spins
