"""Crashes, kills and hangs: every result is there exactly once."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import fake_jobs
import pytest
from fake_jobs import KEY, FakeJob, drive, events, jobs

from unweave.errors import DataError, Stopped
from unweave.process import ask_to_stop
from unweave.studies.run import attempt, local
from unweave.studies.run.ledger import Ledger
from unweave.studies.run.local import cause_of_death
from unweave.studies.run.progress import Progress
from unweave.studies.run.sharing import MappedFiles, place_for_copies


def start_driver(root: Path, count: int, seconds: float) -> subprocess.Popen:
    words = [sys.executable, fake_jobs.__file__, str(root), str(count), str(seconds)]
    path = os.pathsep.join([str(Path(fake_jobs.__file__).parent), *sys.path])
    env = os.environ | {"PYTHONPATH": path}
    return subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True)


def results(root: Path, count: int) -> dict[str, str]:
    """Return the token of every result, having checked that all are there and whole."""
    files = sorted(root.glob(f"run-*/results/{KEY}.json"))
    assert len(files) == count
    assert not list(root.glob("run-*/results/.*")), "no half-written file is left"
    return {file.parts[-3]: json.loads(file.read_text())["token"] for file in files}


def test_200_runs_with_failures_in_a_tenth_give_every_result_exactly_once(tmp_path):
    todo = jobs(tmp_path, 200)
    progress = drive(tmp_path, todo)
    ledger = Ledger(tmp_path, KEY)
    failed = [job for job in todo if ledger.failure(job.run_id)]
    assert (progress.done, progress.failed) == (190, 10)
    assert {job.trouble for job in failed} == {"raises once"}
    failure = ledger.failure(failed[0].run_id)
    assert failure["message"] == f"injected into {failed[0].run_id}"
    assert "fake_jobs.py" in failure["details"], "an unexpected error keeps its traceback"

    for job in failed:
        ledger.forget_failure(job.run_id)
    drive(tmp_path, todo)
    finished = Counter(event["run"] for event in events(tmp_path, "finished"))
    assert set(finished.values()) == {1}
    tokens = {event["run"]: event["token"] for event in events(tmp_path, "finished")}
    assert results(tmp_path, 200) == tokens
    began = Counter(event["run"] for event in events(tmp_path, "began"))
    assert {began[job.run_id] for job in todo if job.trouble} == {2}
    assert {began[job.run_id] for job in todo if not job.trouble} == {1}


def test_a_driver_killed_again_and_again_loses_nothing(tmp_path):
    count = 60
    for _ in range(3):
        driver = start_driver(tmp_path, count, 0.05)
        before = len(list(tmp_path.glob("run-*/results/*.json")))
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("run-*/results/*.json"))) < before + 8:
            assert driver.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        driver.kill()
        driver.wait()
    kept = {f: f.read_bytes() for f in tmp_path.glob("run-*/results/*.json")}
    assert 24 <= len(kept) < count
    driver = start_driver(tmp_path, count, 0.0)
    assert driver.wait() == 0
    assert {f: f.read_bytes() for f in kept} == kept, "what was finished is not done again"
    ledger = Ledger(tmp_path, KEY)
    done = {f.parts[-3] for f in tmp_path.glob("run-*/results/*.json")}
    failed = [job for job in jobs(tmp_path, count) if ledger.failure(job.run_id)]
    assert len(done) + len(failed) == count
    assert {job.trouble for job in failed} <= {"raises once"}


def test_workers_end_when_their_driver_is_killed(tmp_path):
    driver = start_driver(tmp_path, 2, 60.0)
    ledger = Ledger(tmp_path, KEY)
    beat = None
    deadline = time.monotonic() + 60
    while beat is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        beat = ledger.last_beat("run-001")
    driver.kill()
    driver.wait()
    while is_running(beat["pid"]):
        assert time.monotonic() < deadline, "it works on although nobody counts it"
        time.sleep(0.05)
    with ledger.claim("run-001") as free:
        assert free
    assert not ledger.is_done("run-001")


def is_running(pid: int) -> bool:
    """Whether a process computes; one that is over may wait for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_two_drivers_never_do_the_same_run_twice(tmp_path):
    count = 40
    first = start_driver(tmp_path, count, 0.02)
    second = start_driver(tmp_path, count, 0.02)
    assert (first.wait(), second.wait()) == (0, 0)
    finished = Counter(event["run"] for event in events(tmp_path, "finished"))
    assert set(finished.values()) == {1}
    assert len(finished) == count - 2, "all but the two that raise"
    counts = [list(map(int, driver.stdout.read().split())) for driver in (first, second)]
    assert sum(new for new, _ in counts) == count - 2, "a run is new to one of them alone"
    assert [done for _, done in counts] == [count - 2] * 2


def test_a_run_that_always_dies_is_reported_and_the_others_finish(tmp_path):
    todo = [FakeJob("bad", str(tmp_path), "always dies"), FakeJob("good", str(tmp_path))]
    progress = drive(tmp_path, todo)
    assert (progress.done, progress.failed) == (1, 1)
    failure = Ledger(tmp_path, KEY).failure("bad")
    assert "3 times" in failure["message"]
    assert "SIGKILL" in failure["message"]


def test_a_worker_that_hangs_is_noticed_and_its_run_begun_again(tmp_path):
    todo = [FakeJob("stuck", str(tmp_path), "hangs once")]
    progress = drive(tmp_path, todo, silence_seconds=1.5)
    assert (progress.done, progress.failed) == (1, 0)
    assert len(events(tmp_path, "began")) == 2


def test_a_worker_whose_work_stands_still_is_noticed_although_its_heart_beats(tmp_path):
    todo = [
        FakeJob("once", str(tmp_path), "stands still once", longest_pause=0.3),
        FakeJob("always", str(tmp_path), "always stands still", longest_pause=0.3),
        FakeJob("slow", str(tmp_path), seconds=3.0),  # within what it may take
    ]
    progress = drive(tmp_path, todo, workers=3, retries=1)
    assert (progress.done, progress.failed) == (2, 1)
    began = Counter(event["run"] for event in events(tmp_path, "began"))
    assert began == {"once": 2, "always": 2, "slow": 1}
    assert "its work stood still" in Ledger(tmp_path, KEY).failure("always")["message"]


def test_a_heart_beats_on_over_a_full_disk_and_counts_no_time_in_which_it_was_stopped(
    tmp_path, monkeypatch
):
    ledger, beats = Ledger(tmp_path, KEY), []
    ledger.open()

    def full(run_id, **facts):
        beats.append(facts)
        if len(beats) > 1:
            raise DataError("No space left on device")

    monkeypatch.setattr(ledger, "beat", full)
    monkeypatch.setattr(attempt.os, "_exit", lambda code: pytest.fail(f"ended by {code}"))
    heart = attempt.Heartbeat(ledger, "run", longest_pause=30.0)
    heart.seconds = 0.01
    real, away = time.monotonic, []
    monkeypatch.setattr(attempt.time, "monotonic", lambda: real() + sum(away))
    with heart:
        deadline = real() + 30
        while len(beats) < 10:
            assert real() < deadline, "it stopped beating"
            time.sleep(0.01)
        away.append(3600.0)  # an hour in which the whole process was stopped
        while len(beats) < 20:
            assert real() < deadline
            time.sleep(0.01)
    assert beats[-1]["phase"] == "starting"


def test_a_disk_too_full_for_a_result_ends_no_driver_and_no_worker_with_a_traceback(
    tmp_path, monkeypatch, capsys
):
    ledger = Ledger(tmp_path, KEY)
    ledger.open()

    def full(*words, **more):
        raise DataError("cannot write: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "write_result", full)
        patched.setattr(ledger, "write_failure", full)
        assert attempt.perform(ledger, "run", lambda heart: {}) == "failed"
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all(line.startswith("run: cannot write: No space left") for line in told)
    assert ledger.failure("run") is None, "so that it counts as died, and is begun again"
    assert attempt.perform(ledger, "run", lambda heart: {}) == "done"

    progress = Progress("fake", ledger, 1, 0, 0, quiet=True)
    with monkeypatch.context() as patched:
        patched.setattr(progress, "_write", full)
        progress.show(())
        with pytest.raises(DataError):
            progress.show((), "done")


def test_each_worker_sees_one_gpu_of_its_own(tmp_path):
    todo = [FakeJob(f"run-{index}", str(tmp_path), "", 0.3) for index in range(4)]
    drive(tmp_path, todo, workers=2, gpus=["1", "3"])
    files = tmp_path.glob(f"run-*/results/{KEY}.json")
    assert Counter(json.loads(f.read_text())["gpu"] for f in files) == {"1": 2, "3": 2}


def test_the_copy_of_the_data_of_a_killed_driver_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        with place_for_copies() as folder:
            (folder / "0.npy").write_bytes(b"images")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert (left / "0.npy").is_file()
    (tmp_path / "unweave-study-of-another-kind").mkdir()
    with place_for_copies() as first:
        assert not left.exists()
        with place_for_copies() as second:
            assert first.is_dir(), "that of a driver at work stays"
            assert first != second
    assert os.listdir(tmp_path) == ["unweave-study-of-another-kind"]


def test_a_worker_whose_driver_was_killed_as_it_began_ends_without_a_word(tmp_path, monkeypatch):
    class Parent:
        alive = False

        def is_alive(self):
            return self.alive

    monkeypatch.setattr(local.multiprocessing, "parent_process", Parent)
    gone = MappedFiles(None, {"pixels": str(tmp_path / "0.npy")})
    with pytest.raises(SystemExit):
        local._in_worker(fake_jobs.work, None, gone, None)
    Parent.alive = True
    with pytest.raises(FileNotFoundError):
        local._in_worker(fake_jobs.work, None, gone, None)


LOADING = """
import pathlib, time
pathlib.Path({mark!r}).touch()
time.sleep({seconds})
"""
DRIVER = """
import sys, fake_jobs
from unweave.errors import Stopped
if __name__ == "__main__":
    todo = fake_jobs.jobs({root!r}, 4, 30.0)
    try:
        fake_jobs.drive({root!r}, todo, preload=["slow_to_load", "fake_jobs"])
    except Stopped as stop:
        print(stop)
        sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_study_stopped_while_its_workers_start_ends_without_a_traceback(tmp_path, number):
    mark = tmp_path / "loading"
    (tmp_path / "slow_to_load.py").write_text(LOADING.format(mark=str(mark), seconds=1.5))
    (tmp_path / "driver.py").write_text(DRIVER.format(root=str(tmp_path)))
    path = os.pathsep.join([str(tmp_path), str(Path(fake_jobs.__file__).parent), *sys.path])
    driver = subprocess.Popen(
        [sys.executable, str(tmp_path / "driver.py")],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not mark.exists():
        assert driver.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(driver.pid, number)  # as a terminal does, or a scheduler: to all processes
    told, errors = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert told.startswith("stopped; every run has been saved")
    assert "Traceback" not in errors


def test_a_server_of_processes_that_ends_by_itself_is_an_error(tmp_path, monkeypatch):
    def gone(process):
        raise EOFError("unexpected EOF")

    def gone_as_asked(process):
        ask_to_stop()
        gone(process)

    monkeypatch.setattr(local, "SIGNAL_SECONDS", 0.01)
    for start, error in ((gone, EOFError), (gone_as_asked, Stopped)):
        monkeypatch.setattr(local.ForkServerProcess, "start", start)
        with pytest.raises(error):
            drive(tmp_path, jobs(tmp_path, 1))


def test_a_result_is_never_replaced(tmp_path):
    ledger = Ledger(tmp_path, KEY)
    assert ledger.write_result("run", {"value": 1})
    assert not ledger.write_result("run", {"value": 2})
    assert ledger.result("run") == {"value": 1}


@pytest.mark.parametrize(
    ("code", "words"), [(-signal.SIGSEGV, "SIGSEGV"), (3, "exit code 3"), (-9, "memory")]
)
def test_the_cause_of_a_death_is_said_in_words(code, words):
    assert words in cause_of_death(code)
