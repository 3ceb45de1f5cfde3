"""Files are replaced whole or not at all."""

import os
import subprocess
import sys

import pytest

from unweave.errors import ConfigError, DataError
from unweave.files import writing
from unweave.files.json_files import read_json
from unweave.files.locks import held, sole_owner
from unweave.files.writing import is_unfinished, sweep, unfinished_name, write_atomically

FILL_THE_DISK = """
import resource, sys
from pathlib import Path
from unweave.errors import DataError
from unweave.files.writing import write_atomically
# A limit on the size of files stands in for a full disk: the write fails half way.
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_atomically(Path(sys.argv[1]), b"n" * 100_000)
except DataError as error:
    print(error)
    sys.exit(7)
"""


def test_a_full_disk_keeps_the_old_file_says_so_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FILL_THE_DISK, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 7, done.stderr
    assert "is kept" in done.stdout
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_content_is_on_disk_before_the_name_is(tmp_path, monkeypatch):
    """Write, flush, rename, flush the folder: the order that survives a power loss."""
    calls = []
    real_fsync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("flush"), real_fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("rename"), real_replace(a, b)))
    write_atomically(tmp_path / "file", "text")
    assert calls == ["flush", "rename", "flush"]
    assert (tmp_path / "file").read_text() == "text"


def test_no_two_writers_share_a_name_even_with_the_same_number_on_two_machines(tmp_path):
    names = {unfinished_name(tmp_path / "config.json") for _ in range(100)}
    assert len(names) == 100
    assert all(is_unfinished(name) and name.parent == tmp_path for name in names)
    write_atomically(tmp_path / ("long" * 60), "text")  # 240 letters leave room for no more


def test_what_a_killed_writer_left_is_swept_and_what_is_in_work_is_not(tmp_path, monkeypatch):
    for name in (".config.json.4711.unfinished", ".data.0123456789abcdef.unfinished"):
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / "mine.unfinished").write_bytes(b"mine")
    real_fsync = os.fsync

    def sweep_meanwhile(handle):
        sweep(tmp_path)
        real_fsync(handle)

    monkeypatch.setattr(os, "fsync", sweep_meanwhile)
    write_atomically(tmp_path / "file", "text")
    assert sorted(os.listdir(tmp_path)) == ["file", "mine.unfinished"]
    assert (tmp_path / "file").read_text() == "text"


def test_a_writer_that_was_swept_as_it_began_begins_again(tmp_path, monkeypatch):
    answers = [False, True]
    monkeypatch.setattr(writing, "try_lock", lambda file: answers.pop(0))
    write_atomically(tmp_path / "file", "text")
    assert answers == []
    assert (tmp_path / "file").read_text() == "text"
    assert os.listdir(tmp_path) == ["file"]


def test_a_disk_that_knows_no_locks_is_written_to_and_not_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "try_lock", lambda file: None)
    (tmp_path / ".x.unfinished").write_bytes(b"perhaps in work")
    write_atomically(tmp_path / "file", "text")
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".x.unfinished", "file"]


def test_a_missing_folder_is_an_error_of_ours(tmp_path):
    with pytest.raises(DataError, match="cannot write"):
        write_atomically(tmp_path / "nowhere" / "file", "text")


def test_only_one_process_owns_a_lock(tmp_path):
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom unweave.files.locks import sole_owner\n"
        "with sole_owner(Path(sys.argv[1]), 'busy'):\n"
        "    print('mine', flush=True)\n    time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "mine\n"
    with pytest.raises(ConfigError, match="taken"), sole_owner(tmp_path / "lock", "taken"):
        pass
    with held(tmp_path / "lock") as ours:
        assert not ours
    other.kill()
    other.wait()
    with held(tmp_path / "lock", waits=True) as ours:
        assert ours
    with sole_owner(tmp_path / "lock", "taken"):  # the lock died with its owner
        pass


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000])
def test_json_that_cannot_be_read_is_refused_in_a_sentence(tmp_path, content):
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(DataError, match=r"file\.json is not valid JSON"):
        read_json(tmp_path / "file.json")
    with pytest.raises(DataError, match="cannot read"):
        read_json(tmp_path / "none.json")
