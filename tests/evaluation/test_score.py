"""Scoring many metrics at once."""

import json

import numpy as np
import pytest

from unweave.errors import ConfigError, DataError
from unweave.evaluation.plan import DEFAULT, choose_metrics
from unweave.evaluation.score import score
from unweave.evaluation.score_model import score_model
from unweave.metrics import mig

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(3, size=(400, 3))
CODES = FACTORS + 0.2 * RNG.standard_normal(FACTORS.shape)


def test_default_set_is_the_studys() -> None:
    scores = score(CODES, FACTORS, preset="fast")
    assert tuple(scores) == DEFAULT
    assert not scores.reasons
    assert all(0 <= result.value <= 1 for result in scores.values())


def test_a_metric_that_cannot_be_computed_keeps_the_others() -> None:
    scores = score(CODES[:, :1], FACTORS, ["mig", "modularity", "mcc"])
    assert set(scores) == {"modularity", "mcc"}
    assert "at least 2" in scores.reasons["mig"]
    assert "not scored" in str(scores)
    assert json.loads(json.dumps(scores.to_json()))["not_scored"]["mig"]


def test_metrics_are_chosen_by_name_or_by_set() -> None:
    assert choose_metrics("mig, sap") == ["mig", "sap"]
    assert "udr" in choose_metrics("all")
    with pytest.raises(ConfigError, match="Did you mean 'mig'"):
        score(CODES, FACTORS, ["mgi"])


def test_all_metrics_say_why_they_lack_a_posterior() -> None:
    scores = score(CODES, FACTORS, ["mig_sampled", "kl_decomposition", "udr"])
    assert not scores
    assert "posterior" in scores.reasons["mig_sampled"]
    assert "several models" in scores.reasons["udr"]


def test_posterior_metrics_are_scored_with_one() -> None:
    posterior = CODES, np.full(CODES.shape, -2.0)
    scores = score(
        CODES, FACTORS, ["mig_sampled", "kl_decomposition", "jemmig"], posterior=posterior
    )
    assert set(scores) == {"mig_sampled", "kl_decomposition", "jemmig"}
    authors = score(CODES, FACTORS, ["jemmig"], protocol="do2020", posterior=posterior)
    assert authors["jemmig"].protocol == "do2020"


def test_a_protocol_applies_to_the_metrics_that_know_it() -> None:
    scores = score(CODES, FACTORS, ["mig", "sap", "irs"], protocol="carbonneau2022")
    assert scores["mig"].protocol == "carbonneau2022"
    assert scores["sap"].protocol == "locatello2019_standardized"
    chosen = score(CODES, FACTORS, ["mig", "sap"], protocol={"sap": "kumar2018"})
    assert chosen["sap"].protocol == "kumar2018"


def test_a_protocol_keeps_the_sizes_it_is_published_with() -> None:
    def votes(**how: str) -> int:
        scores = score(CODES, FACTORS, ["factor_vae_score"], **how)
        return int(scores["factor_vae_score"].details["votes"].sum())

    assert votes() == 10_000
    assert votes(preset="fast") == 2_000
    assert votes(protocol="kim2018") == votes(protocol="kim2018", preset="fast") == 800
    only = score(CODES, FACTORS, ["r_factor_vae_score"])["r_factor_vae_score"]
    assert only.details["votes"].sum() == 800


def test_a_protocol_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'kumar2018'"):
        score(CODES, FACTORS, ["sap"], protocol="kumar2081")
    with pytest.raises(ConfigError, match="protocol of mig"):
        score(CODES, FACTORS, ["mig"], protocol={"mig": "kumar2018"})
    with pytest.raises(ConfigError, match="metric to set a protocol for"):
        score(CODES, FACTORS, ["mig"], protocol={"sap": "kumar2018"})


def test_several_seeds_give_a_mean_and_an_interval() -> None:
    noise = RNG.standard_normal(FACTORS.shape)
    result = score(noise, FACTORS, ["factor_vae_score"], preset="fast", seeds=4)["factor_vae_score"]
    values = result.details["value_per_seed"]
    low, high = result.details["interval"]
    assert len(set(values)) > 1
    assert result.value == pytest.approx(np.mean(values))
    assert low < result.value < high
    # Student's t with three degrees of freedom.
    assert high - result.value == pytest.approx(3.1824 * np.std(values, ddof=1) / 2, rel=1e-3)


def test_presets_limit_the_rows() -> None:
    codes = np.tile(CODES, (10, 1))
    factors = np.tile(FACTORS, (10, 1))
    full = score(codes, factors, ["mig"])["mig"].value
    assert full == mig(codes, factors).value
    fast = score(codes, factors, ["mig"], preset="fast")["mig"].value
    assert fast != full
    assert fast == pytest.approx(full, abs=0.05)


def test_names_of_factors_reach_the_details() -> None:
    names = ("shape", "scale", "colour")
    result = score(CODES, FACTORS, ["mig"], factor_names=names)["mig"]
    assert result.details["factor_names"] == names


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="preset"):
        score(CODES, FACTORS, preset="quick")
    with pytest.raises(ConfigError, match="seeds"):
        score(CODES, FACTORS, seeds=0)
    with pytest.raises(DataError, match="rows"):
        score(CODES[:10], FACTORS)


class Grid:
    """A full grid whose images are its factors."""

    factor_sizes = (3, 4, 5)
    factor_names = ("shape", "x", "y")
    grid = np.indices((3, 4, 5)).reshape(3, -1).T

    def __len__(self) -> int:
        return len(self.grid)

    def factors(self, rows):
        return self.grid[rows]

    def images(self, rows):
        return self.grid[rows].astype(np.float32)[:, :, None, None]

    def rows_of(self, factors):
        return np.ravel_multi_index(tuple(np.asarray(factors).T), self.factor_sizes)


def test_a_model_is_scored_on_a_data_set() -> None:
    def encode(images):
        return images[:, :, 0, 0]

    scores = score_model(encode, Grid(), ["mig", "factor_vae_score"], preset="fast")
    assert scores["mig"].value == pytest.approx(1)
    assert scores["mig"].details["factor_names"] == Grid.factor_names
    assert scores["factor_vae_score"].details["sampled_from"] == "rows of the table"
    paper = score_model(
        encode, Grid(), ["factor_vae_score"], preset="fast", sampler="paper", seeds=2
    )
    assert paper["factor_vae_score"].details["sampled_from"] == "full grid"
    assert paper["factor_vae_score"].value == pytest.approx(1)
    assert not any("no nulls" in note for note in paper["factor_vae_score"].notes)


def test_what_draws_images_says_that_it_has_no_nulls() -> None:
    def encode(images):
        return images[:, :, 0, 0]

    chosen = ["mig", "factor_vae_score"]
    found = score_model(
        encode, Grid(), chosen, preset="fast", sampler="paper", nulls=1, continuous=["x"]
    )
    assert not found["factor_vae_score"].nulls
    assert any("no nulls: they are made of rows" in n for n in found["factor_vae_score"].notes)
    assert any("which are continuous had no part" in n for n in found["factor_vae_score"].notes)
    assert found["mig"].made.continuous_factors == ("x",)
    assert found["mig"].nulls
    assert not any("no nulls" in note for note in found["mig"].notes)


def test_a_protocol_of_all_rows_says_when_some_were_not_encoded() -> None:
    class Larger(Grid):
        factor_sizes = (3, 40, 40)
        grid = np.indices((3, 40, 40)).reshape(3, -1).T

    def encode(images):
        return images[:, :, 0, 0]

    chosen = ["mig", "factor_vae_score"]
    found = score_model(encode, Larger(), chosen, preset="fast", protocol={"mig": "lin2020"})
    told = "3,000 of 4,800 rows were encoded, and lin2020 takes all there are"
    assert told in found["mig"].notes
    assert told not in found["factor_vae_score"].notes
    whole = score_model(encode, Grid(), ["mig"], preset="fast", protocol="lin2020")
    assert not whole["mig"].notes
