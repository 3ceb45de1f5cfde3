"""A real Ray cluster of two nodes on this machine: `pytest -m cluster`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import fake_jobs
import pytest
from fake_jobs import KEY, FakeJob, events, jobs, work

from unweave.data import put_together, take_apart
from unweave.errors import ConfigError
from unweave.studies import read_study
from unweave.studies.run.ledger import Ledger
from unweave.studies.run.progress import Progress
from unweave.studies.run.ray import RayRunner, connect
from unweave.studies.run.sharing import as_files

cluster_only = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster():
    here = str(Path(fake_jobs.__file__).parent)
    before = dict(os.environ)
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *filter(None, sys.path)])
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    os.environ |= {"RAY_worker_niceness": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
    from ray.cluster_utils import Cluster

    two = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    two.add_node(num_cpus=1)
    yield two
    two.shutdown()
    os.environ.clear()
    os.environ.update(before)


def drive(address: str, root: Path, todo: list[FakeJob], **how) -> Progress:
    ledger = Ledger(root, KEY)
    ledger.open()
    missing = [j for j in todo if not ledger.is_done(j.run_id) and not ledger.failure(j.run_id)]
    progress = Progress("fake", ledger, len(todo), len(todo) - len(missing), 0, quiet=True)
    RayRunner(address, **how).run(missing, work, ledger, progress)
    return progress


def results(root: Path) -> dict[str, dict]:
    files = root.glob(f"run-*/results/{KEY}.json")
    return {file.parts[-3]: json.loads(file.read_text()) for file in files}


@cluster_only
def test_200_runs_with_failures_in_a_tenth_on_two_nodes(cluster, tmp_path):
    todo = jobs(tmp_path, 200)
    progress = drive(cluster.address, tmp_path, todo)
    assert (progress.done, progress.failed) == (190, 10)
    ledger = Ledger(tmp_path, KEY)
    for job in todo:
        ledger.forget_failure(job.run_id)
    drive(cluster.address, tmp_path, todo)
    found = results(tmp_path)
    finished = Counter(event["run"] for event in events(tmp_path, "finished"))
    assert set(finished.values()) == {1}
    tokens = {event["run"]: event["token"] for event in events(tmp_path, "finished")}
    assert {run: result["token"] for run, result in found.items()} == tokens
    assert len(found) == 200
    nodes = Counter(result["node"] for result in found.values())
    assert len(nodes) == 2, "both nodes worked"


@cluster_only
def test_a_killed_worker_and_a_killed_driver_lose_nothing(cluster, tmp_path):
    words = [sys.executable, __file__, cluster.address, str(tmp_path), "24", "0.3"]
    ledger = Ledger(tmp_path, KEY)
    driver = subprocess.Popen(words)
    deadline = time.monotonic() + 120
    healthy = [job.run_id for job in jobs(tmp_path, 24) if not job.trouble]
    killed = None
    while len(results(tmp_path)) < 6:
        assert time.monotonic() < deadline
        assert driver.poll() is None
        time.sleep(0.05)
        beats = {run: ledger.last_beat(run) for run in healthy}
        at_work = [run for run, beat in beats.items() if beat is not None]
        if killed is None and at_work:
            killed = at_work[0]
            os.kill(beats[killed]["pid"], signal.SIGKILL)  # a worker of this test's own cluster
    driver.kill()
    driver.wait()
    kept = results(tmp_path)
    assert killed is not None
    again = subprocess.run(words, timeout=120, check=False)
    assert again.returncode == 0
    found = results(tmp_path)
    failed = [job for job in jobs(tmp_path, 24) if ledger.failure(job.run_id)]
    assert len(found) + len(failed) == 24
    assert {job.trouble for job in failed} <= {"raises once"}
    assert {run: found[run] for run in kept} == kept
    assert len([e for e in events(tmp_path, "began") if e["run"] == killed]) >= 2


@cluster_only
def test_a_study_gives_the_same_bits_on_ray_and_here(cluster, tmp_path):
    import hashlib

    from test_study_runs import TINY

    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    study = read_study(file)
    there, here = tmp_path / "there", tmp_path / "here"
    outcome = study.run(
        there, runner=lambda plan: RayRunner(cluster.address, data=plan.data), quiet=True
    )
    assert (outcome.done, outcome.failed) == (6, 0)
    study.run(here, quiet=True)
    for run in outcome.plan.runs:
        digests = {
            hashlib.sha256((root / run.run_id / "networks.safetensors").read_bytes()).hexdigest()
            for root in (there, here)
        }
        assert len(digests) == 1, run.run_id


@cluster_only
def test_plugins_reach_the_workers_of_a_cluster(cluster, tmp_path, monkeypatch):
    from plugin_sources import DATA, METHOD, METRIC, NETWORK, write
    from unweave import catalog
    from unweave.studies import Study

    monkeypatch.setattr(catalog.plugins, "_given", {})
    given = {"mine": METHOD, "row_count": METRIC, "stripes": DATA, "narrow": NETWORK}
    for name, content in given.items():
        file = write(tmp_path, f"{name}.py", content)
        catalog.add_plugin(file)
        file.unlink()  # a node that does not see the disk of this one has no such file
    study = Study(
        name="strange",
        data="stripes",
        methods=[{"name": "scaled_vae", "settings": {"latent_dim": 3}}],
        seeds=2,
        settings={"architecture": "narrow"},
        metrics=["row_count"],
        preset="fast",
        budget={"steps": 2, "batch_size": 8, "evaluations": 1},
    )
    outcome = study.run(
        tmp_path / "runs",
        runner=lambda plan: RayRunner(cluster.address, data=plan.data),
        quiet=True,
    )
    assert outcome.failures() == []
    assert [row["row_count"] for row in study.table(tmp_path / "runs").rows] == [64, 64]


@cluster_only
def test_a_worker_without_an_installed_plugin_says_how_to_get_it(cluster, tmp_path, monkeypatch):
    from plugin_sources import METHOD, install, write
    from unweave.studies import Study

    site = tmp_path / "site"
    write(site, "stranger_methods.py", METHOD)
    install(site, "stranger-1", "0.3", {"methods": {"twofold": "stranger_methods:ScaledVAE"}})
    monkeypatch.syspath_prepend(site)  # of this process alone
    study = Study(name="strange", data="toy_xys", methods=["twofold"], seeds=1, budget={"steps": 2})
    outcome = study.run(tmp_path / "runs", runner=lambda plan: RayRunner(cluster.address))
    ((_, message),) = outcome.failures()
    assert "needs the method 'twofold' of stranger-1 0.3" in message
    assert "pip install stranger-1==0.3" in message


@cluster_only
def test_the_runs_of_a_node_that_is_lost_are_done_by_another(cluster, tmp_path):
    lost = cluster.add_node(num_cpus=2)
    todo = [FakeJob(f"run-{i:03d}", str(tmp_path), "", 1.0) for i in range(16)]
    started = time.monotonic()
    import threading

    def remove() -> None:
        while len(results(tmp_path)) < 3 and time.monotonic() - started < 60:
            time.sleep(0.1)
        cluster.remove_node(lost, allow_graceful=False)

    remover = threading.Thread(target=remove)
    remover.start()
    progress = drive(cluster.address, tmp_path, todo)
    remover.join()
    assert (progress.done, progress.failed) == (16, 0)
    assert len(results(tmp_path)) == 16


@cluster_only
def test_the_command_line_starts_a_ray_of_its_own(tmp_path):
    from test_study_runs import TINY

    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    words = [sys.executable, "-m", "unweave", "study", "run", str(file), "--ray"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [*words, "--out", str(tmp_path / "runs")],
        env=plain,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "6 new runs" in done.stdout


OWN_RAY = """
import os, sys
from unweave.studies.run.ray import connect
ray = connect(None)
print(ray.get_runtime_context().gcs_address, os.environ["RAY_AUTH_TOKEN"], flush=True)
sys.stdin.read()
ray.shutdown()
"""
INTRUDER = """
import sys
import ray
ray.init(address=sys.argv[1], log_to_driver=False)
print("inside", ray.get(ray.remote(lambda: 7).options(num_cpus=0).remote()))
"""


def listening(pid: int) -> set[str]:
    """Return the addresses at which a process and all it has started listen."""
    family, sockets = {pid}, set()
    stats = {
        int(p.name): (p / "stat").read_text().rpartition(")")[2].split()
        for p in Path("/proc").glob("[0-9]*")
    }
    for _ in range(5):  # children of children
        family |= {child for child, words in stats.items() if int(words[1]) in family}
    for member in family:
        for handle in Path(f"/proc/{member}/fd").iterdir():
            target = os.readlink(handle)
            if target.startswith("socket:["):
                sockets.add(target[8:-1])
    found = set()
    for file in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in sockets:  # it listens
                found.add(words[1].rpartition(":")[0])
    return found


@cluster_only
def test_a_ray_of_this_machine_is_reached_from_here_alone_and_with_its_token_alone():
    free = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    free["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    own = subprocess.Popen(
        [sys.executable, "-c", OWN_RAY],
        env=free,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address, token = own.stdout.readline().split()
        loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
        assert listening(own.pid)
        assert listening(own.pid) <= loopback

        def enter(**env: str) -> subprocess.CompletedProcess:
            words = [sys.executable, "-c", INTRUDER, address]
            local = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
            return subprocess.run(
                words, env=free | local | env, capture_output=True, text=True, timeout=100
            )

        invited = enter(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token)
        assert "inside 7" in invited.stdout, invited.stderr
        for stranger in (
            enter(RAY_AUTH_MODE="disabled"),
            enter(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="0" * 64),
        ):
            assert stranger.returncode != 0
            assert "inside" not in stranger.stdout
            assert "auth" in stranger.stderr.lower(), stranger.stderr[-500:]
    finally:
        own.communicate("")


def test_ray_without_a_token_is_refused(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(ConfigError, match="RAY_AUTH_MODE"):
        connect(None)


def test_a_run_needs_something_to_run_on():
    with pytest.raises(ConfigError, match="needs CPUs or GPUs"):
        RayRunner(cpus_per_run=0)


@pytest.mark.parametrize("source", ["toy_xys", "toy_shapes"])
def test_a_data_set_taken_apart_and_put_together_is_the_same(source, tmp_path):
    import numpy as np

    from unweave.data import Column, Factor, FactorImages, load_data

    plain = load_data(source)
    named = Column(Factor("clip", 2), np.arange(len(plain)) % 2)
    whole = FactorImages("own", plain.pixels, plain.factor_list, columns=[named])
    for data in (whole, whole.subset(np.array([5, 3, 8]))):
        again = put_together(*take_apart(data))
        mapped = as_files(data, tmp_path).open()
        rows = np.arange(min(len(data), 20))
        for other in (again, mapped):
            np.testing.assert_array_equal(other.images(rows), data.images(rows))
            np.testing.assert_array_equal(other.factors(rows), data.factors(rows))
            assert other.factor_list == data.factor_list
            assert other.is_grid == data.is_grid
            np.testing.assert_array_equal(other.row_numbers, data.row_numbers)
            np.testing.assert_array_equal(other.column("clip", rows), data.column("clip", rows))
        assert isinstance(
            mapped.pixels.pixels.array if data is not whole else mapped.pixels.array, np.memmap
        )


if __name__ == "__main__":
    address, root = sys.argv[1], Path(sys.argv[2])
    drive(address, root, jobs(root, int(sys.argv[3]), float(sys.argv[4])))
