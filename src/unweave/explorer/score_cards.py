"""A run's scores among others: baselines, nulls and all runs with the same data and protocol."""

import logging
from typing import Any

import numpy as np

from unweave.errors import UnweaveError
from unweave.evaluation.baselines import (
    COMPONENTS,
    FILE,
    PIXELS,
    TRUTH,
    UNTRAINED,
    Baselines,
    baselines_of,
)
from unweave.explorer.open_runs import Library
from unweave.explorer.run_list import run_line
from unweave.metrics import is_above_nulls, protocol_words

log = logging.getLogger(__name__)

BASELINES = ("ground_truth", "pca", "ica", "pixels", "untrained_vae")
"""Methods whose scores say what a score of a learnt code is worth."""
METHODS = {
    COMPONENTS: "pca",
    PIXELS: "pixels",
    TRUTH: "ground_truth",
    UNTRAINED: "untrained_vae",
}
"""Methods that are what a report calls a baseline; one that was trained here opens by a click."""
MOST_OTHERS = 200  # runs beside one, as dots


def score_cards(library: Library, name: str) -> dict[str, Any]:
    """Return each score of a run with what it is to be compared with."""
    folder = library.folder(name)
    config, _ = folder.read_config()
    with library.listing:
        lines = [run_line(library, other) for other in library.names() if other != name]
    alike = [line for line in lines if line.get("data") == config.data]
    kept = _kept_baselines(library, name)
    missing = [
        method
        for method in BASELINES
        if not kept.values
        and not any(line["method"] == method and line["scores"] for line in alike)
    ]
    return {
        "cards": [
            _card(metric, entry, alike, kept)
            for metric, entry in folder.scores().items()
            if entry["value"] is not None
        ],
        "missing_baselines": missing,
        "data": config.data,
    }


def _kept_baselines(library: Library, name: str) -> Baselines:
    """Return what a report found beside the scores of a run, if one was written."""
    if not (library.folder(name).path / FILE).is_file():
        return Baselines()
    try:
        return baselines_of(library.open(name).run, make=False)
    except UnweaveError as error:  # its data is not here, or not opened yet
        log.info("no baselines: %s", error)
        return Baselines()


def _card(
    metric: str, entry: dict[str, Any], alike: list[dict[str, Any]], kept: Baselines
) -> dict[str, Any]:
    protocol = protocol_words(entry)
    others = [
        {
            "run": line["name"],
            "method": line["method"],
            "value": line["scores"][metric]["value"],
            "is_baseline": line["method"] in BASELINES,
        }
        for line in alike
        if metric in line["scores"] and line["scores"][metric]["protocol"] == protocol
    ]
    trained = {other["method"] for other in others}
    others += [
        {"run": None, "method": arm, "value": value, "is_baseline": True}
        for arm, value in kept.values.get(metric, {}).items()
        if METHODS.get(arm) not in trained
    ]
    others.sort(key=lambda other: not other["is_baseline"])
    nulls = entry.get("nulls") or kept.nulls.get(metric, {})
    made = entry.get("made") or {}
    return {
        "metric": metric,
        "value": entry["value"],
        "higher_is_better": entry.get("higher_is_better", True),
        "protocol": protocol,
        "rows": made.get("rows"),
        "chance": entry.get("chance"),
        "interval": (entry.get("details") or {}).get("interval"),
        "parts": entry.get("parts") or {},
        "nulls": {
            null: {
                "mean": float(np.mean(draws)),
                "draws": list(draws),
                "is_beaten": is_above_nulls(entry | {"nulls": {null: draws}}),
            }
            for null, draws in nulls.items()
            if draws
        },
        "is_above_nulls": is_above_nulls(entry | {"nulls": nulls}),
        "others": others[:MOST_OTHERS],
    }
