"""Train runs and go on with them; scored, drawn and described at the end."""

from collections.abc import Sequence
from pathlib import Path

from unweave import catalog
from unweave.catalog.plugins import Source
from unweave.data import DataOptions, FactorImages, load_data
from unweave.devices import Precision, choose_device
from unweave.errors import ConfigError, Stopped
from unweave.free_cores import fewer_threads_if_busy
from unweave.methods import Method, is_in_file, method_named, name_in_file
from unweave.networks import Architecture, architecture_named
from unweave.runs.config import Machine, Train
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run
from unweave.training import loop
from unweave.watchers import Effort, Pictures, Plateau, ProgressBar, Weights, logging_to
from unweave.workflows.scoring import draw_figures, evaluate, keep_card


def train(
    method: Method | str,
    data: str | Path | FactorImages,
    *,
    steps: int = 20_000,
    batch_size: int = 64,
    seed: int = 0,
    out: str | Path | None = None,
    architecture: Architecture | str | None = None,
    validation: float = 0.0,
    precision: Precision = "float32",
    silence: float = 0.0,
    data_options: DataOptions = DataOptions(),
    machine: Machine = Machine(),
    evaluate: bool = True,
    progress: bool = True,
) -> Run:
    """Train a method on data, in a run folder; score it and draw pictures at the end.

    A method or an architecture can be given by its name, with its usual settings; a method
    also by the file it is in, "./mine.py", which is run.

    >>> run = uw.train(uw.BetaVAE(beta=4), data="dsprites", steps=20_000)  # doctest: +SKIP
    >>> run = uw.train("beta_vae", data="dsprites")  # doctest: +SKIP
    """
    if not isinstance(data, FactorImages | str | Path):
        raise ConfigError(
            f"data: expected a name, a path or a data set, found {type(data).__name__}; "
            f"uw.from_arrays makes a data set of arrays"
        )
    config = Train(
        method=_method_given(method) if isinstance(method, str) else method,
        data=data.name if isinstance(data, FactorImages) else str(data),
        data_options=data_options,
        architecture=(
            architecture_named(architecture)() if isinstance(architecture, str) else architecture
        ),
        steps=steps,
        batch_size=batch_size,
        seed=seed,
        validation=validation,
        precision=precision,
        silence=silence,
    )
    if isinstance(data, FactorImages):
        opened = data.arranged_by(data_options)
    else:
        opened = load_data(data, data_options)
    return train_config(config, opened, out, machine, evaluate=evaluate, progress=progress)


def _method_given(text: str) -> Method:
    """Return a method with its usual settings, by its name or by the file it is in."""
    return method_named(name_in_file(text) if is_in_file(text) else text)()


def train_config(
    config: Train,
    data: FactorImages,
    out: str | Path | None = None,
    machine: Machine = Machine(),
    *,
    evaluate: bool = True,
    progress: bool = True,
) -> Run:
    """Train a run from its settings."""
    if not isinstance(machine, Machine):
        raise ConfigError(f"machine: expected Machine(…), found {machine!r}")
    folder = Path(out) if out is not None else Path("runs") / config.run_name
    watchers = _watchers(machine, progress)
    with fewer_threads_if_busy(machine.threads, choose_device(machine.device)) as said:
        for watcher in watchers if said else ():
            watcher.told(said)
        try:
            run = loop.start(config, data, folder, machine, watchers)
        except Stopped as stop:
            run = _ended_early(stop, folder, data, machine, watchers)
    return _finish(run, evaluate)


def resume(
    folder: str | Path,
    *,
    data: FactorImages | None = None,
    steps: int | None = None,
    machine: Machine = Machine(),
    evaluate: bool = True,
    progress: bool = True,
    plugins: Sequence[Source] = (),
) -> Run:
    """Continue a run that was stopped, or train a finished one further with more `steps`.

    `plugins` are as in `load`.
    """
    for plugin in plugins:
        catalog.add_plugin(plugin)
    run_folder = RunFolder(folder)
    config, _ = run_folder.read_config()
    if run_folder.status()["state"] == "done" and (steps is None or steps <= config.steps):
        raise ConfigError(
            f"{folder} is finished at step {config.steps}; "
            f"train further with `unweave resume {folder} --steps {2 * config.steps}`"
        )
    opened = data if data is not None else run_folder.open_data(config)
    watchers = _watchers(machine, progress)
    try:
        run = loop.resume(folder, opened, machine, watchers, steps)
    except Stopped as stop:
        run = _ended_early(stop, folder, opened, machine, watchers)
    return _finish(run, evaluate)


def _ended_early(
    stop: Stopped,
    folder: str | Path,
    data: FactorImages,
    machine: Machine,
    watchers: Sequence[loop.Watcher],
) -> Run:
    """Finish a run at the step where it stopped getting better, if that is why it stopped."""
    step = next((w.reached for w in watchers if isinstance(w, Plateau) and w.reached), None)
    if step is None:
        raise stop
    for watcher in watchers:
        watcher.told(
            f"no better for {machine.patience} evaluations: ended at step {step:,}; "
            f"`unweave resume {folder} --steps N` trains it further"
        )
    return loop.resume(folder, data, machine, watchers, step)


def _watchers(machine: Machine, progress: bool) -> list[loop.Watcher]:
    watchers: list[loop.Watcher] = [_Card(), Pictures(), Effort()]
    if progress:
        watchers.append(ProgressBar())
    if machine.keep_weights:
        watchers.append(Weights())
    if machine.patience:
        watchers.append(Plateau(machine.patience))
    return watchers + [logging_to(name) for name in machine.loggers]


def _finish(run: Run, with_scores: bool) -> Run:
    draw_figures(run)
    if with_scores:
        evaluate(run)
    keep_card(run)
    return run


class _Card(loop.Watcher):
    """A card from the start on, so that a folder says what it is however its run ends."""

    def started(self, run: Run, first_step: int) -> None:
        keep_card(run)
