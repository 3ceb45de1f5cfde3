"""The loop: for every step a batch, for every turn one player's update.

A step is a function of (seed, step) and of the weights before it: batch and
noise come from generators seeded by the two. So a run that is killed and
continued from its checkpoint ends with the same bits as one that was not.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unweave import devices
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError, DataError, Stopped
from unweave.methods import Method, Move
from unweave.networks import Networks, architecture_for
from unweave.process import asked_to_stop
from unweave.runs import silencing
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run
from unweave.training import bits, checkpoint
from unweave.training.diagnostics import diagnose, diagnostic_images
from unweave.training.game import Game, fresh_networks
from unweave.training.game import PlayerOptimizer as PlayerOptimizer
from unweave.training.record import Record

RECORD_EVERY = 50  # steps between two writes of the record


class Watcher:
    """Told what happens in a run: progress bars, pictures, loggers. Does nothing by itself."""

    def started(self, run: Run, first_step: int) -> None:
        """A run begins, or goes on at a step."""

    def stepped(self, step: int) -> None:
        """A step is done."""

    def recorded(self, step: int, terms: dict[str, float]) -> None:
        """Newest terms of the losses, after every few steps."""

    def evaluated(self, run: Run, step: int, diagnostics: dict[str, Any]) -> None:
        """Diagnostics were measured."""

    def told(self, message: str) -> None:
        """Something that was decided for the user, or that is good to know."""

    def warned(self, message: str) -> None:
        """Something the user should know."""

    def stopped(self) -> None:
        """The run ended, whichever way."""


def start(
    config: Train,
    data: FactorImages,
    folder: str | Path,
    machine: Machine = Machine(),
    watchers: Sequence[Watcher] = (),
) -> Run:
    """Train a new run in a folder."""
    wished = config.method
    config = resolved(config, data)
    for watcher in watchers:
        for message in said_of(wished, config.method, data):
            watcher.told(message)
    # Tried before the folder is made, so that an impossible combination leaves nothing behind.
    check(config, data)
    devices.choose_device(machine.device)
    run_folder = RunFolder(folder)
    run_folder.reserve()
    with _told_how_to_go_on(run_folder), run_folder.locked():
        run_folder.create(config, data.summary)
        return _train(config, data, run_folder, machine, watchers, stored=None)


def said_of(wished: Method, settled: Method, data: FactorImages) -> list[str]:
    """Return what the user should know of the data and of what was decided by them."""
    messages = [f"{data.name}: {data.note}"] if data.note else []
    likelihood = getattr(settled, "likelihood", "")
    if likelihood != getattr(wished, "likelihood", ""):
        messages.append(
            f"likelihood {likelihood}, as these images are not black and white; papers that "
            f"name a β mean bernoulli, which --method.likelihood bernoulli gives"
        )
    return messages


def resolved(config: Train, data: FactorImages) -> Train:
    """Return the settings with what they leave to the data and to the length of the run."""
    return replace(
        config,
        method=config.method.settled(config.steps, data),
        architecture=config.architecture or architecture_for(data.image_shape),
    )


def check(config: Train, data: FactorImages) -> None:
    """Raise an error unless the method, its networks and the data go together."""
    config.method.supervision.check(training_part(config, data)[0])
    make_networks(config, data)


def resume(
    folder: str | Path,
    data: FactorImages,
    machine: Machine = Machine(),
    watchers: Sequence[Watcher] = (),
    steps: int | None = None,
) -> Run:
    """Continue a run from its newest checkpoint, to its own number of steps or to another."""
    run_folder = RunFolder(folder)
    run_folder.require()
    with _told_how_to_go_on(run_folder), run_folder.locked():
        config, summary = run_folder.read_config()
        data = data.arranged_by(config.data_options)
        _check_same_data(folder, data, summary)
        wanted = config if steps is None else replace(config, steps=steps)
        return _train(wanted, data, run_folder, machine, watchers, stored=config)


def _check_same_data(folder: str | Path, data: FactorImages, summary: DataSummary) -> None:
    """Refuse other data than a run began with."""
    if data.image_shape != summary.image_shape:
        raise ConfigError(
            f"{folder} was trained on images of shape {summary.image_shape}, "
            f"found {data.image_shape}"
        )
    if summary.rows and data.summary != summary:
        raise ConfigError(
            f"{folder} was trained on {summary.rows:,} images with columns "
            f"{dict(summary.column_sizes)}, found {len(data):,} with "
            f"{dict(data.summary.column_sizes)}; give the data it began with"
        )


def make_networks(config: Train, data: FactorImages) -> Networks:
    """Return the networks of a run with the weights its seed gives."""
    return fresh_networks(config, data.summary, config.seed)


def training_part(config: Train, data: FactorImages) -> tuple[FactorImages, FactorImages]:
    """Return the images to train on and those for diagnostics; without validation all twice."""
    training = data if data.held_out is None else data.part("train")
    if not config.validation:
        return training, training
    return training.split(config.validation, config.seed, keep_numbers=True)


def _train(
    config: Train,
    data: FactorImages,
    folder: RunFolder,
    machine: Machine,
    watchers: Sequence[Watcher],
    *,
    stored: Train | None,
) -> Run:
    """Train in a folder that is locked; `stored` are its settings if it goes on."""
    before = {} if stored is None else folder.machine()
    machine = bits.as_before(machine, before)
    device = devices.choose_device(machine.device)
    devices.tune_allocator()
    devices.use_threads(machine.threads)
    devices.use_determinism(device)
    now = devices.what_decides_bits(device, compiled=machine.compile)
    _warn(watchers, bits.changes(folder, before, now))
    nets = make_networks(config, data)
    devices.place(nets, device)
    game = Game(config, data.summary, nets)
    if machine.compile:
        devices.compile_networks(nets)
    first_step = 0
    if stored is not None and folder.has_checkpoint():
        first_step, warning = checkpoint.restore(folder, game)
        if first_step > config.steps:
            raise ConfigError(
                f"{folder.path} is at step {first_step} already, beyond {config.steps}"
            )
        _warn(watchers, warning or "")
    # Only now that nothing stands against it: a call that is refused changes nothing.
    if stored is not None and config != stored:
        folder.write_config(config, data.summary)
    folder.write_machine(now)
    run = Run(config, data.summary, game.averages.shown, step=first_step, folder=folder, data=data)
    try:
        folder.set_status("running", step=first_step, steps=config.steps)
        _Session(run, game, folder, device, machine, watchers).go()
    except (Exception, KeyboardInterrupt) as error:
        if not isinstance(error, Stopped):
            state = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            message = str(error) or type(error).__name__
            with suppress(DataError):  # on a full disk the first error is the one to see
                folder.set_status(state, step=run.step, steps=config.steps, message=message)
        raise
    finally:
        for watcher in watchers:
            watcher.stopped()
    folder.save_networks(nets, config.steps, game.averages.tensors())
    if config.silence:
        message = str(silencing.silence(run, config.silence))
        for watcher in watchers:
            watcher.warned(message)
    folder.set_status("done", step=config.steps, steps=config.steps)
    return run


class _Session:
    """What one process does for a run: its steps from the newest checkpoint on, and its end."""

    def __init__(
        self,
        run: Run,
        game: Game,
        folder: RunFolder,
        device: torch.device,
        machine: Machine,
        watchers: Sequence[Watcher],
    ):
        self.run, self.game, self.folder, self.device = run, game, folder, device
        self.machine, self.watchers = machine, watchers
        self.config, self.method = run.config, run.config.method
        self.first_step = run.step
        self.data, held_out = training_part(self.config, run.data)
        self.images = diagnostic_images(held_out, self.config.seed)
        at_end = self.first_step == self.config.steps  # which is evaluated once more
        self.record = Record(folder.record_file, self.first_step, forget_evaluation=at_end)
        self.saved_at = time.monotonic()

    def go(self) -> None:
        if self.first_step == 0:
            with _seeded((self.config.seed, 0xF17), self.device):
                self.method.fit(self.game.nets, self.data, self.config.seed)
        # With nobody to play there are no steps, only what is fitted before and after them.
        begin = self.first_step if self.game.players else self.config.steps
        for watcher in self.watchers:
            watcher.started(self.run, begin)
        self.game.nets.train()
        with torch.random.fork_rng(devices=_cuda(self.device)), asked_to_stop() as stop:
            for step in range(begin, self.config.steps):
                self.make_step(step)
                if stop.is_set() and self.run.step < self.config.steps:
                    self.save()
                    self.folder.set_status(
                        "interrupted", step=self.run.step, steps=self.config.steps
                    )
                    raise Stopped(
                        f"stopped after step {self.run.step} of {self.config.steps}; "
                        f"go on with: {_way_back(self.folder)}"
                    )
        self.finish()

    def make_step(self, step: int) -> None:
        for move in moves_of_step(self.config, self.game.nets, self.data, self.device, step):
            for turn in self.game.play(move, step):
                self.record.add(step, turn)
        self.game.averages.follow(step)
        self.run.step = done = step + 1
        for watcher in self.watchers:
            watcher.stepped(done)
        if done % RECORD_EVERY == 0 or done == self.config.steps:
            self.record.flush()
            for watcher in self.watchers:
                watcher.recorded(done, self.record.latest)
        if done == self.config.steps:
            return  # the last checkpoint and evaluation belong to `finish`
        if is_evaluation(done, self.config.steps, self.machine.evaluations):
            self.evaluate()
        if time.monotonic() - self.saved_at >= self.machine.checkpoint_seconds:
            self.save()

    def finish(self) -> None:
        """Save the last step, then let the method find what it finds in trained networks.

        The checkpoint is of before that: a run that is killed meanwhile does it again, from
        the same state, and one that is trained further does not start from its traces.
        """
        self.run.step = self.config.steps
        if self.first_step < self.config.steps:
            self.save()
        with _seeded((self.config.seed, 0xF1415), self.device):
            self.run.nets.eval()
            self.method.finish(self.run.nets, self.data, self.config.seed)
        if self.machine.evaluations:
            self.evaluate()

    def evaluate(self) -> None:
        diagnostics = diagnose(self.run, self.images)
        self.record.add_diagnostics(self.run.step - 1, diagnostics)
        for watcher in self.watchers:
            watcher.evaluated(self.run, self.run.step, diagnostics)

    def save(self) -> None:
        self.record.flush()  # a diverged state is not worth keeping
        checkpoint.save(self.folder, self.run.step, self.game)
        self.folder.set_status("running", step=self.run.step, steps=self.config.steps)
        self.saved_at = time.monotonic()


def moves_of_step(
    config: Train, nets: Networks, data: FactorImages, device: torch.device, step: int
) -> Iterator[Move]:
    """Yield the moves of a step, its batch and noise drawn from (seed, step)."""
    rng = np.random.default_rng((config.seed, step))
    devices.seed_generators(int(rng.integers(2**63)), device)
    batch = config.method.supervision.at(step).draw(data, config.batch_size, rng)
    batch = batch.map_tensors(lambda tensor: devices.place_batch(tensor, device))
    moves = config.method.turns(nets, batch, step)
    while True:
        with devices.autocast(device, config.precision):  # the update itself stays outside
            move = next(moves, None)
        if move is None:
            return
        yield move


def is_evaluation(done: int, steps: int, evaluations: int) -> bool:
    """Whether to evaluate after `done` steps: so many times, evenly, the last at the end."""
    if evaluations == 0:
        return False
    return done * evaluations // steps > (done - 1) * evaluations // steps


def _cuda(device: torch.device) -> list[torch.device]:
    return [device] if device.type == "cuda" else []


@contextmanager
def _seeded(source: tuple[int, ...], device: torch.device) -> Iterator[None]:
    """Draw torch's numbers from this source, and leave the user's generators alone."""
    with torch.random.fork_rng(devices=_cuda(device)):
        devices.seed_generators(int(np.random.default_rng(source).integers(2**63)), device)
        yield


def _warn(watchers: Sequence[Watcher], message: str) -> None:
    for watcher in watchers if message else ():
        watcher.warned(message)


@contextmanager
def _told_how_to_go_on(folder: RunFolder) -> Iterator[None]:
    """Name the way back if a run is interrupted outside its steps, or at once within one."""
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt as interrupt:
        if not folder.exists():
            raise
        raise Stopped(f"interrupted; go on with: {_way_back(folder)}") from interrupt


def _way_back(folder: RunFolder) -> str:
    return f"unweave resume {folder.path}"
