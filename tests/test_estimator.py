"""The transformer of scikit-learn: what any such has to do, and what it does with images."""

import pickle

import numpy as np
import pandas
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import unweave as uw
from unweave.errors import ConfigError, DataError

TINY = {"steps": 3, "settings": {"latent_dim": 2}, "machine": uw.Machine(evaluations=0, threads=1)}


def test_scikit_learn_finds_nothing_wrong():
    found = check_estimator(uw.Disentangler(**TINY), on_skip=None)
    assert sum(check["status"] == "passed" for check in found) > 40


@pytest.fixture(scope="module")
def squares(toy):
    rows = np.random.default_rng(0).permutation(len(toy))[:300]
    return toy.images(rows)[:, 0], toy.factors(rows)


@pytest.fixture(scope="module")
def fitted(squares):
    settings = {"latent_dim": 4, "beta": 1, "optimizer": uw.Adam(2e-3)}
    model = uw.Disentangler(
        "beta_vae",
        settings=settings,
        steps=300,
        architecture=uw.networks.mlp64.MLP64(hidden=128, decoder_activation="relu"),
        machine=uw.Machine(evaluations=0, threads=1),
    )
    return model.fit(squares[0])


def test_images_come_as_images_or_as_rows_of_pixels(squares, fitted):
    images, _ = squares
    flat = images.reshape(len(images), -1)
    assert fitted.image_shape_ == (32, 32, 1)
    np.testing.assert_array_equal(fitted.transform(flat), fitted.transform(images))
    np.testing.assert_allclose(
        fitted.transform(images), fitted.run_.encode(images[:, None]), atol=1e-5
    )
    again = uw.Disentangler(**TINY, image_shape=(32, 32)).fit(flat)
    assert again.image_shape_ == (32, 32, 1)


def test_codes_decode_to_rows_like_those_that_were_given(squares, fitted):
    images, _ = squares
    flat = images.reshape(len(images), -1)
    back = fitted.inverse_transform(fitted.transform(images))
    assert back.shape == flat.shape
    assert np.square(back - flat).mean() < 0.7 * np.square(flat - flat.mean(0)).mean()


def test_columns_of_any_scale_come_back_at_their_scale():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((400, 2))
    table = hidden @ rng.standard_normal((2, 5)) * [1e-3, 1, 50, 1e4, 3] + [0, 5, -100, 1e6, 0]
    model = uw.Disentangler("vae", settings={"latent_dim": 2}, steps=600).fit(table)
    back = model.inverse_transform(model.transform(table))
    error = np.square(back - table).mean(0) / table.var(0)
    assert (error < 0.5).all()


def test_a_score_is_the_bound_or_with_factors_the_metric(squares, fitted):
    images, factors = squares
    bound = fitted.score(images)
    assert bound == fitted.run_.terms(images[:, None])["elbo"]
    assert bound < 0
    assert bound > uw.Disentangler(**TINY).fit(images).score(images)
    expected = uw.metrics.mig(fitted.transform(images), factors).value
    assert fitted.score(images, factors) == expected
    named = pandas.DataFrame(factors, columns=["x", "y", "side"])
    assert fitted.score(images, named) == expected


def test_it_stands_in_a_pipeline_and_in_a_search(squares):
    images, factors = squares
    flat = images.reshape(len(images), -1)
    codes = make_pipeline(PCA(10), uw.Disentangler(**TINY)).fit_transform(flat)
    assert codes.shape == (300, 2)
    grid = {"settings": [{"latent_dim": 2, "beta": 1}, {"latent_dim": 3, "beta": 4}]}
    search = GridSearchCV(uw.Disentangler("beta_vae", **TINY), grid, cv=2).fit(images, factors)
    assert search.best_params_["settings"] in grid["settings"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_codes_come_as_a_data_frame_if_asked_for(squares):
    images, _ = squares
    for kind in ("pandas", "polars"):
        model = uw.Disentangler(**TINY).set_output(transform=kind)
        assert list(model.fit_transform(images).columns) == ["z0", "z1"]


def test_labels_reach_methods_that_use_them(squares):
    images, factors = squares
    settings = {"latent_dim": 2, "labels": 50}
    model = uw.Disentangler("m2", **TINY | {"settings": settings}).fit(images, factors[:, 2])
    assert model.run_.summary.column_sizes
    with pytest.raises((ConfigError, DataError)):
        uw.Disentangler("m2", **TINY | {"settings": settings}).fit(images)


def test_a_copy_through_bytes_gives_the_same_codes(squares, fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(squares[0]), fitted.transform(squares[0]))


def test_the_run_stays_where_it_is_asked_to(squares, tmp_path):
    model = uw.Disentangler(**TINY, out=tmp_path / "run").fit(squares[0])
    images = squares[0][:3, None]
    np.testing.assert_array_equal(
        uw.load(tmp_path / "run").encode(images), model.run_.encode(images)
    )


def test_mistakes_are_told_in_a_line(squares):
    images, _ = squares
    flat = images.reshape(len(images), -1)
    with pytest.raises(DataError, match="from 0 to 255"):
        uw.Disentangler(**TINY).fit(images * 255)
    with pytest.raises(ConfigError, match=r"1024 columns, found \(31, 32\)"):
        uw.Disentangler(**TINY, image_shape=(31, 32)).fit(flat)
    with pytest.raises(ConfigError, match="beta_vae"):
        uw.Disentangler("bete_vae", steps=3).fit(images)
    with pytest.raises(ConfigError, match="metric"):
        uw.Disentangler(**TINY, metric="migg").fit(images).score(images, squares[1])
