"""What scores are called on a page, and by which protocol they were made."""

import inspect
import re
from collections.abc import Mapping, Sequence

from unweave import catalog
from unweave.evaluation.measures import measure_named
from unweave.studies.define.study import Study

HEADS = {"kl_decomposition": "total correlation, nats"}
"""Of scores whose name says how they are computed, what they are."""


def headed(metric: str) -> str:
    """Return what stands above a column of a score."""
    return HEADS.get(metric, metric)


def protocol_of(study: Study, metric: str) -> str:
    """Return the protocol that a study scores by, or nothing of a measure that has none."""
    if "@" in metric:
        return metric.partition("@")[2]
    of_few = re.fullmatch(r"(\w+)_of_\d+_labels", metric)
    if of_few is None and measure_named(metric) is not None:
        return ""
    name = of_few[1] if of_few else metric
    module = catalog.load("unweave.metrics", name, "metric")
    chosen = study.protocol
    if isinstance(chosen, Mapping):
        chosen = chosen.get(metric)
    if of_few is None and chosen in module.PROTOCOLS:
        return str(chosen)
    default = inspect.signature(getattr(module, name)).parameters.get("protocol")
    return "" if default is None or default.default is default.empty else str(default.default)


def protocols_in_words(study: Study, metrics: Sequence[str]) -> str:
    """Say by which protocols scores were made, those of one protocol together."""
    of: dict[str, list[str]] = {}
    for metric in metrics:
        if "@" not in metric and (protocol := protocol_of(study, metric)):
            head = headed(metric)
            named = metric if head == metric else f"{metric} ({head})"
            of.setdefault(protocol, []).append(named)
    said = [f"{', '.join(names)} by `{protocol}`" for protocol, names in of.items()]
    return f"Protocols: {'; '.join(said)}." if said else ""


def in_a_name(words: str) -> str:
    """Return words as they may stand in the name of a file."""
    return "".join(c if c.isalnum() else "-" for c in words)
