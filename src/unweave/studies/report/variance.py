"""The section on how much of the variance of scores method, setting and seed explain."""

import math
from collections.abc import Iterator, Mapping

from unweave.studies.define.study import Study
from unweave.studies.report import plots
from unweave.studies.report.blocks import Block, Cells, Heading, Plot, Text
from unweave.studies.report.naming import headed, in_a_name
from unweave.studies.report.statistics import Explained, variance_explained
from unweave.studies.report.table import StudyTable

HEADER = ("metric", "method", "setting", "seed", "method, adjusted", "setting, adjusted", "runs")


def variance(study: Study, done: StudyTable) -> Iterator[Block]:
    """Say how much method, setting and seed explain, of each data set by itself.

    Over several together a set that is harder than another would pass for a setting.
    """
    sources = list(dict.fromkeys(row["data"] for row in done.rows))
    known = {source: _shares(done.where(data=source)) for source in sources}
    known = {source: shares for source, shares in known.items() if shares}
    if not known:
        return
    yield Heading("Where the variance comes from")
    for source, shares in known.items():
        where = f" on {source}" if len(sources) > 1 else ""
        if where:
            yield Text(f"On {source}:")
        yield Cells(HEADER, _lines(shares), f"Shares of the variance of each score{where}")
        left_out = _without(study, done.where(data=source))
        if left_out:
            yield Text(f"The same without {', '.join(study.variance_without)}:")
            yield Cells(HEADER, _lines(left_out), f"Shares of the variance of the rest{where}")
        published = study.published_variance.get(source, {})
        if published:
            yield from _beside(study, published, shares, left_out, where)
        name = f"variance-{in_a_name(source)}" if where else "variance"
        yield Plot(name, plots.variance_bars(shares), f"Variance explained{where}")
    yield Text(
        "Setting: what the settings add within methods. Adjusted shares take off what group "
        "means explain of pure noise."
    )


def _shares(rows: StudyTable) -> dict[str, Explained]:
    """Return the shares of every score of which there are some."""
    arms, methods = [r["arm"] for r in rows.rows], [r["method"] for r in rows.rows]
    if len(set(arms)) < 2:
        return {}
    shares = {m: variance_explained(rows.column(m), methods, arms) for m in rows.metrics}
    return {metric: share for metric, share in shares.items() if share is not None}


def _without(study: Study, rows: StudyTable) -> dict[str, Explained]:
    """Return the shares without the methods that a study wants to see left out as well."""
    if not study.variance_without:
        return {}
    rest = [row for row in rows.rows if row["method"] not in study.variance_without]
    return _shares(StudyTable(rest, rows.settings, rows.metrics))


def _lines(shares: Mapping[str, Explained]) -> list[list[str]]:
    return [
        [
            headed(metric),
            _percent(share.method),
            _percent(share.setting),
            _percent(share.seed),
            _percent(share.method_adjusted),
            _percent(share.setting_adjusted),
            str(share.runs),
        ]
        for metric, share in shares.items()
    ]


def _beside(
    study: Study,
    published: Mapping[str, tuple[float, float]],
    shares: Mapping[str, Explained],
    left_out: Mapping[str, Explained],
    where: str,
) -> Iterator[Block]:
    """Put the shares that a paper found beside ours, and beside those without some methods."""
    tables = [("ours", shares)]
    if left_out:
        tables.append((f"without {', '.join(study.variance_without)}", left_out))
    heads = [head for head, _ in tables]
    lines = []
    for metric, (method, both) in published.items():
        found = [table.get(metric) for _, table in tables]
        by_method = ["–" if s is None else _percent(s.method) for s in found]
        by_both = ["–" if s is None else _percent(s.method + s.setting) for s in found]
        lines.append([headed(metric), _percent(method), *by_method, _percent(both), *by_both])
    header = ["metric", "method, published", *heads, "method and setting, published", *heads]
    yield Cells(header, lines, f"Shares of the variance{where}, published and ours")


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.0f} %"
