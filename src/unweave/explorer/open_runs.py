"""The runs below one folder: found, opened when asked for, and kept open for a while."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unweave import catalog, runs, views
from unweave.errors import DataError
from unweave.explorer.onnx_files import decoder_to_onnx
from unweave.files.cache import cache_folder, cache_key, cached_array
from unweave.files.writing import write_atomically
from unweave.runs.earlier import EarlierRun, at_step
from unweave.runs.folder import RunFolder, versions
from unweave.runs.run import Run

DEEPEST = 4  # folders between the one given and a run
KEPT_OPEN = 8  # runs


class NoSuchRun(DataError):
    """There is no run of that name in the folder."""


class OpenRun:
    """A loaded run with what was computed from it; one user at a time holds its lock."""

    def __init__(self, run: Run):
        self.run = run
        self.lock = threading.RLock()
        self._codes: views.CodeSample | None = None
        self._decoder: bytes | None = None
        self.leakage: dict[str, Any] | None = None

    @property
    def codes(self) -> views.CodeSample:
        """Return codes of some rows of the data set."""
        with self.lock:
            if self._codes is None:
                self._codes = kept_sample(self.run)
            return self._codes

    @property
    def has_codes(self) -> bool:
        """Tell whether codes are there without encoding anything."""
        if self._codes is not None:
            return True
        kept = _kept_file(self.run)
        return kept is not None and kept.is_file()

    @property
    def decoder(self) -> bytes:
        """Return the decoder for the browser."""
        with self.lock:
            if self._decoder is None:
                self._decoder = kept_decoder(self.run)
            return self._decoder


def kept_sample(run: Run) -> views.CodeSample:
    """Return codes of some rows, kept in the cache once they are those of a finished run.

    Only of data that cannot change: images of a user's folder may be others tomorrow.
    """
    drawn = views.sample_rows(run.data)
    place = _kept_file(run)
    if place is None:
        return views.sample_codes(run)
    has_posterior = run.posterior(run.data.images(drawn[:1])) is not None

    def fill(table: np.ndarray) -> None:
        sample = views.sample_codes(run)
        table[0] = sample.codes
        if sample.posterior is not None:
            table[1:] = sample.posterior

    try:
        shape = (3 if has_posterior else 1, len(drawn), run.latent_dim)
        table = cached_array(place, shape, np.dtype(np.float32), fill)
    except DataError:  # no room for it is no reason to show nothing
        return views.sample_codes(run)
    posterior = (table[1], table[2]) if has_posterior else None
    return views.CodeSample(
        drawn, np.array(table[0]), run.data.factors(drawn), posterior, run.code_prior
    )


def kept_decoder(run: Run) -> bytes:
    """Return the decoder for the browser, kept in the cache once it is that of a finished run.

    Exporting takes seconds. What a plugin does may be another thing tomorrow: it is not kept.
    """
    files = _files_behind(run)
    is_own = catalog.name_of(run.config.method) in catalog.own_names("unweave.methods")
    if not files or not is_own:
        return decoder_to_onnx(run)
    key = cache_key(files, "decoder", *sorted(versions().items()))
    place = cache_folder() / "decoders" / f"{key}.onnx"
    if place.is_file():
        return place.read_bytes()
    content = decoder_to_onnx(run)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, content)
    except (OSError, DataError):  # no room for it is no reason to show nothing
        return content
    return content


def _kept_file(run: Run) -> Path | None:
    """Return where codes of a run are kept, if they may be."""
    files = _files_behind(run)
    cannot_change = run.config.data in catalog.own_names("unweave.data")
    if not files or not cannot_change or run.code.source != "images":
        return None
    key = cache_key(files, len(views.sample_rows(run.data)))
    return cache_folder() / "codes" / f"{key}.npy"


def _files_behind(run: Run) -> list[Path]:
    """Return the files that decide what a run computes; none while its weights may change."""
    folder = folder_of(run)
    if folder is None:
        return []
    is_earlier = isinstance(run, EarlierRun)
    weights = folder.kept_weights().get(run.step) if is_earlier else folder.networks_file
    return [weights, folder.config_file] if weights is not None and weights.is_file() else []


def folder_of(run: Run) -> RunFolder | None:
    """Return the folder of a run, or of the one that it is an earlier step of."""
    return run.whole.folder if isinstance(run, EarlierRun) else run.folder


class Library:
    """Every run below a folder, by its path from there; nothing outside is ever read.

    Symbolic links to folders are not followed, and a run with a file that is a
    link to the outside is refused.
    """

    def __init__(self, root: str | Path):
        self.root = Path(root).expanduser().resolve()
        if not self.root.is_dir():
            raise DataError(f"no such folder: {root}")
        self._open: OrderedDict[tuple[str, int | None], tuple[str, OpenRun]] = OrderedDict()
        self._lines: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._numbered: dict[str, dict[str, Any]] = {}
        self._gone: dict[str, int] = {}
        self.version = 0
        """Counts the changes of the list of runs."""
        self._lock = threading.Lock()
        self.listing = threading.Lock()
        """Held while lines are read: of two at once, one would miss what the other numbers."""
        self._loading = threading.Lock()

    @property
    def is_one_run(self) -> bool:
        """Whether the folder is itself a run."""
        return RunFolder(self.root).exists()

    def names(self) -> list[str]:
        """List the names of the runs."""
        if self.is_one_run:
            return [self.root.name]
        return sorted(path.relative_to(self.root).as_posix() for path in _run_folders(self.root))

    def place(self, name: str) -> str:
        """Return a run's place as it is named on the command line, from beside the folder."""
        return self.root.name if self.is_one_run else f"{self.root.name}/{name}"

    def folder(self, name: str) -> RunFolder:
        """Return the folder of a run, if it is one and lies within the given folder."""
        if self.is_one_run:
            if name != self.root.name:
                raise NoSuchRun(f"no run {name!r} here, only {self.root.name!r}")
            path = self.root
        else:
            parts = name.split("/")
            if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
                raise NoSuchRun(f"{name!r} is not the name of a run")
            path = self.root.joinpath(*parts)
        folder = RunFolder(path)
        # A link anywhere on the way would make the two paths differ.
        if not folder.exists() or path.resolve() != path:
            raise NoSuchRun(f"no run {name!r} in {self.root}")
        for file in path.iterdir():
            if file.is_symlink() and not file.resolve().is_relative_to(self.root):
                raise NoSuchRun(f"{name}: {file.name} is a link to outside {self.root}")
        return folder

    def remembered(
        self, name: str, folder: RunFolder, read: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return what was read of a run before, unless its files have changed since.

        A folder may hold thousands of runs, and the list is asked for every few seconds.
        """
        files = (folder.config_file, folder.status_file, folder.scores_file, folder.record_file)
        now = [(f.stat().st_mtime_ns, f.stat().st_size) if f.is_file() else None for f in files]
        if folder.figures.is_dir():  # pictures may come after all else
            now.append((folder.figures.stat().st_mtime_ns, 0))
        before, line = self._lines.get(name, (None, {}))
        # Whether a running one is still alive is not in its files.
        if before != now or line.get("state") in ("running", "lost"):
            line = read()
            self._lines[name] = (now, line)
        return line

    def numbered(self, name: str, line: dict[str, Any]) -> dict[str, Any]:
        """Return a line with the version of the list in which it became what it is."""
        with self._lock:
            before = self._numbered.get(name)
            if before is not None and before == line | {"version": before["version"]}:
                return before
            self.version += 1
            self._gone.pop(name, None)
            self._numbered[name] = line | {"version": self.version}
            return self._numbered[name]

    def gone(self, names: set[str], since: int) -> list[str]:
        """Return runs that are not among these names, but were at some time after `since`."""
        with self._lock:
            for name in self._numbered.keys() - names:
                self.version += 1
                self._gone[name] = self.version
                del self._numbered[name]
            return sorted(name for name, version in self._gone.items() if version > since)

    def open(self, name: str, step: int | None = None) -> OpenRun:
        """Return the run with its newest weights, or with those that were kept of a step."""
        folder = self.folder(name)
        kept = None if step is None else folder.kept_weights().get(step)
        signature = weights_signature(folder) if kept is None else _signature(kept)
        with self._lock:
            known = self._open.get((name, step))
            if known is not None and known[0] == signature:
                self._open.move_to_end((name, step))
                return known[1]
        with self._loading:
            run = runs.load(folder.path, within=self.root)
            opened = OpenRun(run if step is None else at_step(run, step))
        with self._lock:
            self._open[name, step] = (signature, opened)
            self._open.move_to_end((name, step))
            while len(self._open) > KEPT_OPEN:
                self._open.popitem(last=False)
        return opened


def weights_signature(folder: RunFolder) -> str:
    """Return a word that changes when the weights on disk do; "" if there are none."""
    for file in (folder.networks_file, folder.checkpoint_file, folder.previous_checkpoint_file):
        if file.is_file():
            return _signature(file)
    return ""


def _signature(file: Path) -> str:
    facts = file.stat()
    return f"{file.name}-{facts.st_mtime_ns}-{facts.st_size}"


def _run_folders(folder: Path, depth: int = DEEPEST) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except OSError:  # a folder we may not read holds no run for us
        return
    for entry in entries:
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            continue
        path = Path(entry.path)
        # Not `exists`: a folder we may not look into is no run for us either.
        if os.path.isfile(RunFolder(path).config_file):
            yield path
        elif depth > 1:
            yield from _run_folders(path, depth - 1)
