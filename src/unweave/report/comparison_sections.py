"""The comparison of several runs, as parts of a page."""

from typing import Any

from unweave.figures import comparisons
from unweave.pages import Html, section, table, tag
from unweave.pages.words import counted
from unweave.report.drawn import drawn
from unweave.views import Comparison, GroupScore, by_chance

MOST_TOLD = 6  # settings that a summary names
FEWEST_SEEDS = 6
"""Fewer differences have no sign-flip test below 5 %: all their signs alike happen more often."""


def sections(comparison: Comparison) -> Html:
    """Return scores by setting, trade-offs and agreement of metrics."""
    notes = [tag("li", note) for note in comparison.notes]
    return section(
        "Comparison",
        tag("ul", notes, class_="warnings") if notes else None,
        _means(comparison),
        drawn(
            lambda: comparisons.scores_by_method(comparison),
            "A point per run, a bar at the mean of a setting's seeds.",
            "scores by method",
        ),
        drawn(
            lambda: comparisons.bound_against_mig(comparison),
            "What disentanglement costs in fidelity: MIG against the evidence bound of the last "
            "evaluation. Up and to the right is better.",
            "trade-off of bound and MIG",
        ),
        drawn(
            lambda: comparisons.mig_against_correlation(comparison),
            "MIG against the total correlation of the codes, as if they were Gaussian. "
            "Uncorrelated codes need not be disentangled.",
            "MIG against total correlation",
        ),
        drawn(
            lambda: comparisons.rank_agreement(comparison),
            "Whether two metrics order the runs alike: 1 is the same order, -1 the reverse. "
            f"All are turned so that higher is better. {by_chance(len(comparison.runs))}",
            "rank agreement of metrics",
        ),
        _runs(comparison),
    )


def summary(comparison: Comparison) -> str:
    """Say what is compared, which setting is ahead, and how far to trust that."""
    counts = {group: sum(r.group == group for r in comparison.runs) for group in comparison.groups}
    data = ", ".join(dict.fromkeys(row.data for row in comparison.runs))
    runs = ", ".join(f"{group} ({count})" for group, count in counts.items())
    words = [f"{counted(len(comparison.runs), 'run')} on {data}: {runs}."]
    metric = next((m for m in ("mig", *comparison.metrics) if m in comparison.metrics), None)
    if metric is None:
        return " ".join([*words, "None of them is scored."])
    scores = sorted(
        (score for score in comparison.scores if score.metric == metric),
        key=lambda score: score.mean,
        reverse=comparison.higher_is_better[metric],
    )
    told = [f"{score.group} {_mean(score)}" for score in scores[:MOST_TOLD]]
    words.append(f"By {metric}, the best first: {'; '.join(told)}.")
    seeds = min(len(score.values) for score in scores)
    if len(scores) > 1 and seeds < FEWEST_SEEDS:
        words.append(
            f"With {counted(seeds, 'seed')} of a setting no test of the differences, seed by "
            f"seed, reaches 5 %: that takes {FEWEST_SEEDS}."
        )
    missing = [group for group in comparison.groups if group not in {s.group for s in scores}]
    if missing:
        words.append(f"Without {metric}: {', '.join(missing)}.")
    return " ".join(words)


def _mean(score: GroupScore) -> str:
    if score.deviation is None:
        return f"{score.mean:.3f} (1 seed)"
    return f"{score.mean:.3f} ± {score.deviation:.3f} ({len(score.values)} seeds)"


def _means(comparison: Comparison) -> Html:
    if not comparison.metrics:
        return tag("p", "None of the runs is scored: unweave evaluate RUN")
    found = {(score.group, score.metric): score for score in comparison.scores}
    lines = []
    for group in comparison.groups:
        line: list[Any] = [
            group,
            str(sum(row.group == group for row in comparison.runs)),
        ]
        for metric in comparison.metrics:
            score = found.get((group, metric))
            if score is None:
                line.append("–")
            elif score.deviation is None:
                line.append(f"{score.mean:.3f} (1)")
            else:
                line.append(f"{score.mean:.3f} ± {score.deviation:.3f}")
        lines.append(line)
    header = ["setting", "runs", *[_directed(comparison, m) for m in comparison.metrics]]
    title = "Scores by setting: mean ± standard deviation over seeds; (1) is a single one."
    return table(header, lines, title=title)


def _directed(comparison: Comparison, metric: str) -> str:
    """Name a metric, in words that may break, with an arrow to where it is better."""
    return metric.replace("_", " ") + (" ↑" if comparison.higher_is_better[metric] else " ↓")


def _runs(comparison: Comparison) -> Html:
    lines = [
        [
            row.name,
            row.group,
            row.data,
            str(row.seed),
            f"{row.step:,}",
            row.state,
            "–" if row.elbo is None else f"{row.elbo:.1f}",
            "–" if row.total_correlation is None else f"{row.total_correlation:.2f}",
            *[f"{row.scores[m]:.3f}" if m in row.scores else "–" for m in comparison.metrics],
        ]
        for row in comparison.runs
    ]
    header = ["run", "setting", "data", "seed", "step", "state", "ELBO", "TC"]
    header += [_directed(comparison, metric) for metric in comparison.metrics]
    return section("Runs", table(header, lines, title="Every run"), level=3)
