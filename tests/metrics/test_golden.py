"""Our scores against those of reference implementations.

`golden_values.json` holds, for each standard representation, the number a public
implementation gave, with its parameters and the tolerance: 0.01 plus twice the
deviation over seeds for information, SAP and lasso, 0.03 plus twice the deviation for
votes and classifiers, 0.05 for tree importances. Our rows are drawn from another seed.
A value of null is where the source gave nothing finite; ours must.

Each number of a source is a mean over three seeds. What pure noise or few drawn latents
seem to know differs from draw to draw, so there ours is a mean (or median) over `draws`
as well.

`options` and `rows` are those of the source. Tests run smaller where that is as good;
`make acceptance` runs all of them at the source's size.
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

STORED = json.loads((Path(__file__).parent / "golden_values.json").read_text(encoding="utf-8"))
DEVIATION = {"post_perfect": 0.05, "post_noisy": 0.5}
SEED = 7
SUMMARIES = {"mean": np.mean, "median": np.median}
TRANSFORMS = {
    "same": lambda score: score,
    "one_minus": lambda score: 1 - score,
    "twice_minus_one": lambda score: 2 * score - 1,
}

Group = tuple[str, str, str, int, int]
"""Representation, metric, options as JSON, rows, draws."""


def grouped() -> dict[Group, list[dict[str, Any]]]:
    """Group the stored values by the score that they are compared with."""
    groups: dict[Group, list[dict[str, Any]]] = {}
    for row in STORED["compared"]:
        options = json.dumps(row["options"], sort_keys=True)
        group = row["representation"], row["metric"], options, row["rows"], row["draws"]
        groups.setdefault(group, []).append(row)
    return groups


GROUPS = grouped()

SECONDS_EACH = {"dci", "explicitness", "infomec", "mig_sampled", "sample_efficiency"}
"""Outside `make acceptance` these are compared for few representations."""

SMALLER: dict[str, dict[str, int]] = {
    "beta_vae_score": {"train_features": 2500, "test_features": 2500},
    "explicitness": {"train_rows": 5000, "test_rows": 2500},
    "infomec": {"rows": 4000},
}


def is_quick(group: Group) -> bool:
    name, metric, options, _, _ = group
    protocol = json.loads(options).get("protocol")
    lasso = metric == "dci" and protocol in ("eastwood2018", "carbonneau2022")
    return metric not in SECONDS_EACH or lasso or protocol == "do2020" or name == "merged"


@functools.lru_cache(maxsize=4)
def standard(name: str, rows: int, seed: int = SEED) -> Any:
    return representation(name, rows, seed)


def models(name: str, seed: int = SEED) -> list[Any]:
    """Four models' codes: permuted copies, with or without noise."""
    rng = np.random.default_rng(seed)
    codes = standard("perfect", 15_000, seed).codes
    noise = 0.3 if name == "udr_permuted_noisy" else 0.0
    return [
        (codes + noise * rng.standard_normal(codes.shape))[:, rng.permutation(5)] for _ in range(4)
    ]


def our_score(name: str, metric: str, options: dict[str, Any], rows: int, seed: int) -> Score:
    function = getattr(metrics, metric)
    if metric == "udr":
        return function(models(name, seed), **options)
    if name in DEVIATION:
        given = posterior(DEVIATION[name])
        if metric == "jemmig":
            return function(given.mean, given.factors, logvar=given.logvar, **options)
        return function(given.mean, given.logvar, given.factors, seed=seed, **options)
    table = standard(name, rows, seed)
    codes, factors = table.codes, table.factors
    bins = options.pop("binned_by_caller", None)
    if bins:  # this source cuts codes and factors into bins before it scores them
        codes = np.stack([bin_equal_width(c, bins) + 1 for c in codes.T], axis=1)
        factors = np.stack([bin_equal_width(f, bins) for f in factors.T], axis=1)
    return function(codes, factors, **options)


def compared(score: Score, row: dict[str, Any]) -> float:
    detail, _, index = row["compare"].partition(".")
    if detail == "value":
        found = score.value
    elif detail == "codes":
        found = float(len(score.details["active_codes"]))
    elif detail == "active_codes":
        found = float(score.details["active_codes"].sum())
    elif index:
        found = float(score.details[detail][int(index)])
    else:
        found = float(np.mean(score.details[detail]))
    return float(TRANSFORMS[row["transform"]](found))


def check(group: Group, smaller: dict[str, int]) -> None:
    name, metric, options, rows, draws = group
    settings = json.loads(options) | smaller
    scores = [our_score(name, metric, dict(settings), rows, SEED + draw) for draw in range(draws)]
    for row in GROUPS[group]:
        found = SUMMARIES[row["summary"]]([compared(score, row) for score in scores])
        if row["value"] is None:
            assert np.isfinite(found), (row, found)
        else:
            assert abs(found - row["value"]) <= row["tolerance"], (row, found)


def words(group: Group) -> str:
    name, metric, options, _, _ = group
    return f"{name}-{metric}-{options}"


@pytest.mark.parametrize("group", [group for group in GROUPS if is_quick(group)], ids=words)
def test_score_is_that_of_the_reference(group: Group) -> None:
    check(group, SMALLER.get(group[1], {}))


@pytest.mark.acceptance
@pytest.mark.parametrize("group", GROUPS, ids=words)
def test_score_is_that_of_the_reference_at_its_size(group: Group) -> None:
    check(group, {})


def test_every_value_left_out_has_a_reason() -> None:
    assert all(row["reason"] not in (None, "", "UNMAPPED") for row in STORED["not_compared"])


def test_every_standard_representation_is_compared() -> None:
    assert set(NAMES) <= {row["representation"] for row in STORED["compared"]}


def test_rotated_models_agree_less_than_permuted_ones() -> None:
    rng = np.random.default_rng(0)
    codes = standard("perfect", 1_000).codes
    # The source's rotations are not known, but its four models must look like ours.
    source = {"lasso": 0.34028, "spearman": 0.3321}
    for protocol, value in source.items():
        turned = [
            metrics.udr(
                [codes @ np.linalg.qr(rng.standard_normal((5, 5)))[0] for _ in range(4)],
                protocol=protocol,
            ).value
            for _ in range(12)
        ]
        assert abs(np.mean(turned) - value) <= 2 * np.std(turned)
        assert max(turned) < metrics.udr(models("udr_permuted_noisy"), protocol=protocol).value


@pytest.mark.parametrize("metric", ["dci", "explicitness", "modularity", "mig", "mig_sup"])
def test_a_dead_code_gives_a_score_where_references_fail(metric: str) -> None:
    dead, perfect = standard("dead", 15_000), standard("perfect", 15_000)
    options = {"train_rows": 1000, "test_rows": 500} if metric in ("dci", "explicitness") else {}
    function = getattr(metrics, metric)
    found = function(dead.codes, dead.factors, **options).value
    expected = function(perfect.codes, perfect.factors, **options).value
    # The study counts a dead code as not modular: five of six codes score.
    assert found == pytest.approx(expected * (5 / 6 if metric == "modularity" else 1), abs=0.01)
