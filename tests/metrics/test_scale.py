"""What the unit of the codes does to a score, and that a score says so."""

import numpy as np
import pytest
from representations import representation

from unweave import metrics
from unweave.evaluation.plan import DEFAULT
from unweave.evaluation.score import score

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(5, size=(2_000, 4))


def unit_norm_codes() -> np.ndarray:
    """Every factor as an angle in 128 codes: rows have length 1, codes deviations near 0.03."""
    angles = np.repeat(FACTORS * np.pi / 5, 64, axis=1)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / 16


@pytest.mark.parametrize("metric", ["factor_vae_score", "beta_vae_score"])
def test_codes_of_unit_norm_are_scored_as_if_they_were_longer(metric: str) -> None:
    codes = unit_norm_codes()[:, :: 1 if metric == "factor_vae_score" else 8]
    sizes = {
        "factor_vae_score": {"train_votes": 500, "test_votes": 500},
        "beta_vae_score": {"train_features": 500, "test_features": 500},
    }[metric]
    function = getattr(metrics, metric)
    short = function(codes, FACTORS, **sizes)
    long = function(codes * np.sqrt(512), FACTORS, **sizes)
    assert short.value == pytest.approx(long.value, abs=1e-9)
    assert short.value > 0.99
    assert short.made.standardized
    assert not short.remarks


def test_a_study_that_drops_short_codes_says_that_it_did() -> None:
    codes = unit_norm_codes()
    sizes = {"train_votes": 500, "test_votes": 500}
    dropped = metrics.factor_vae_score(codes, FACTORS, protocol="locatello2019", **sizes)
    assert dropped.value == 0.0
    assert dropped.made.dropped_codes == tuple(range(512))
    assert dropped.remarks[0] == "worse than chance, 0.250"
    assert dropped.remarks[1].startswith("512 of 512 codes left out: 0, 1, 2")
    assert dropped.remarks == tuple(dropped.to_json()["notes"])
    assert "worse than chance" in str(dropped)
    longer = metrics.factor_vae_score(
        codes * np.sqrt(512), FACTORS, protocol="locatello2019", **sizes
    )
    assert longer.value > 0.99
    assert not longer.remarks


def test_a_value_below_chance_is_never_printed_alone() -> None:
    for rescaled in ("locatello2019", "carbonneau2022"):
        tiny = metrics.factor_vae_score(1e-3 * RNG.random((2_000, 3)), FACTORS, protocol=rescaled)
        assert tiny.value < tiny.chance
        assert "worse than chance" in str(tiny)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_machines_of_sap_see_codes_of_one_scale(scale: float) -> None:
    perfect = representation("perfect_affine", 3_000)
    found = metrics.sap(scale * perfect.codes, perfect.factors)
    plain = representation("perfect", 3_000)
    of_unit_scale = metrics.sap(plain.codes, plain.factors, protocol="locatello2019")
    assert found.value == pytest.approx(of_unit_scale.value, abs=0.01)
    assert found.made.standardized
    raw = metrics.sap(scale * perfect.codes, perfect.factors, protocol="locatello2019")
    assert not raw.made.standardized
    if scale == 1e-3:
        assert raw.value < 0.1


def test_no_default_score_depends_on_the_unit_of_a_code() -> None:
    given = representation("noisy_0.3", 600, sizes=(3, 4, 5, 4, 4))
    units = np.array([1e-4, 1.0, 1e3, 0.01, 50.0])
    before = score(given.codes, given.factors, preset="fast")
    after = score(given.codes * units, given.factors, preset="fast")
    assert tuple(before) == DEFAULT
    for name in DEFAULT:
        assert after[name].value == pytest.approx(before[name].value, abs=0.01), name
