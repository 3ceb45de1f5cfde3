"""Score runs, models and tables; draw runs and report on them."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave import catalog, runs
from unweave.catalog.plugins import Source
from unweave.data import FactorImages
from unweave.errors import UnweaveError
from unweave.examples import folder_of, is_example
from unweave.figures import prior_samples, reconstructions, traversals
from unweave.files.writing import write_atomically
from unweave.runs.earlier import at_step
from unweave.runs.run import Run
from unweave.runs.wrapped import WrappedModel, wrap

if TYPE_CHECKING:
    from unweave.evaluation.baselines import Baselines
    from unweave.evaluation.encode import Encoded
    from unweave.evaluation.scores import Scores
    from unweave.metrics import Groups
    from unweave.tables import Continuous

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


def evaluate(
    run: Run | WrappedModel | str | Path,
    metrics: str | Sequence[str] = "default",
    *,
    preset: str = "full",
    protocol: str | Mapping[str, str] | None = None,
    seeds: int = 1,
    sampler: str = "table",
    nulls: int = 0,
    continuous: "Continuous" = None,
    missing: str = "refuse",
    groups: "Groups | None" = None,
    components: int | None = None,
    encoded: "Encoded | None" = None,
) -> "Scores":
    """Score a run, whose folder keeps the scores as well, or a model of yours (`uw.wrap`).

    `nulls` is how many random rotations of the codes, and shuffles of the factors, are scored
    beside them. Scores of the fast preset never take the place of full ones there (`Scores.kept`).
    `continuous` names factors that are amounts, such as degrees; `missing="mask"` scores columns
    of the data that have gaps where they are known; `groups` are codes that form one concept, each
    reduced to so many `components`. `encoded` holds the run's codes if they have been computed
    already.
    """
    from unweave.evaluation.score import unscored
    from unweave.evaluation.score_model import score_model

    how: dict[str, Any] = {
        "preset": preset,
        "protocol": protocol,
        "seeds": seeds,
        "nulls": nulls,
        "continuous": continuous,
        "missing": missing,
        "groups": groups,
        "components": components,
    }
    if isinstance(run, WrappedModel):
        return evaluate_model(run, run.data, metrics=metrics, sampler=sampler, **how)
    if not isinstance(run, Run):
        run = load(run)
    if why := run.code.why_no_codes(run.kind):
        scores = unscored(metrics, why)
    elif sampler == "paper":
        scores = score_model(run.encode, run.data, metrics, sampler=sampler, **how)
    else:
        scores = _of_run(run, metrics, encoded, "all", how)
    if run.folder is not None:
        scores.kept = run.folder.add_scores(
            scores_to_json(scores), step=run.step, preliminary=preset == "fast"
        )
        keep_card(run)
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
    continuous: "Continuous" = None,
    missing: str = "refuse",
    groups: "Groups | None" = None,
    components: int | None = None,
) -> "Scores":
    """Score a run on a part of its data, kept in its folder by the name of the part.

    Parts are those of `FactorImages.part`: `train` and `held_out` of data that are split,
    `correlated` and `inverse` of correlated ones. Beside the metrics stand the terms of the
    method's own bound, so that reconstructions of what was held out can be compared.
    """
    from unweave.evaluation.encode import encode_run
    from unweave.metrics import Score

    if not isinstance(run, Run):
        run = load(run)
    how: dict[str, Any] = {
        "preset": preset,
        "protocol": protocol,
        "seeds": seeds,
        "nulls": nulls,
        "continuous": continuous,
        "missing": missing,
        "groups": groups,
        "components": components,
    }
    encoded = encode_run(run, part=part, continuous=continuous, missing=missing)
    scores = _of_run(run, metrics, encoded, part, how)
    for name, value in encoded.terms.items():
        unit = f"nats, mean over {len(encoded.codes):,} images"
        scores[name] = Score(name, value, unit, higher_is_better=name == "elbo")
    if run.folder is not None:
        scores.kept = run.folder.add_scores(
            scores_to_json(scores), step=run.step, preliminary=preset == "fast", part=part
        )
    return scores


def _of_run(
    run: Run,
    metrics: str | Sequence[str],
    encoded: "Encoded | None",
    part: str,
    how: dict[str, Any],
) -> "Scores":
    """Score the codes of a run, or of a part of its data."""
    from unweave.evaluation import remarks
    from unweave.evaluation.encode import encode_run
    from unweave.evaluation.score import score

    encoded = encoded or encode_run(run, continuous=how["continuous"], missing=how["missing"])
    scores = score(
        encoded.codes,
        encoded.factors if encoded.factor_names else None,
        metrics,
        posterior=encoded.posterior,
        prior=run.code_prior.name,
        factor_names=encoded.factor_names or None,
        **how,
    )
    every = len(run.data.part(part))
    for name, found in scores.items():
        scores[name] = remarks.with_notes(found, remarks.on_rows(found, len(encoded.codes), every))
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
    from unweave.evaluation.score import unscored
    from unweave.evaluation.score_model import score_model

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


def keep_card(run: Run) -> None:
    """Write the card of a run's folder."""
    from unweave.report.card import write_card  # on first use: it draws on all of the report

    write_card(run)
