"""A study under everything that goes wrong, for half an hour; then nothing may be amiss.

python benchmarks/soak.py                   # or `make soak`
python benchmarks/soak.py --seconds 180

A study grows by new seeds, round by round, in one folder. While its driver works, at random
moments the driver is killed, or a worker, or both, or the disk is full for some seconds (a
small file system in memory, as root; otherwise a driver whose files may not grow, which
stands in for it). The explorer is open on the folder all the time and asked for lists, runs
and curves; reports of the unfinished study are written. The driver is begun again with the
same command until it says that all is done.

At the end, and after each round, every run must have one result, which was never replaced,
with the weights and the scores, bit by bit, of a study that nobody disturbed; nothing
half-written may lie about; no process may have ended with a traceback, and the explorer must
have answered every request. The exit code says whether all of that held.
"""

import argparse
import hashlib
import http.client
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

SEEDS_PER_ROUND = 2
STUDY = """
name = "soak"
data = "toy_xys"
seeds = {seeds}
metrics = ["mig", "sap"]
preset = "fast"
settings.method.latent_dim = 3
settings.architecture = {{ name = "conv_any", channels = [8, 8, 8], hidden = 16 }}
[budget]
steps = 150
batch_size = 16
evaluations = 4
[[methods]]
name = "beta_vae"
grid = {{ beta = [1, 4] }}
[[methods]]
name = "factor_vae"
settings = {{ discriminator_width = 32 }}
"""
PAUSES = (0.5, 6.0)
"""Shortest and longest time in seconds from one disturbance to the next."""
DISK_MEGABYTES = 256


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a small file system in memory on a folder; yield whether that was allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def unweave(*words: str) -> list[str]:
    return [sys.executable, "-m", "unweave", *words]


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Explorer:
    """The explorer, open on the folder of the runs and asked all the time."""

    def __init__(self, root: Path, log: Path):
        self.answers: Counter[str] = Counter()
        self.problems: list[str] = []
        self.process = subprocess.Popen(
            unweave("explore", str(root), "--no-browser"),
            stdout=subprocess.PIPE,
            stderr=log.open("a"),
            text=True,
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.address = urlsplit(self.process.stdout.readline().removeprefix("open ").strip())
        self.token = self.address.query.partition("=")[2]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._poll, daemon=True)
        self.thread.start()

    def get(self, path: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port or 0, timeout=120)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            content = answer.read()
            kind = path.rpartition("/")[2] if path.count("/") > 2 else path.split("/")[1]
            self.answers[kind if "." in kind else "run"] += 1
            # A run that has no checkpoint yet, or is just being made, is answered with why.
            if answer.status >= 500 or answer.status == 403:
                self.problems.append(f"{path}: {answer.status} {content[:200]!r}")
            return content if answer.status == 200 else b""
        finally:
            connection.close()

    def _poll(self) -> None:
        chance = random.Random(1)
        while not self.over.wait(0.5):
            try:
                listed = json.loads(self.get("/runs.json") or b"{}")
                names = [run["name"] for run in listed.get("runs", [])]
                if names:
                    name = chance.choice(names)
                    for part in (".json", "/status.json", "/curves.json", "/latents.json"):
                        self.get(f"/runs/{name}{part}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.problems.append(f"{type(error).__name__}: {error}")
                if self.process.poll() is not None:
                    return

    def close(self) -> None:
        self.over.set()
        self.thread.join(150)
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(60) != 0:
            self.problems.append(f"ended with {self.process.returncode}")


class Soak:
    """The study, what disturbs it, and what was counted."""

    def __init__(self, place: Path, seed: int):
        self.place, self.root = place, place / "runs"
        self.file, self.log = place / "soak.toml", place / "log.txt"
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.first_seen: dict[str, str] = {}
        """Digest of every result when it was first seen."""
        self.driver: subprocess.Popen[bytes] | None = None
        self.is_small_disk = False

    def start_driver(self, *, limit: int | None = None) -> None:
        words = unweave("study", "run", str(self.file), "--out", str(self.root))
        words += ["--workers", "2", "--checkpoint-seconds", "0.1", "--retry-failed"]

        def confine() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with self.log.open("ab") as log:
            self.driver = subprocess.Popen(words, stdout=log, stderr=log, preexec_fn=confine)
        self.counts["drivers started"] += 1

    def kill_driver(self) -> None:
        assert self.driver is not None
        self.driver.kill()
        self.driver.wait()
        self.counts["drivers killed"] += 1

    def kill_worker(self) -> None:
        """Kill a process that works on a run: one that is named by a heartbeat of this study."""
        beats = []
        for file in (self.root / ".studies").glob("*.alive"):
            with suppress(OSError, ValueError):
                beats.append(json.loads(file.read_text())["pid"])
        for pid in self.chance.sample(beats, len(beats)):
            with suppress(OSError):
                if b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
                    self.counts["workers killed"] += 1
                    return

    def fill_disk(self) -> None:
        """Let no byte fit on the disk for some seconds."""
        self.counts["times the disk was full"] += 1
        seconds = self.chance.uniform(2, 6)
        if not self.is_small_disk:
            self.kill_driver()
            self.start_driver(limit=4096)
            time.sleep(seconds)
            self.kill_driver()
            return
        ballast = self.root / ".ballast"
        try:
            with suppress(OSError), open(ballast, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(2**16))
            time.sleep(seconds)
        finally:
            ballast.unlink(missing_ok=True)

    def report(self) -> None:
        """Write the report of what there is."""
        words = unweave("study", "report", str(self.file), "--out", str(self.root))
        done = subprocess.run([*words, "--no-selection"], capture_output=True, text=True)
        self.counts["reports written"] += done.returncode == 0
        if "Traceback" in done.stderr:
            self.problems.append(f"report: {done.stderr[-2000:]}")

    def look(self) -> None:
        """Note results that are new, and notice one that is not what it was."""
        for file in self.root.glob("*/results/*.json"):
            name, found = str(file.relative_to(self.root)), digest(file)
            if self.first_seen.setdefault(name, found) != found:
                self.problems.append(f"{name} was replaced")

    def disturbed_round(self, deadline: float) -> None:
        """Run the study to its end, disturbed until the deadline."""
        kinds: list[tuple[Callable[[], None], int]] = [
            (self.kill_worker, 5),
            (self.kill_driver, 3),
            (self.fill_disk, 2),
            (self.report, 1),
        ]
        actions, weights = zip(*kinds, strict=True)
        self.start_driver()
        tries = 0
        while True:
            assert self.driver is not None
            next_trouble = time.monotonic() + self.chance.uniform(*PAUSES)
            while self.driver.poll() is None and time.monotonic() < next_trouble:
                self.look()
                time.sleep(0.2)
            if self.driver.poll() is None:
                if time.monotonic() < deadline:
                    self.chance.choices(actions, weights)[0]()
                    if self.driver.poll() is not None:
                        self.start_driver()
                continue
            if self.driver.returncode == 0:
                return
            self.counts[f"drivers that ended with {self.driver.returncode}"] += 1
            tries += time.monotonic() > deadline
            if tries > 5:
                self.problems.append("the study did not end although nothing disturbed it")
                return
            self.start_driver()

    def compare(self) -> int:
        """Hold every run against that of an undisturbed study; return how many there are."""
        from unweave.studies import expand, ledger_of, read_study

        quiet = self.place / "undisturbed"
        study = read_study(self.file)
        study.run(quiet, workers=2, quiet=True)
        plan = expand(study)
        ours, theirs = ledger_of(plan, self.root), ledger_of(plan, quiet)
        self.look()
        for run in plan.runs:
            results = list((self.root / run.run_id / "results").iterdir())
            if len(results) != 1 or (mine := ours.result(run.run_id)) is None:
                self.problems.append(f"{run.run_id} has {len(results)} results")
                continue
            reference = theirs.result(run.run_id)
            assert reference is not None
            for part in ("scores", "terms", "diagnostics"):
                if mine[part] != reference[part]:
                    self.problems.append(f"{run.run_id}: other {part} than undisturbed")
            name = "networks.safetensors"
            if digest(self.root / run.run_id / name) != digest(quiet / run.run_id / name):
                self.problems.append(f"{run.run_id}: other weights than undisturbed")
        for leftover in self.root.rglob("*.unfinished"):
            self.problems.append(f"left behind: {leftover.relative_to(self.root)}")
        return len(plan.runs)


def soak(seconds: float, seed: int) -> int:
    """Run it and print what happened; return the exit code."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="unweave-soak-") as place:
        it = Soak(Path(place), seed)
        it.root.mkdir()
        with small_disk(it.root) as it.is_small_disk:
            explorer = Explorer(it.root, it.log)
            rounds = runs = 0
            while (left := seconds - (time.monotonic() - began)) > 0 or not rounds:
                rounds += 1
                it.file.write_text(STUDY.format(seeds=rounds * SEEDS_PER_ROUND))
                it.disturbed_round(time.monotonic() + min(left, 120))
                runs = it.compare()
            it.report()
            explorer.close()
            it.problems += [f"explorer: {problem}" for problem in explorer.problems]
        log = it.log.read_text(errors="replace")
        it.counts["tracebacks"] = log.count("Traceback")
        if it.counts["tracebacks"]:
            it.problems.append(f"a traceback: {log[log.index('Traceback') :][:3000]}")
    disk = "a disk of its own" if it.is_small_disk else "files that may not grow"
    print(f"soak: {time.monotonic() - began:.0f} s, {rounds} rounds, {runs} runs, {disk}")
    for name, count in sorted(it.counts.items()):
        print(f"  {name}: {count}")
    print(f"  explorer's answers: {sum(explorer.answers.values())}")
    for problem in it.problems[:20]:
        print(f"  PROBLEM: {problem}")
    held = "FAILED" if it.problems else "every result once, and bit by bit as undisturbed"
    print(f"  {held}")
    return 1 if it.problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=0, help="of the disturbances")
    flags = parser.parse_args()
    sys.exit(soak(flags.seconds, flags.seed))
