"""An image with one factor changed: as the world renders it, and by the latent that carries it."""

from typing import Any

import numpy as np

from unweave import catalog, views
from unweave.editing import Finder
from unweave.editing.sources import in_words
from unweave.errors import ConfigError, DataError, UnweaveError
from unweave.evaluation.probes import ROWS, leakage
from unweave.explorer.open_runs import OpenRun

MOST_VALUES = 200  # of a factor that can be chosen from


def factors(opened: OpenRun) -> dict[str, Any]:
    """Return which factors of an image can be changed, and to which values."""
    data = opened.run.data
    changed = [
        {"name": factor.name, "labels": [_word(value) for value in _called(factor)]}
        for factor in data.factor_list
        if 2 <= factor.size <= MOST_VALUES
    ]
    return {"factors": changed if data.factor_list else []}


def counterfactual(opened: OpenRun, row: int, factor: str, value: int) -> dict[str, Any]:
    """Return the image that differs from a row in one factor, and what an edit would do instead.

    `code` is the row's with the latent that carries the factor put to where images of the new
    value have it on average: the edit is not told the image it is compared with.
    """
    run = opened.run
    data = run.data
    catalog.check_name(factor, data.factor_names, f"factor of {data.name}")
    column = data.factor_names.index(factor)
    changed = data.factor_list[column]
    if not 0 <= row < len(data):
        raise ConfigError(f"{data.name} has rows 0 to {len(data) - 1}, found {row}")
    if changed.continuous or not 0 <= value < changed.size:
        raise ConfigError(
            f"expected a value of {factor} from 0 to {changed.size - 1}, found {value}"
            if not changed.continuous
            else f"{factor} is an amount; only factors with listed values can be changed"
        )
    wanted = data.factors([row]).copy()
    wanted[0, column] = value
    try:
        other = int(data.rows_of(wanted)[0])
    except DataError as error:
        raise ConfigError(f"no image of {data.name} differs in {factor} alone: {error}") from None
    with opened.lock:
        codes = run.encode_rows(np.array([row, other]))
        found = {
            "row": row,
            "other": other,
            "picture": views.pictures_to_urls(data.images([other])[0]),
            "own_code": codes[0].tolist(),
            "other_code": codes[1].tolist(),
        }
        try:
            finder = Finder(run, opened.codes)
            target = finder.find(factor)
            called = str(_called(changed)[value])
            code = codes[0].copy()
            code[list(target.unit.dimensions)] = finder.code_at(target, called)
        except UnweaveError as error:
            return found | {"code": None, "evidence": str(error)}
    return found | {"code": code.tolist(), "evidence": target.evidence}


def leakage_of(opened: OpenRun) -> dict[str, Any]:
    """Return how well a class is read off content and off style; computed once a run."""
    with opened.lock:
        if opened.leakage is None:
            found = leakage(opened.run, rows=ROWS)
            opened.leakage = {
                "column": found.column,
                "chance": found.chance,
                "accuracy": dict(found.accuracy),
                "departs": {part: found.departs(part) for part in found.accuracy},
                "judged": found.judged,
                "words": str(found),
            }
        return opened.leakage


def _called(factor: Any) -> list[Any]:
    called: list[Any] = in_words(factor, np.arange(factor.size)).tolist()
    return called


def _word(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
