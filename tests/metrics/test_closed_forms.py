"""Scores that can be worked out by hand."""

import tracemalloc

import numpy as np
import pytest
from representations import full_grid, posterior, representation

from unweave import metrics
from unweave.code_prior import PRIORS
from unweave.errors import ConfigError, DataError
from unweave.metrics.kl_decomposition import stratified_log_weights
from unweave.metrics.mig_sampled import axis_alignment

GRID = full_grid((3, 4, 5))
EXACT = 1e-9


def test_codes_that_are_the_factors_of_a_grid_have_the_largest_gaps() -> None:
    codes = GRID.astype(float)
    for name in ("mig", "mig_sup", "modularity", "dcimig"):
        assert getattr(metrics, name)(codes, GRID).value == pytest.approx(1, abs=EXACT)


def test_twenty_bins_cannot_resolve_forty_values() -> None:
    perfect = representation("perfect", 10_000)
    assert metrics.mig(perfect.codes, perfect.factors).value == pytest.approx(0.896, abs=0.002)
    finer = metrics.mig(perfect.codes, perfect.factors, bins=40).value
    assert finer > 0.97


def test_a_second_copy_of_a_code_closes_the_gap() -> None:
    codes = np.concatenate([GRID, GRID], axis=1).astype(float)
    assert metrics.mig(codes, GRID).value == pytest.approx(0, abs=EXACT)
    assert metrics.sap(codes, GRID, protocol="kumar2018").value == pytest.approx(0, abs=EXACT)
    assert metrics.mig_sup(codes, GRID).value == pytest.approx(1, abs=EXACT)


def test_a_code_that_knows_two_factors_alike_is_not_modular() -> None:
    grid = full_grid((4, 4))
    merged = (grid[:, :1] * 4 + grid[:, 1:]).astype(float)
    assert metrics.modularity(merged, grid).value == pytest.approx(0, abs=EXACT)
    assert metrics.mig_sup(merged, grid).value == pytest.approx(0, abs=EXACT)


def test_jemmig_of_perfect_codes_misses_one_by_the_unused_bins() -> None:
    grid = full_grid((4, 4))
    # H(c, v) = H(v) = I, so the fraction is zero whatever the number of bins.
    assert metrics.jemmig(grid.astype(float), grid).value == pytest.approx(1, abs=EXACT)
    doubled = np.stack([grid[:, 0], grid[:, 0] * 4 + grid[:, 1]], axis=1).astype(float)
    gaps = metrics.jemmig(doubled, grid).details
    # Code 1 alone knows factor 1: H(c, v) - I = 2 log 4 - log 4.
    expected = 1 - np.log(4) / (np.log(4) + np.log(20))
    assert gaps["score_per_factor"][1] == pytest.approx(expected, abs=EXACT)


def test_a_code_that_follows_one_factor_is_robust() -> None:
    for protocol in ("suter2019", "locatello2019"):
        score = metrics.irs(GRID.astype(float), GRID, protocol=protocol)
        assert score.value == pytest.approx(1, abs=EXACT)
        assert score.details["parent"].tolist() == [0, 1, 2]


def test_importances_on_a_diagonal_are_disentangled_and_complete() -> None:
    codes = np.tile(GRID, (8, 1)).astype(float)
    factors = np.tile(GRID, (8, 1))
    for protocol in ("linear", "eastwood2018", "locatello2019_trees", "locatello2019"):
        score = metrics.dci(codes[:, [2, 0, 1]], factors, protocol=protocol)
        assert score.value == pytest.approx(1, abs=0.05)
        assert score.details["completeness"] == pytest.approx(1, abs=0.05)


def test_codes_turned_by_45_degrees_are_not_disentangled() -> None:
    grid = np.tile(full_grid((6, 6)), (20, 1))
    codes = (grid - 2.5) @ np.array([[1.0, -1.0], [1.0, 1.0]])
    score = metrics.dci(codes, grid, protocol="linear")
    assert score.value == pytest.approx(0, abs=1e-3)
    assert score.details["completeness"] == pytest.approx(0, abs=1e-3)
    assert score.details["informativeness"] == pytest.approx(1, abs=1e-6)


def test_equal_codes_share_their_importance_in_trees() -> None:
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(3, size=300), rng.integers(4, size=300)], axis=1)
    codes = np.concatenate([factors, -factors / 2.0], axis=1)
    importance = metrics.dci(codes, factors).details["importance"]
    np.testing.assert_allclose(importance[:2], importance[2:])
    completeness = metrics.dci(codes, factors).details["completeness"]
    assert completeness == pytest.approx(1 - np.log(2) / np.log(4), abs=1e-6)


def test_matching_assigns_each_factor_its_own_code() -> None:
    codes = -GRID[:, [1, 2, 0]].astype(float)
    score = metrics.mcc(codes, GRID)
    assert score.value == pytest.approx(1, abs=EXACT)
    assert score.details["assigned_code"].tolist() == [2, 0, 1]
    assert metrics.mcc(codes[:, :2], GRID).value == pytest.approx(2 / 3, abs=EXACT)


def test_rank_matching_ignores_monotone_distortion() -> None:
    codes = np.exp(3.0 * GRID)
    assert metrics.mcc(codes, GRID).value == pytest.approx(1, abs=EXACT)
    assert metrics.mcc(codes, GRID, protocol="hyvarinen2016").value < 0.95


def test_total_correlation_of_two_correlated_codes() -> None:
    rng = np.random.default_rng(0)
    first, noise = rng.standard_normal((2, 50_000))
    codes = np.stack([first, 0.6 * first + 0.8 * noise, 5 * rng.standard_normal(50_000)], axis=1)
    expected = -0.5 * np.log(1 - 0.36)
    score = metrics.gaussian_total_correlation(codes)
    assert score.value == pytest.approx(expected, abs=0.01)
    assert metrics.gaussian_total_correlation(codes[:, ::2]).value < 1e-3


def test_redundant_codes_have_a_large_but_finite_total_correlation() -> None:
    codes = np.random.default_rng(0).standard_normal((500, 2))
    score = metrics.gaussian_total_correlation(np.concatenate([codes, codes], axis=1))
    assert 25 < score.value < 30
    assert score.details["redundant_codes"] == 2


def test_parts_of_the_kl_sum_to_it() -> None:
    given = posterior(0.5)
    for estimator in ("exact", "stratified", "weighted"):
        score = metrics.kl_decomposition(
            given.mean[::9], given.logvar[::9], estimator=estimator, samples=256
        )
        parts = ("mutual_information", "total_correlation", "dimension_wise_kl")
        total = sum(score.details[part] for part in parts)
        assert total == pytest.approx(score.details["sampled_kl"], abs=1e-9)
        assert score.details["sampled_kl"] == pytest.approx(score.details["kl"], abs=0.5)


def test_kl_of_a_posterior_that_is_the_prior_is_zero_in_every_part() -> None:
    zeros = np.zeros((200, 3))
    details = metrics.kl_decomposition(zeros, zeros).details
    for part in ("mutual_information", "total_correlation", "dimension_wise_kl", "kl"):
        assert details[part] == pytest.approx(0, abs=1e-12)


def test_total_correlation_of_a_gaussian_aggregate_is_found() -> None:
    rng = np.random.default_rng(0)
    first, other = rng.standard_normal((2, 4000))
    mean = np.stack([first, 0.8 * first + 0.6 * other], axis=1)
    variance = 0.09
    score = metrics.kl_decomposition(mean, np.full(mean.shape, np.log(variance)), samples=1500)
    rho = 0.8 / (1 + variance)
    assert score.value == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.06)


def test_stratified_weights_add_up_to_the_data_set() -> None:
    weights = np.exp(stratified_log_weights(16, 1000))
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_allclose(np.diag(weights), 1 / 1000)


def test_sampled_gap_sees_the_encoders_noise() -> None:
    grid = np.tile(full_grid((4, 4)), (15, 1))
    mean = np.concatenate([grid, np.zeros((len(grid), 1))], axis=1).astype(float)
    sharp = np.full(mean.shape, -8.0)
    blurred = np.full(mean.shape, 6.0)
    assert metrics.mig_sampled(mean, sharp, grid).value == pytest.approx(1, abs=1e-3)
    assert metrics.mig_sampled(mean, blurred, grid).value == pytest.approx(0, abs=0.02)
    for protocol in ("chen2018_paired", "do2020"):
        nothing = metrics.mig_sampled(0 * mean, 0 * mean, grid, protocol=protocol)
        assert nothing.value == pytest.approx(0, abs=1e-9)


def test_latents_drawn_apart_understate_the_gap_of_perfect_codes() -> None:
    grid = np.tile(full_grid((4, 4)), (15, 1))
    mean = np.concatenate([grid, np.zeros((len(grid), 1))], axis=1).astype(float)
    sharp = np.full(mean.shape, -8.0)
    apart = [
        metrics.mig_sampled(mean, sharp, grid, protocol="chen2018", samples=50, seed=seed).value
        for seed in range(5)
    ]
    assert max(apart) < metrics.mig_sampled(mean, sharp, grid, samples=50).value
    assert 0.9 < np.mean(apart) < 0.99


def test_both_protocols_of_the_sampled_gap_agree() -> None:
    given = posterior(0.5)
    rows = np.arange(0, len(given.mean), 3)
    tables = given.mean[rows], given.logvar[rows], given.factors[rows]
    drawn = metrics.mig_sampled(*tables, samples=3000).value
    assert drawn == pytest.approx(metrics.mig_sampled(*tables, protocol="do2020").value, abs=0.02)


def test_jemmig_asks_for_log_variances_only_with_its_authors_protocol() -> None:
    with pytest.raises(ConfigError, match="do2020"):
        metrics.jemmig(GRID.astype(float), GRID, protocol="do2020")
    with pytest.raises(ConfigError, match="do2020"):
        metrics.jemmig(GRID.astype(float), GRID, logvar=GRID.astype(float))


def test_quantised_codes_are_scored_by_counting_in_infomec() -> None:
    grid = np.tile(GRID, (5, 1))
    score = metrics.infomec(grid.astype(float), grid, protocol="hsu2023_discrete")
    assert score.details["modularity"] == pytest.approx(1, abs=EXACT)
    assert score.details["compactness"] == pytest.approx(1, abs=EXACT)
    assert score.details["explicitness"] > 0.95


def test_udr_needs_two_models_of_the_same_rows() -> None:
    codes = np.random.default_rng(0).standard_normal((100, 3))
    with pytest.raises(DataError, match="at least 2"):
        metrics.udr([codes])
    with pytest.raises(DataError, match="same rows"):
        metrics.udr([codes, codes[:50]])


def test_udr_of_a_model_with_itself_is_shrunk_by_the_lasso_only() -> None:
    codes = np.random.default_rng(0).standard_normal((1000, 4))
    codes -= codes.mean(axis=0)
    codes = np.linalg.qr(codes)[0]
    assert metrics.udr([codes, -codes[:, ::-1]]).value == pytest.approx(0.9, abs=1e-6)
    assert metrics.udr([codes, codes], protocol="spearman").value > 0.9


def test_udr_leaves_out_codes_with_little_kl() -> None:
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((1000, 4))
    others = codes.copy()
    others[:, 3] = rng.standard_normal(1000)
    kl = np.array([1.0, 1.0, 1.0, 0.001])
    assert metrics.udr([codes, others], kls=[kl, kl]).value > metrics.udr([codes, others]).value
    with pytest.raises(DataError, match="KLs of shape"):
        metrics.udr([codes, others], kls=[kl[:2], kl])


def test_useless_codes_are_sample_efficient_but_inaccurate() -> None:
    noise, perfect = representation("noise", 1500), representation("perfect", 1500)
    useless = metrics.sample_efficiency(noise.codes, noise.factors[:, :2])
    useful = metrics.sample_efficiency(perfect.codes, perfect.factors[:, :2])
    assert useless.value > 0.8
    assert useless.details["accuracy_from_all"] < 0.4
    assert useful.details["accuracy_from_all"] > 0.99


def test_sample_efficiency_by_logistic_regression() -> None:
    perfect = representation("perfect", 900)
    score = metrics.sample_efficiency(
        perfect.codes, perfect.factors[:, :2], protocol="locatello2019_logistic", few_rows=50
    )
    assert score.details["accuracy_from_all_per_factor"][0] > 0.99
    assert 0.5 < score.value <= 1.05


def test_predictions_that_follow_the_sensitive_factor_are_unfair() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(4, size=2000)
    factors = np.stack([first, first, rng.integers(4, size=2000)], axis=1)
    distance = metrics.unfairness(factors.astype(float), factors).details["distance"]
    # Predictions of factor 0 are its twin's value: ½ Σ |δ - ¼| = ¾, less what chance gives.
    assert distance[0, 1] == pytest.approx(0.75, abs=0.1)
    assert distance[0, 2] < 0.03


def test_a_walk_along_one_code_is_flat_and_a_diagonal_one_is_not() -> None:
    assert metrics.flatness(GRID.astype(float), GRID).value == pytest.approx(1, abs=EXACT)
    twice = np.concatenate([GRID, GRID], axis=1).astype(float)
    score = metrics.flatness(twice, GRID)
    assert score.value == pytest.approx(np.sqrt(0.5), abs=EXACT)
    np.testing.assert_allclose(score.details["flatness_l2_per_factor"], 1)
    np.testing.assert_allclose(score.details["width_l1_per_factor"], [4, 6, 8])
    assert metrics.flatness(np.zeros(GRID.shape), GRID).value == 0


def test_a_circle_is_walked_without_the_step_that_closes_it() -> None:
    angles = np.arange(8)[:, None]
    codes = np.concatenate([np.sin(angles * np.pi / 4), np.cos(angles * np.pi / 4)], axis=1)
    details = metrics.flatness(codes, angles).details
    assert details["width_l2_per_factor"][0] == pytest.approx(2)
    assert details["length_l2_per_factor"][0] == pytest.approx(7 * 2 * np.sin(np.pi / 8))


def test_components_of_codes_turned_by_45_degrees_are_linear_but_not_on_an_axis() -> None:
    straight = metrics.factored_components(GRID.astype(float), GRID, traversals=64).details
    for part in ("axis_ratio", "linear_ratio", "axis_alignment", "rank_correlation_along_factors"):
        assert straight[part] == pytest.approx(1, abs=EXACT)
    x, y, z = GRID.T.astype(float)
    turned = metrics.factored_components(np.stack([x + y, x - y, z], axis=1), GRID, traversals=64)
    # Two of three codes share the movement of x and of y: (1/2 - 1/3) / (1 - 1/3).
    np.testing.assert_allclose(turned.details["axis_ratio_per_factor"], [0.25, 0.25, 1])
    assert turned.value == pytest.approx(0.25 ** (2 / 3))
    assert turned.details["linear_ratio"] == pytest.approx(1)


def test_two_factors_in_one_code_lose_the_votes_of_one_of_them() -> None:
    grid = full_grid((4, 4, 4, 4))
    codes = grid.astype(float)
    assert metrics.r_factor_vae_score(codes, grid).value == 1
    merged = np.stack([codes[:, 0] * 4 + codes[:, 1], codes[:, 2], codes[:, 3]], axis=1)
    for protocol, expected in (("kim2019", 3 / 4), ("carbonneau2022", 2 / 3)):
        score = metrics.r_factor_vae_score(merged, grid, protocol=protocol, test_votes=5000)
        assert score.value == pytest.approx(expected, abs=0.03)


def test_axis_alignment_weighs_the_best_latent_against_all_others() -> None:
    mutual = np.array([[1.0, 0.5, 0.0], [0.25, 0.3, 0.0], [0.1, 0.3, 0.0]])
    np.testing.assert_allclose(axis_alignment(mutual), [0.65, 0, 0])


@pytest.mark.parametrize("protocol", ["higgins2017", "kim2018", "lin2020", "locatello2019"])
def test_differences_of_perfect_codes_name_the_shared_factor(protocol: str) -> None:
    sizes = {"train_features": 300, "test_features": 200}
    score = metrics.beta_vae_score(GRID.astype(float), GRID, protocol=protocol, **sizes)
    assert score.value == 1


def test_memory_does_not_grow_with_the_number_of_codes() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(8, size=(50_000, 3))

    def peak(codes: np.ndarray) -> int:
        tracemalloc.start()
        metrics.mig(codes, factors)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few = rng.standard_normal((50_000, 2), dtype=np.float32)
    many = rng.standard_normal((50_000, 40), dtype=np.float32)
    assert peak(many) < peak(few) + many.nbytes / 4


def test_the_kl_of_posteriors_is_that_to_the_prior_they_were_trained_with() -> None:
    """Codes that fill a square are nearer to the flat priors, and dead ones are at rest."""
    rng = np.random.default_rng(0)
    mean = np.concatenate([rng.uniform(-1.7, 1.7, (3000, 2)), np.zeros((3000, 1))], axis=1)
    found = {}
    for name, prior in PRIORS.items():
        logvar = np.full(mean.shape, -5.0)
        logvar[:, 2] = prior.resting_logvar
        details = metrics.kl_decomposition(mean, logvar, prior=name).details
        found[name] = details["dimension_wise_kl"] - prior.least_kl
        assert details["kl_per_code"][2] == pytest.approx(prior.least_kl)
        assert details["active_codes"].tolist() == [True, True, False]
        parts = ("mutual_information", "total_correlation", "dimension_wise_kl")
        assert sum(details[part] for part in parts) == pytest.approx(details["sampled_kl"])
        assert details["sampled_kl"] == pytest.approx(details["kl"], abs=0.1)
    assert found["gaussian"] > found["flat"] > found["uniform_like"]
    with pytest.raises(ConfigError, match="prior of kl_decomposition"):
        metrics.kl_decomposition(mean, logvar, prior="laplace")
