"""A report in a paragraph."""

from unweave import catalog, views
from unweave.evaluation.baselines import TRUTH, Baselines
from unweave.report.making import effort_words, sittings_of
from unweave.report.score_sections import with_nulls
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views import CodeSample

FIRST = ("mig", "dci", "sap")
"""Scores that a summary tells, as far as there are any."""


def summary(model: Model, codes: CodeSample | None, baselines: Baselines) -> str:
    """Say what a model is, what it learnt, and how good that is."""
    parts = [_what(model), _latents(model, codes), _scores(model, baselines)]
    return " ".join(part for part in parts if part)


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
    """Say how much the latents carry, and what, as the explorer does."""
    if codes is None:
        return ""
    view = views.kl_per_dimension(model, codes)
    nats = "" if view.kl is None else f", {view.kl.sum():.1f} nats together"
    carried = f"{int(view.active.sum())} of {len(view.active)} latents carry something{nats}"
    if not model.data.factor_list or not view.active.any():
        return f"{carried}."
    told = views.caption(model, codes)
    rows = f" (by mutual information, {told.rows:,} images)" if told.rows else ""
    return f"{carried}: {told.text.removesuffix('.')}{rows}."


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
