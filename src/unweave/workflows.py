"""The main jobs, each a function that a notebook and the command line both call."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave import catalog, runs
from unweave.catalog.plugins import Source
from unweave.data import DataOptions, FactorImages, load_data
from unweave.devices import Precision
from unweave.errors import ConfigError, Stopped, UnweaveError
from unweave.examples import folder_of, is_example
from unweave.figures import prior_samples, reconstructions, traversals
from unweave.files.writing import write_atomically
from unweave.methods import Method, is_in_file, method_named, name_in_file
from unweave.networks import Architecture, architecture_named
from unweave.runs.config import Machine, Train
from unweave.runs.earlier import at_step
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run
from unweave.runs.wrapped import WrappedModel, wrap
from unweave.training import loop
from unweave.watchers import Effort, Pictures, Plateau, ProgressBar, Weights, logging_to

if TYPE_CHECKING:
    from unweave.evaluation.baselines import Baselines
    from unweave.evaluation.encode import Encoded
    from unweave.evaluation.scores import Scores

log = logging.getLogger(__name__)


def load(
    folder: str | Path,
    device: str = "cpu",
    data: FactorImages | None = None,
    plugins: Sequence[Source] = (),
    within: str | Path | None = None,
    step: int | None = None,
) -> Run:
    """Load a run from its folder, or one that comes with the package: `load("example:dsprites")`.

    `step` is one whose weights were kept on the way (`--keep-weights`); by default the newest are
    taken. The rest is as in `unweave.runs.load`.
    """
    if is_example(folder):
        folder = folder_of(str(folder))
    run = runs.load(folder, device, data, plugins, within)
    return run if step is None else at_step(run, step)


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


def evaluate(
    run: Run | WrappedModel | str | Path,
    metrics: str | Sequence[str] = "default",
    *,
    preset: str = "full",
    protocol: str | Mapping[str, str] | None = None,
    seeds: int = 1,
    sampler: str = "table",
    nulls: int = 0,
    encoded: "Encoded | None" = None,
) -> "Scores":
    """Score a run, whose folder keeps the scores as well, or a model of yours (`uw.wrap`).

    `nulls` is how many random rotations of the codes, and shuffles of the factors, are scored
    beside them. Scores of the fast preset never take the place of full ones there (`Scores.kept`).
    `encoded` holds the run's codes if they have been computed already.
    """
    from unweave.evaluation.encode import encode_run
    from unweave.evaluation.score import score, score_model, unscored

    if isinstance(run, WrappedModel):
        return evaluate_model(
            run,
            run.data,
            metrics=metrics,
            preset=preset,
            protocol=protocol,
            seeds=seeds,
            sampler=sampler,
            nulls=nulls,
        )
    if not isinstance(run, Run):
        run = load(run)
    how: dict[str, Any] = {
        "preset": preset,
        "protocol": protocol,
        "seeds": seeds,
        "nulls": nulls,
    }
    if why := run.code.why_no_codes(run.kind):
        scores = unscored(metrics, why)
    elif sampler == "paper":
        scores = score_model(run.encode, run.data, metrics, sampler=sampler, **how)
    else:
        encoded = encoded or encode_run(run)
        scores = score(
            encoded.codes,
            encoded.factors if encoded.factor_names else None,
            metrics,
            posterior=encoded.posterior,
            prior=run.code_prior.name,
            factor_names=encoded.factor_names or None,
            **how,
        )
    if run.folder is not None:
        scores.kept = run.folder.add_scores(
            scores_to_json(scores), step=run.step, preliminary=preset == "fast"
        )
        _write_card(run)
    return scores


def evaluate_part(
    run: Run | str | Path,
    part: str,
    metrics: str | Sequence[str] = "default",
    *,
    preset: str = "full",
    protocol: str | Mapping[str, str] | None = None,
    seeds: int = 1,
    nulls: int = 0,
) -> "Scores":
    """Score a run on a part of its data, kept in its folder by the name of the part.

    Parts are those of `FactorImages.part`: `train` and `held_out` of data that are split,
    `correlated` and `inverse` of correlated ones. Beside the metrics stand the terms of the
    method's own bound, so that reconstructions of what was held out can be compared.
    """
    from unweave.evaluation.encode import encode_run
    from unweave.evaluation.score import score
    from unweave.metrics import Score

    if not isinstance(run, Run):
        run = runs.load(run)
    encoded = encode_run(run, part=part)
    scores = score(
        encoded.codes,
        encoded.factors if encoded.factor_names else None,
        metrics,
        posterior=encoded.posterior,
        factor_names=encoded.factor_names or None,
        preset=preset,
        protocol=protocol,
        seeds=seeds,
        nulls=nulls,
    )
    for name, value in encoded.terms.items():
        unit = f"nats, mean over {len(encoded.codes):,} images"
        scores[name] = Score(name, value, unit, higher_is_better=name == "elbo")
    if run.folder is not None:
        run.folder.write_part_scores(part, scores_to_json(scores))
    return scores


def evaluate_tables(
    codes: str | Path,
    factors: str | Path | None,
    logvar: str | Path | None = None,
    *,
    missing: str = "refuse",
    **how: Any,
) -> "Scores":
    """Score tables in files; without factors only what needs none.

    Rows are matched by columns that name them (file names, ids), where tables have any.
    """
    from unweave.evaluation.read_tables import in_rows_of, read_codes, read_factors
    from unweave.evaluation.score import score

    table = read_codes(codes)
    known = spread = None
    if factors is not None:
        known = in_rows_of(read_factors(factors, missing=missing), factors, table, codes)
    if logvar is not None:
        spread = in_rows_of(read_codes(logvar), logvar, table, codes)
    return score(
        table.values,
        None if known is None else known.values,
        factor_names=None if known is None else known.names,
        posterior=None if spread is None else (table.values, spread.values),
        missing=missing,
        **how,
    )


def evaluate_model(model: Any, data: FactorImages, **how: Any) -> "Scores":
    """Score a wrapped model, or anything that can be wrapped, on a data set."""
    from unweave.evaluation.score import score_model, unscored

    wrapped = model if isinstance(model, WrappedModel) else wrap(model, data)
    if why := wrapped.code.why_no_codes(wrapped.kind):
        scores = unscored(how.get("metrics", "default"), why)
    else:
        scores = score_model(
            wrapped.encode, data, posterior=wrapped.posterior, notes=wrapped.notes, **how
        )
    wrapped.keep_scores(scores_to_json(scores))
    return scores


def scores_to_json(scores: "Scores") -> dict[str, Any]:
    """Return scores by metric as JSON can hold them; what has no score says why."""
    missing = {name: {"value": None, "reason": why} for name, why in scores.reasons.items()}
    found = {name: result.to_json() for name, result in scores.items()}
    for name, entry in found.items():
        if (origin := catalog.origin("unweave.metrics", name)) is not None:
            entry["plugin"] = str(origin)
    return found | missing


def draw_figures(run: Run) -> list[Path]:
    """Write the pictures of a run into its folder; none if its method has no decoder."""
    if not run.code.decodes:
        return []
    folder = run.path / "figures"
    folder.mkdir(exist_ok=True)
    pictures = {"traversals": traversals(run), "prior_samples": prior_samples(run)}
    if run.code.source == "images":
        pictures["reconstructions"] = reconstructions(run)
    paths = []
    for name, picture in pictures.items():
        paths.append(folder / f"{name}.png")
        picture.save(paths[-1])
    return paths


def write_report(
    of: Sequence[Run | str | Path] | Run | WrappedModel | str | Path,
    out: str | Path | None = None,
    *,
    baselines: bool = True,
    files: str | Path | None = None,
) -> Path:
    """Write the report of a run or a wrapped model, or the comparison of several runs.

    `baselines` of one model's scores are made where its folder keeps none yet. `files` is a
    folder for the figures, tables and references that the page offers, each a file of its own.
    """
    from unweave.evaluation.baselines import Baselines
    from unweave.pages import files_in
    from unweave.report import comparison_html, report_html

    if isinstance(of, Run | WrappedModel | str | Path):
        model = runs.load(of) if isinstance(of, str | Path) else of
        content = report_html(model, _baselines(model) if baselines else Baselines())
        folder = model.path if isinstance(model, Run) and model.folder else Path()
    elif len(of) == 1:
        return write_report(of[0], out, baselines=baselines, files=files)
    else:
        loaded = [entry if isinstance(entry, Run) else runs.load(entry) for entry in of]
        content, folder = comparison_html(loaded), Path()
    if out is None:
        out = folder / "report.html"
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    if files is not None:
        folder = Path(files)
        folder.mkdir(parents=True, exist_ok=True)
        for name, part in files_in(content).items():
            write_atomically(folder / name, part)
    return path


def _baselines(model: Run | WrappedModel) -> "Baselines":
    """Return the baselines of a model; none where its data cannot be opened here."""
    from unweave.evaluation.baselines import Baselines, baselines_of

    try:
        return baselines_of(model)
    except UnweaveError as error:
        log.info("no baselines: %s", error)
        return Baselines()


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
    _write_card(run)
    return run


def _write_card(run: Run) -> None:
    from unweave.report.card import write_card  # on first use: it draws on all of the report

    write_card(run)


class _Card(loop.Watcher):
    """A card from the start on, so that a folder says what it is however its run ends."""

    def started(self, run: Run, first_step: int) -> None:
        _write_card(run)
