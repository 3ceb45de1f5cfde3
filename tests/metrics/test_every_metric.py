"""What holds for every metric: invariances, awkward tables, inputs left alone."""

import importlib.metadata
import inspect
import json
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unweave import catalog, metrics
from unweave.errors import DataError
from unweave.metrics import Score, _protocol

Table = NDArray[Any]
Metric = Callable[..., Score]

# Small draws keep hundreds of examples quick; the formulas are the same.
SMALL: dict[str, dict[str, Any]] = {
    "beta_vae_score": {"train_features": 150, "test_features": 100, "pairs": 8},
    "factor_vae_score": {"train_votes": 150, "test_votes": 100, "batch": 16},
    "factored_components": {"traversals": 32},
    "flatness": {"traversals": 16},
    "r_factor_vae_score": {"train_votes": 150, "test_votes": 100, "batch": 16},
    "sample_efficiency": {"few_rows": 20},
    "mig_sampled": {"samples": 100},
    "kl_decomposition": {"samples": 100},
}
TABLE_METRICS = [
    name
    for name in catalog.names("unweave.metrics")
    if catalog.load("unweave.metrics", name, "metric").NEEDS in ("codes and factors", "codes")
]
SLOW = {"dci", "sample_efficiency", "unfairness", "infomec"}
"""Metrics that fit many models; they get fewer examples."""

# How far a score may move when codes are reordered, flipped or scaled. Counting
# metrics see the same counts; fits and trees see the same data up to rounding and
# ties; LightGBM's thresholds between bins move when a code is flipped.
EXACT = 1e-9
SCALE_SENSITIVE = {
    "factored_components",
    "flatness",
    "irs",
    "sample_efficiency",
}
"""Metrics to which a code with a larger deviation than the others matters more."""


def run(name: str, codes: Table, factors: Table, **options: Any) -> Score:
    return getattr(metrics, name)(codes, factors, **{**SMALL.get(name, {}), **options})


def example(seed: int, rows: int = 90) -> tuple[Table, Table]:
    """Codes that hold two of three factors with noise, and one code of noise."""
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.integers(n, size=rows) for n in (2, 3, 4)], axis=1)
    codes = factors[:, [1, 2, 0, 0]] + 0.4 * rng.standard_normal((rows, 4))
    codes[:, 3] = rng.standard_normal(rows)
    return codes, factors


def examples(count: int) -> Any:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_order_of_codes_does_not_matter(name: str) -> None:
    @examples(2 if name in SLOW else 8)
    @given(st.integers(0, 10**6), st.permutations(range(4)))
    def holds(seed: int, order: list[int]) -> None:
        codes, factors = example(seed)
        before, after = run(name, codes, factors), run(name, codes[:, order], factors)
        assert after.value == pytest.approx(before.value, abs=tolerance(name))

    holds()


def tolerance(name: str) -> float:
    # Equal gains are broken by the order of the codes, which moves a tree's later splits.
    if name in ("dci", "unfairness", "sample_efficiency"):
        return 0.1
    # A support vector machine stops near its optimum, and a row may change its side.
    if name == "linear_separability":
        return 0.2
    # Random features look at the codes in their order.
    if name == "dci_es":
        return 0.1
    # Fits stop near, not at, the optimum; neighbours get a trace of noise per code.
    if name in ("infomec", "explicitness", "beta_vae_score"):
        return 0.03
    return EXACT


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_flipped_codes_score_the_same(name: str) -> None:
    @examples(2 if name in SLOW else 8)
    @given(st.integers(0, 10**6), st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4))
    def holds(seed: int, signs: list[float]) -> None:
        codes, factors = example(seed)
        before, after = run(name, codes, factors), run(name, codes * signs, factors)
        # A value on the border of two bins changes its bin when flipped.
        assert after.value == pytest.approx(before.value, abs=max(tolerance(name), 0.01))

    holds()


@pytest.mark.parametrize("name", sorted(set(TABLE_METRICS) - SCALE_SENSITIVE))
def test_scale_of_codes_does_not_matter(name: str) -> None:
    @examples(2 if name in SLOW else 8)
    @given(st.integers(0, 10**6), st.lists(st.integers(-8, 8), min_size=4, max_size=4))
    def holds(seed: int, powers: list[int]) -> None:
        if name == "infomec":  # codes with a twentieth of the largest range count as dead
            powers = [p % 4 for p in powers]
        codes, factors = example(seed)
        # Powers of two change no digit, so bins stay exactly the same.
        before = run(name, codes, factors)
        after = run(name, codes * 2.0 ** np.array(powers), factors)
        assert after.value == pytest.approx(before.value, abs=tolerance(name))

    holds()


@pytest.mark.parametrize("name", sorted(SCALE_SENSITIVE))
def test_a_common_scale_changes_nothing_either(name: str) -> None:
    codes, factors = example(1, rows=150)
    before = run(name, codes, factors).value
    after = run(name, 4 * codes, factors).value
    assert after == pytest.approx(before, abs=tolerance(name))


@pytest.mark.parametrize("name", ["mig", "mig_sup", "dcimig", "jemmig", "modularity", "irs", "mcc"])
def test_order_of_rows_does_not_matter(name: str) -> None:
    @examples(10)
    @given(st.integers(0, 10**6))
    def holds(seed: int) -> None:
        codes, factors = example(seed)
        order = np.random.default_rng(seed).permutation(len(codes))
        before, after = run(name, codes, factors), run(name, codes[order], factors[order])
        assert after.value == pytest.approx(before.value, abs=EXACT)

    holds()


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_seed_decides_everything_random(name: str) -> None:
    codes, factors = example(3)
    first, second = run(name, codes, factors, seed=5), run(name, codes, factors, seed=5)
    assert first.to_json() == second.to_json()


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_any_kind_of_table_gives_the_same_score(name: str) -> None:
    codes, factors = example(4)
    codes = codes.astype(np.float32)
    expected = run(name, codes, factors).value
    names = [f"c{i}" for i in range(4)]
    kinds = [
        (torch.tensor(codes, requires_grad=True), torch.tensor(factors)),
        (pd.DataFrame(codes, columns=names), pd.DataFrame(factors)),
        (pl.DataFrame(codes, schema=names), pl.DataFrame(factors)),
        (codes.tolist(), factors.tolist()),
    ]
    for kind in kinds:
        assert run(name, *kind).value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_inputs_are_left_alone(name: str) -> None:
    codes, factors = example(5)
    kept_codes, kept_factors = codes.copy(), factors.copy()
    codes.setflags(write=False)
    factors.setflags(write=False)
    run(name, codes, factors)
    np.testing.assert_array_equal(codes, kept_codes)
    np.testing.assert_array_equal(factors, kept_factors)


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_score_prints_and_turns_into_json(name: str) -> None:
    score = run(name, *example(6))
    assert score.metric == name
    plain = json.loads(json.dumps(score.to_json(), allow_nan=False))
    assert plain["value"] == score.value
    assert plain["protocol"] == score.protocol
    assert name in str(score)
    assert score.protocol in str(score)
    assert f"{score.value:.4f}" in str(score)


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_a_score_says_how_it_was_made(name: str) -> None:
    codes, factors = example(6)
    factors = np.concatenate([factors, np.zeros((len(factors), 1), int)], axis=1)
    score = run(name, codes, factors, seed=3)
    made = score.made
    assert made is not None
    assert (made.rows, made.codes, made.seed, made.seeds) == (len(codes), 4, 3, 1)
    assert made.version == importlib.metadata.version("unweave")
    parameters = inspect.signature(getattr(metrics, name)).parameters
    if "train_rows" in parameters:
        own_rows = name == "explicitness" and score.protocol == "ridgeway2018"
        assert own_rows or 0 < made.sizes["train_rows"] < len(codes)
    if name != "gaussian_total_correlation":
        assert made.dropped_factors == ("factor_3",)
    plain = score.to_json()["made"]
    assert plain["rows"] == len(codes)
    assert f"{len(codes)} rows × 4 codes" in str(score)


AWKWARD: dict[str, Callable[[Table, Table], tuple[Table, Table]]] = {
    "constant codes": lambda c, f: (np.zeros_like(c), f),
    "one constant code": lambda c, f: (np.concatenate([c, np.full((len(c), 1), 0.3)], 1), f),
    "equal codes": lambda c, f: (np.repeat(c[:, :1], 3, axis=1), f),
    "one code": lambda c, f: (c[:, :1], f),
    "one factor": lambda c, f: (c, f[:, :1]),
    "a factor with one value": lambda c, f: (c, np.concatenate([f, np.zeros((len(f), 1), int)], 1)),
    "every factor with one value": lambda c, f: (c, np.zeros_like(f)),
    "two rows": lambda c, f: (c[:2], np.array([[0, 1, 0], [1, 0, 1]])),
    "fewer rows than classes": lambda c, f: (c[:12], np.arange(36).reshape(12, 3) % 11),
    "a class for every row": lambda c, f: (c, np.stack([np.arange(len(c))] * 2, 1)),
    "codes equal to factors": lambda c, f: (f.astype(float), f),
    "tiny codes": lambda c, f: (c * 1e-200, f),
    "huge codes": lambda c, f: (c * 1e28, f),
    "far codes": lambda c, f: (c + 1e9, f),
    "continuous factors": lambda c, f: (c, f + 0.1 * np.random.default_rng(0).random(f.shape)),
    "two classes": lambda c, f: (c, f % 2),
    "rare class": lambda c, f: (
        c,
        np.concatenate([f[:, :1], (np.arange(len(f)) == 0)[:, None]], 1),
    ),
    "no rows": lambda c, f: (c[:0], f[:0]),
    "no codes": lambda c, f: (c[:, :0], f),
}


@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("name", TABLE_METRICS)
def test_awkward_tables_give_a_finite_score_or_a_clear_error(name: str, kind: str) -> None:
    codes, factors = AWKWARD[kind](*example(7))
    module = catalog.load("unweave.metrics", name, "metric")
    reasons: list[str] = []
    for protocol in module.PROTOCOLS:
        if protocol in ("do2020", "hsu2023_discrete") or (name, protocol) in (
            ("dci", "locatello2019"),
            ("dci", "locatello2019_exact"),  # the default, for tables as small as these
            ("sample_efficiency", "locatello2019_logistic"),
        ):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                score = run(name, codes, factors, protocol=protocol)
            except DataError as error:
                reasons.append(str(error))
                continue
        assert math.isfinite(score.value)
        json.dumps(score.to_json(), allow_nan=False)
    assert all(len(reason) > 20 for reason in reasons)


@pytest.mark.parametrize("name", TABLE_METRICS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_entries_that_are_not_finite_are_refused_with_their_place(name: str, bad: float) -> None:
    codes, factors = example(8)
    codes[17, 2] = bad
    with pytest.raises(DataError, match=r"row 17, column 2|beyond 1e\+30"):
        run(name, codes, factors)


@pytest.mark.parametrize("name", sorted(set(TABLE_METRICS) - {"gaussian_total_correlation"}))
def test_tables_that_do_not_match_are_refused(name: str) -> None:
    codes, factors = example(9)
    with pytest.raises(DataError, match="rows"):
        run(name, codes[:50], factors)
    with pytest.raises(DataError, match="dimensions"):
        run(name, codes[:, 0], factors)
    with pytest.raises(DataError, match="dimensions"):
        run(name, codes, factors[:, 0])
    spoiled = factors.astype(float)
    spoiled[3, 1] = np.nan
    with pytest.raises(DataError, match="finite"):
        run(name, codes, spoiled)


@pytest.mark.parametrize("name", catalog.names("unweave.metrics"))
def test_every_module_describes_itself(name: str) -> None:
    module = catalog.load("unweave.metrics", name, "metric")
    description = _protocol.describe(module)
    assert callable(getattr(module, name))
    assert inspect.unwrap(getattr(metrics, name)) is getattr(module, name)
    assert description["protocols"]
    assert "arXiv" in module.__doc__ or "ICLR" in module.__doc__
    codes, factors = example(0)
    tables: tuple[Any, ...] = (codes, factors)
    if description["needs"] == _protocol.SEVERAL_MODELS:
        tables = ([codes, codes],)
    elif description["needs"] == _protocol.TRAVERSALS:
        tables = (codes,)
    elif description["needs"] == _protocol.POSTERIOR:
        tables = (codes, codes, factors)
    with pytest.raises(ValueError, match="no protocol of"):
        getattr(module, name)(*tables, protocol="nobody1999")


def test_direction_of_a_score_is_that_of_its_module() -> None:
    codes, factors = example(10)
    for name in TABLE_METRICS:
        module = catalog.load("unweave.metrics", name, "metric")
        assert run(name, codes, factors).higher_is_better == module.HIGHER_IS_BETTER
