"""A report in a paragraph."""

import numpy as np

from unweave import catalog, views
from unweave.errors import UnweaveError
from unweave.evaluation.baselines import TRUTH, Baselines
from unweave.report.making import effort_words, sittings_of
from unweave.report.score_sections import with_nulls
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views import CodeSample, HeatMap

KNOWN = 0.1  # share of a factor's entropy from which a latent is said to carry it
FIRST = ("mig", "dci", "sap")
"""Scores that a summary tells, as far as there are any."""
MOST_FACTORS = 8


def summary(model: Model, codes: CodeSample | None, baselines: Baselines) -> str:
    """Say what a model is, what it learnt, and how good that is."""
    parts = [_what(model), _latents(model, codes), _carried(model, codes)]
    return " ".join(part for part in [*parts, _scores(model, baselines)] if part)


def _what(model: Model) -> str:
    if not isinstance(model, Run):
        return f"{model.name} is a model of your own, with {model.latent_dim} latents."
    method = catalog.name_of(model.config.method)
    if not model.config.method.players:
        return f"{method} was fitted to {model.config.data}."
    effort = effort_words(sittings_of(model))
    done = "" if model.step >= model.config.steps else f" of {model.config.steps:,}"
    unfinished = "It is not finished. " if done else ""
    time = f", which took {effort}" if effort else ""
    return (
        f"{unfinished}{method} was trained on {model.config.data} for {model.step:,}{done} steps "
        f"of {model.config.batch_size} images{time}."
    )


def _latents(model: Model, codes: CodeSample | None) -> str:
    if codes is None:
        return ""
    view = views.kl_per_dimension(model, codes)
    active, all_of_them = int(view.active.sum()), len(view.active)
    nats = "" if view.kl is None else f", {view.kl.sum():.1f} nats together"
    return f"{active} of {all_of_them} latents carry something{nats}."


def _carried(model: Model, codes: CodeSample | None) -> str:
    """Say which latent carries each factor, by the heat map that the report shows."""
    if codes is None or not model.data.factor_list:
        return ""
    try:
        known = views.heat_map_of_scores(model, "mi", codes)
    except UnweaveError:
        return ""
    told, none = [], []
    for factor, line in list(zip(known.factors, known.values, strict=True))[:MOST_FACTORS]:
        best = int(line.argmax())
        if line[best] < KNOWN:
            none.append(factor)
            continue
        told.append(f"{factor} is carried by {known.latents[best]} ({line[best]:.2f}{_next(line)})")
    words = f"Of the factors, {'; '.join(told)}" if told else ""
    if none:
        words += f"{'; ' if words else 'Of the factors, '}{', '.join(none)} by none"
    if not words:
        return ""
    return f"{words} (share of the factor's entropy{_rows(known)})."


def _next(line: np.ndarray) -> str:
    rest = np.sort(line)[:-1]
    return f", the next {rest[-1]:.2f}" if len(rest) else ""


def _rows(known: HeatMap) -> str:
    return f", over {known.rows:,} images" if known.rows else ""


def _scores(model: Model, baselines: Baselines) -> str:
    scores = with_nulls(model.scores, baselines)
    told = []
    for name in FIRST:
        entry = scores.get(name)
        if entry is None or entry.get("value") is None:
            continue
        value = float(entry["value"])
        words = f"{name.upper()} is {value:.3f}"
        draws = [draw for of_kind in (entry.get("nulls") or {}).values() for draw in of_kind]
        others = baselines.values.get(name, {})
        best = max(((v, arm) for arm, v in others.items() if arm != TRUTH), default=None)
        if draws:
            words += f" (nulls reach {max(draws):.3f}"
            words += f"; the best baseline, {best[1]}, {best[0]:.3f}" if best else ""
            words += f"; ground truth {others[TRUTH]:.3f})" if TRUTH in others else ")"
        told.append(words)
    return f"{'; '.join(told)}." if told else "It is not scored."
