"""Files are replaced whole or not at all."""

import os
import subprocess
import sys

import pytest

from unweave.errors import ConfigError, DataError
from unweave.files.json_files import read_json
from unweave.files.locks import held, sole_owner
from unweave.files.writing import write_atomically

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
