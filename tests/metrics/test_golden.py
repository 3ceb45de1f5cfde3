"""Our scores against those of reference implementations.

`golden_values.json` holds, for each standard representation, the number a public
implementation gave, with its parameters and the tolerance: 0.01 plus twice the
deviation over seeds for information, SAP and lasso, 0.03 plus twice the deviation for
votes and classifiers, 0.05 for tree importances. Our rows are drawn from another seed.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from representations import NAMES, posterior, representation

from unweave import metrics
from unweave.metrics import Score
from unweave.tables import bin_equal_width

STORED = json.loads((Path(__file__).parent / "golden_values.json").read_text())
ROWS = 15_000
DEVIATION = {"post_perfect": 0.05, "post_noisy": 0.5}


def grouped() -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Group the stored values by the score that they are compared with."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in STORED["compared"]:
        options = json.dumps(row["options"], sort_keys=True)
        groups.setdefault((row["representation"], row["metric"], options), []).append(row)
    return groups


GROUPS = grouped()


# What pure noise seems to know differs from draw to draw; these are cheap enough to
# average over several.
AVERAGED = {"modularity": 8}


@functools.cache
def standard(name: str, seed: int = 7) -> Any:
    return representation(name, ROWS, seed)


def models(name: str) -> list[Any]:
    """Four models' codes: permuted copies, with or without noise."""
    rng = np.random.default_rng(3)
    codes = standard("perfect").codes
    noise = 0.3 if name == "udr_permuted_noisy" else 0.0
    return [
        (codes + noise * rng.standard_normal(codes.shape))[:, rng.permutation(5)] for _ in range(4)
    ]


def our_score(name: str, metric: str, options: dict[str, Any], seed: int) -> Score:
    function = getattr(metrics, metric)
    if metric == "udr":
        return function(models(name), **options)
    if name in DEVIATION:
        given = posterior(DEVIATION[name])
        if metric == "jemmig":
            return function(given.mean, given.factors, logvar=given.logvar, **options)
        return function(given.mean, given.logvar, given.factors, **options)
    codes, factors = standard(name, seed).codes, standard(name, seed).factors
    if metric in AVERAGED:  # information of noise falls with the number of rows
        codes, factors = codes[:10_000], factors[:10_000]
    bins = options.pop("binned_by_caller", None)
    if bins:  # this source cuts codes and factors into bins before it scores them
        codes = np.stack([bin_equal_width(c, bins) + 1 for c in codes.T], axis=1)
        factors = np.stack([bin_equal_width(f, bins) for f in factors.T], axis=1)
    return function(codes, factors, **options)


def compared(score: Score, row: dict[str, Any]) -> float:
    if row["compare"] == "value":
        found = score.value
    elif row["compare"] == "active_codes":
        found = float(score.details["active_codes"].sum())
    else:
        found = float(np.mean(score.details[row["compare"]]))
    return 1 - found if row["one_minus"] else found


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(group))
def test_score_is_that_of_the_reference(group: tuple[str, str, str]) -> None:
    name, metric, options = group
    draws = AVERAGED.get(metric, 1) if name in ("noise", "kminus1") else 1
    scores = [our_score(name, metric, json.loads(options), 7 + draw) for draw in range(draws)]
    for row in GROUPS[group]:
        found = np.mean([compared(score, row) for score in scores])
        assert abs(found - row["value"]) <= row["tolerance"], (row, found)


def test_every_value_left_out_has_a_reason() -> None:
    assert all(row["reason"] not in (None, "", "UNMAPPED") for row in STORED["not_compared"])


def test_every_standard_representation_is_compared() -> None:
    assert set(NAMES) <= {row["representation"] for row in STORED["compared"]}


def test_rotated_models_agree_less_than_permuted_ones() -> None:
    rng = np.random.default_rng(0)
    codes = standard("perfect").codes
    turned = [codes @ np.linalg.qr(rng.standard_normal((5, 5)))[0] for _ in range(4)]
    for protocol in ("lasso", "spearman"):
        rotated = metrics.udr(turned, protocol=protocol).value
        assert rotated < 0.5
        assert rotated < metrics.udr(models("udr_permuted_noisy"), protocol=protocol).value


@pytest.mark.parametrize("metric", ["dci", "explicitness", "modularity", "mig", "mig_sup"])
def test_a_dead_code_gives_a_score_where_references_fail(metric: str) -> None:
    dead, perfect = standard("dead"), standard("perfect")
    options = {"train_rows": 1000, "test_rows": 500} if metric in ("dci", "explicitness") else {}
    function = getattr(metrics, metric)
    found = function(dead.codes, dead.factors, **options).value
    expected = function(perfect.codes, perfect.factors, **options).value
    # The study counts a dead code as not modular: five of six codes score.
    assert found == pytest.approx(expected * (5 / 6 if metric == "modularity" else 1), abs=0.01)
