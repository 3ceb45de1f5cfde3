"""The loop: for every step a batch, for every turn one player's update.

A step is a function of (seed, step) and of the weights before it: batch and
noise come from generators seeded by the two. So a run that is killed and
continued from its checkpoint ends with the same bits as one that was not.
"""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unweave import devices
from unweave.data import FactorImages
from unweave.errors import ConfigError, DataError, Stopped, UnweaveError
from unweave.files.locks import sole_owner
from unweave.methods import Loss, Player, Turn
from unweave.networks import Networks, architecture_for
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run
from unweave.training import checkpoint
from unweave.training.diagnostics import diagnose, diagnostic_images
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

    def warned(self, message: str) -> None:
        """Something the user should know."""

    def stopped(self) -> None:
        """The run ended, whichever way."""


class PlayerOptimizer:
    """Lowers one player's loss; cannot reach another player's networks."""

    def __init__(self, player: Player, nets: Networks):
        self.settings = player.optimizer
        groups = [list(getattr(nets, name).parameters()) for name in player.owns]
        self.parameters = [parameter for group in groups for parameter in group]
        self.speeds = [player.speed.get(name, 1.0) for name in player.owns]
        self.optimizer = self.settings.build(*groups)

    def lower(self, loss: Loss, step: int) -> None:
        """Make one update, unless the settings say to skip it."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.speeds[group["part"]] * self.settings.rate_at(step)
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward(inputs=self.parameters)  # no gradient reaches other networks
        if self.settings.tame(self.parameters):
            self.optimizer.step()
        else:
            loss.terms["skipped"] = loss.total.new_ones(())  # so that the record tells


def start(
    config: Train,
    data: FactorImages,
    folder: str | Path,
    machine: Machine = Machine(),
    watchers: Sequence[Watcher] = (),
) -> Run:
    """Train a new run in a folder."""
    config = resolved(config, data)
    # Tried before the folder is made, so that an impossible combination leaves nothing behind.
    check(config, data)
    devices.choose_device(machine.device)
    run_folder = RunFolder(folder)
    with _told_how_to_go_on(run_folder, machine):
        run_folder.create(config, data.summary)
        return _train(config, data, run_folder, machine, watchers, resumed=False)


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
    config, summary = run_folder.read_config()
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
    if steps is not None and steps != config.steps:
        config = replace(config, steps=steps)
        run_folder.write_config(config, data.summary)
    with _told_how_to_go_on(run_folder, machine):
        return _train(config, data, run_folder, machine, watchers, resumed=True)


def make_networks(config: Train, data: FactorImages) -> Networks:
    """Return the networks of a run with the weights its seed gives."""
    architecture = config.architecture or architecture_for(data.image_shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return config.method.networks(architecture, data.summary)


def training_part(config: Train, data: FactorImages) -> tuple[FactorImages, FactorImages]:
    """Return the images to train on and those for diagnostics; without validation all twice."""
    if not config.validation:
        return data, data
    return data.split(config.validation, config.seed, keep_numbers=True)


def _train(
    config: Train,
    data: FactorImages,
    folder: RunFolder,
    machine: Machine,
    watchers: Sequence[Watcher],
    *,
    resumed: bool,
) -> Run:
    device = devices.choose_device(machine.device)
    devices.tune_allocator()
    devices.use_threads(machine.threads)
    devices.use_determinism(device)
    busy = f"{folder.path} is being trained by another process"
    with sole_owner(folder.path / ".lock", busy):
        nets = make_networks(config, data)
        devices.place(nets, device)
        if machine.compile:
            devices.compile_networks(nets)
        optimizers = {
            name: PlayerOptimizer(player, nets) for name, player in config.method.players.items()
        }
        first_step = 0
        if resumed and (
            folder.checkpoint_file.exists() or folder.previous_checkpoint_file.exists()
        ):
            first_step, warning = checkpoint.restore(folder, nets, _plain(optimizers))
            if first_step > config.steps:
                raise ConfigError(
                    f"{folder.path} is at step {first_step} already, beyond {config.steps}"
                )
            for watcher in watchers if warning else ():
                watcher.warned(warning or "")
        run = Run(config, data.summary, nets, step=first_step, folder=folder, data=data)
        try:
            folder.set_status("running", step=first_step, steps=config.steps)
            _steps(run, optimizers, device, machine, watchers, first_step)
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
        folder.save_networks(nets, config.steps)
        folder.set_status("done", step=config.steps, steps=config.steps)
    return run


def _steps(
    run: Run,
    optimizers: dict[str, PlayerOptimizer],
    device: torch.device,
    machine: Machine,
    watchers: Sequence[Watcher],
    first_step: int,
) -> None:
    config, nets, folder = run.config, run.nets, run.folder
    assert folder is not None
    training, held_out = training_part(config, run.data)
    images = diagnostic_images(held_out, config.seed)
    record = Record(folder.record_file, first_step)
    saved = time.monotonic()
    if first_step == 0:
        config.method.fit(nets, training, config.seed)
    # With nobody to play only the last step is made, which writes what there is.
    begin = first_step if optimizers else max(first_step, config.steps - 1)

    def save(step: int) -> None:
        nonlocal saved
        record.flush()  # a diverged state is not worth keeping
        checkpoint.save(folder, step, nets, _plain(optimizers))
        folder.set_status("running", step=step, steps=config.steps)
        saved = time.monotonic()

    for watcher in watchers:
        watcher.started(run, begin)
    nets.train()
    with torch.random.fork_rng(devices=_cuda(device)), _stop_between_steps() as stop:
        for step in range(begin, config.steps):
            for turn in step_turns(run, training, device, step):
                optimizers[turn.player].lower(turn.loss, step)
                record.add(step, turn)
            done = step + 1
            run.step = done
            for watcher in watchers:
                watcher.stepped(done)
            if done % RECORD_EVERY == 0 or done == config.steps:
                record.flush()
                for watcher in watchers:
                    watcher.recorded(done, record.latest)
            if is_evaluation(done, config.steps, machine.evaluations):
                diagnostics = diagnose(run, images)
                record.add_diagnostics(step, diagnostics)
                for watcher in watchers:
                    watcher.evaluated(run, done, diagnostics)
            if done == config.steps or time.monotonic() - saved >= machine.checkpoint_seconds:
                save(done)
            if stop.is_set() and done < config.steps:
                save(done)
                folder.set_status("interrupted", step=done, steps=config.steps)
                raise Stopped(
                    f"stopped after step {done} of {config.steps}; "
                    f"go on with: {_way_back(folder, machine)}"
                )


def step_turns(run: Run, data: FactorImages, device: torch.device, step: int) -> Iterator[Turn]:
    """Yield the turns of a step, its batch and noise drawn from (seed, step)."""
    config = run.config
    rng = np.random.default_rng((config.seed, step))
    torch.manual_seed(int(rng.integers(2**63)))
    batch = config.method.supervision.draw(data, config.batch_size, rng)
    batch = batch.map_tensors(
        lambda t: devices.place_images(t, device) if t.ndim == 4 else t.to(device)
    )
    turns = config.method.turns(run.nets, batch, step)
    while True:
        with devices.autocast(device, config.precision):  # the update itself stays outside
            turn = next(turns, None)
        if turn is None:
            return
        if turn.player not in config.method.players:
            raise UnweaveError(f"{config.method} yielded a turn of {turn.player!r}, not a player")
        yield turn


def is_evaluation(done: int, steps: int, evaluations: int) -> bool:
    """Whether to evaluate after `done` steps: so many times, evenly, the last at the end."""
    if evaluations == 0:
        return False
    return done * evaluations // steps > (done - 1) * evaluations // steps


def _plain(optimizers: dict[str, PlayerOptimizer]) -> dict[str, torch.optim.Optimizer]:
    return {name: player.optimizer for name, player in optimizers.items()}


def _cuda(device: torch.device) -> list[torch.device]:
    return [device] if device.type == "cuda" else []


@contextmanager
def _told_how_to_go_on(folder: RunFolder, machine: Machine) -> Iterator[None]:
    """Name the way back if a run is interrupted outside its steps, or at once within one."""
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt as interrupt:
        if not folder.exists():
            raise
        raise Stopped(f"interrupted; go on with: {_way_back(folder, machine)}") from interrupt


def _way_back(folder: RunFolder, machine: Machine) -> str:
    """Return the command that goes on, on as many threads: other sums would round otherwise."""
    threads = "" if machine.threads is None else f" --threads {machine.threads}"
    return f"unweave resume {folder.path}{threads}"


@contextmanager
def _stop_between_steps() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a wish to stop after the step; a second one stops at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_signal(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {s: signal.signal(s, on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
