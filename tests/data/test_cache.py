"""Prepared files: made once, whole or not at all, by however many processes at once."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from unweave.errors import DataError
from unweave.files.cache import cache_folder, cached_array, cached_folder, new_array

PROCESSES = 8
BYTES = np.dtype(np.uint8)

PREPARE_ARRAY = """
import sys, time
from pathlib import Path
import numpy as np
from unweave.files.cache import cached_array

path, started, hold = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])

def fill(array):
    with open(started, "a") as log:
        log.write("started\\n")
    array[:500] = 7
    time.sleep(hold)
    array[500:] = 7

array = cached_array(path, (1000, 100), np.dtype(np.uint8), fill)
assert (array == 7).all()
"""

LOAD_FOLDER = """
import hashlib, sys
from unweave.data import load_data

data = load_data(sys.argv[1])
print(len(data), hashlib.sha256(data.pixels.array.tobytes()).hexdigest())
"""


def start(script: str, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> str:
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return output


def wait_for(path, seconds=30):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def test_one_of_eight_prepares_and_a_killed_one_leaves_nothing(tmp_path):
    path, started = tmp_path / "cache" / "a.npy", tmp_path / "started"
    killed = start(PREPARE_ARRAY, path, started, 100)
    wait_for(started)
    others = [start(PREPARE_ARRAY, path, started, 0.1) for _ in range(PROCESSES)]
    time.sleep(0.3)  # some of them wait for the lock by now
    assert not path.exists()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    for process in others:
        finish(process)
    assert started.read_text().count("started") == 2  # the killed one, and one of the others
    assert sorted(os.listdir(path.parent)) == ["a.npy", "a.npy.lock"]


def test_eight_processes_on_one_folder_see_the_same_images(tmp_path, empty_cache, rng):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(30):
        picture = rng.integers(0, 256, (80, 60, 3)).astype(np.uint8)
        Image.fromarray(picture).save(folder / f"{i}.png")
    outputs = {
        finish(process) for process in [start(LOAD_FOLDER, folder) for _ in range(PROCESSES)]
    }
    assert len(outputs) == 1
    assert outputs.pop().startswith("30 ")
    names = os.listdir(empty_cache / "folders")
    assert len(names) == 2
    assert not any("unfinished" in name for name in names)


def test_the_cache_is_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / "chosen"
    monkeypatch.delenv("UNWEAVE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "unweave"


def test_an_array_is_made_once(tmp_path):
    path = tmp_path / "a.npy"
    first = cached_array(path, (3,), BYTES, lambda array: array.fill(5))
    again = cached_array(path, (3,), BYTES, lambda array: pytest.fail("made again"))
    assert first.tolist() == again.tolist() == [5, 5, 5]
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b""),
        lambda path: np.save(path, np.zeros(4, dtype=np.uint8)),
        lambda path: np.save(path, np.zeros(3, dtype=np.int8)),
    ],
)
def test_a_damaged_array_is_made_again(tmp_path, damage):
    path = tmp_path / "a.npy"
    cached_array(path, (3,), BYTES, lambda array: array.fill(5))
    damage(path)
    assert cached_array(path, (3,), BYTES, lambda array: array.fill(6)).tolist() == [6, 6, 6]


def test_a_failed_preparation_leaves_nothing(tmp_path):
    def fail(array):
        raise DataError("no good")

    with pytest.raises(DataError, match="no good"):
        cached_array(tmp_path / "a.npy", (3,), BYTES, fail)
    assert os.listdir(tmp_path) == ["a.npy.lock"]

    def fail_in(folder):
        new_array(folder / "images.npy", (3,), BYTES)
        raise DataError("no good")

    with pytest.raises(DataError, match="no good"):
        cached_folder(tmp_path / "b", fail_in, notes="notes.json", needed=3)
    assert sorted(os.listdir(tmp_path)) == ["a.npy.lock", "b.lock"]


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    (tmp_path / "a.npy.99999.unfinished").write_bytes(b"half")
    cached_array(tmp_path / "a.npy", (3,), BYTES, lambda array: array.fill(5))
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "a.npy.lock"]


def test_a_full_disk_is_an_error_that_says_what_is_needed(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(DataError, match=r"No space left on device. Set UNWEAVE_CACHE .* 3 MB free"):
        cached_array(tmp_path / "a.npy", (3_000_000,), BYTES, lambda array: None)
    assert not (tmp_path / "a.npy").exists()


def test_a_disk_that_cannot_reserve_space_is_used_all_the_same(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", unsupported, raising=False)
    array = cached_array(tmp_path / "a.npy", (3,), BYTES, lambda array: array.fill(5))
    assert array.tolist() == [5, 5, 5]


def test_space_is_taken_before_it_is_filled(tmp_path, monkeypatch):
    taken = []
    monkeypatch.setattr(os, "posix_fallocate", lambda *span: taken.append(span[1:]), raising=False)
    array = new_array(tmp_path / "a.npy", (1_000_000,), BYTES)
    assert taken == [(0, (tmp_path / "a.npy").stat().st_size)]
    assert taken[0][1] > array.nbytes


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=r"cannot write .* Set UNWEAVE_CACHE"):
        cached_array(tmp_path / "file" / "a.npy", (3,), BYTES, lambda array: None)
