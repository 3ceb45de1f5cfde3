"""Frames of codes and factors that name their rows."""

import inspect
import pickle

import numpy as np
import pandas
import polars
import pytest

import unweave as uw
from unweave.errors import DataError
from unweave.evaluation.score import score

KINDS = [pandas.DataFrame, polars.DataFrame]


def tables(rows: int = 60) -> tuple[dict[str, list], dict[str, list]]:
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(rows, 2))
    codes = factors + 0.01 * rng.standard_normal((rows, 2))
    names = [f"images/{row:03}.png" for row in range(rows)]
    shuffled = rng.permutation(rows)
    return (
        {"file": names, "z0": codes[:, 0].tolist(), "z1": codes[:, 1].tolist()},
        {
            "a": factors[shuffled, 0].tolist(),
            "file": [names[row] for row in shuffled],
            "b": factors[shuffled, 1].tolist(),
        },
    )


def mig(codes, factors) -> float:
    return score(codes, factors, ["mig"])["mig"].value


@pytest.mark.parametrize("frame", KINDS)
def test_frames_with_a_shared_key_are_joined_by_it(frame):
    codes, factors = tables()
    assert mig(frame(codes), frame(factors)) > 0.8
    del codes["file"], factors["file"]  # in their own order the labels are those of other rows
    assert mig(frame(codes), frame(factors)) < 0.3


@pytest.mark.parametrize("frame", KINDS)
def test_keys_that_are_called_otherwise_are_matched_by_content(frame):
    codes, factors = tables()
    codes["picture"] = codes.pop("file")
    found = score(frame(codes), frame(factors), ["mig"])["mig"]
    assert found.value > 0.8
    assert found.details["factor_names"] == ("a", "b")
    codes["picture"] = [f"video_{row}" for row in range(60)]
    with pytest.raises(DataError, match=r"no line for .* codes names in column 'picture'"):
        mig(frame(codes), frame(factors))


@pytest.mark.parametrize("frame", KINDS)
def test_a_key_of_the_factors_alone_is_no_factor(frame):
    codes, factors = tables()
    array = np.array([codes["z0"], codes["z1"]]).T
    told = (
        r"factors: column 'file' says which sample a row is about \('images/\d+.png'\), and codes"
    )
    with pytest.raises(DataError, match=told):
        mig(array, frame(factors))
    with pytest.raises(DataError, match="codes: column 'file' says which sample"):
        mig(frame(codes), frame({name: factors[name] for name in ("a", "b")}))
    counted = {"id": list(range(60)), "a": factors["a"], "b": factors["b"]}
    assert score(array, frame(counted), ["mig"])["mig"].details["factor_names"] == ("a", "b")
    with pytest.raises(DataError, match="no column holds values: file name the rows"):
        mig(array, frame({"file": factors["file"]}))


@pytest.mark.parametrize("frame", KINDS)
def test_a_key_that_only_the_codes_have_is_named(frame):
    codes, factors = tables()
    factors["file"][3] = "images/other.png"
    with pytest.raises(DataError, match=r"factors has no line for images/"):
        mig(frame(codes), frame(factors))
    factors["file"][4:9] = [f"images/gone_{row}.png" for row in range(5)]
    with pytest.raises(DataError, match=r"no line for 6 of \d+ images: \S+, \S+, \S+, …"):
        mig(frame(codes), frame(factors))


@pytest.mark.parametrize("frame", KINDS)
def test_factors_may_have_more_rows_than_codes_but_not_fewer(frame):
    codes, factors = tables()
    fewer = {name: values[:50] for name, values in factors.items()}
    with pytest.raises(DataError, match="60 rows and factors 50"):
        mig(frame(codes), frame(fewer))
    some = {name: values[:50] for name, values in codes.items()}
    assert mig(frame(some), frame(factors)) > 0.8


def indexed() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Codes and factors whose rows are named by their indexes, in different orders."""
    codes, factors = (pandas.DataFrame(table).set_index("file") for table in tables())
    return codes, factors


def test_indexes_that_name_rows_are_joined():
    codes, factors = indexed()
    assert mig(codes, factors) > 0.8
    assert mig(codes, pandas.concat([factors, factors.rename(index="more_{}".format)])) > 0.8
    assert mig(codes.to_numpy(), factors.loc[codes.index]) > 0.8  # an array has its order alone
    # Numbers name rows as well, as long as they do not just count.
    numbered = [frame.rename(index=lambda name: 7 * int(name[7:10]) + 3) for frame in indexed()]
    assert mig(*numbered) > 0.8
    assert mig(*(frame.reset_index(drop=True) for frame in indexed())) < 0.3


def test_a_column_may_name_what_the_index_of_the_other_does():
    codes, factors = indexed()
    assert mig(codes, factors.reset_index()) > 0.8
    found = score(codes.reset_index(), factors, ["mig"])["mig"]
    assert found.value > 0.8
    assert found.details["factor_names"] == ("a", "b")


def test_indexes_that_cannot_be_matched_are_refused():
    codes, factors = indexed()
    with pytest.raises(DataError, match=r"factors have no row for images/000\.png, which codes"):
        mig(codes, factors.drop("images/000.png"))
    twice = factors.rename(index={"images/000.png": "images/001.png"})
    with pytest.raises(DataError, match="some name comes twice"):
        mig(codes, twice)
    counted, permuted = codes.reset_index(drop=True), factors.rename(index=lambda n: int(n[7:10]))
    with pytest.raises(DataError, match="same numbers in another order"):
        mig(counted, permuted)
    assert mig(codes.rename(index=lambda n: int(n[7:10]) + 9), permuted.rename(lambda n: n + 9))


def test_filtered_rows_keep_their_order():
    codes, factors = indexed()
    ordered = factors.loc[codes.index].reset_index(drop=True)
    chosen = ordered[ordered["a"] != 1]
    assert mig(codes.to_numpy()[chosen.index], chosen) > 0.5
    assert mig(pandas.DataFrame(codes.to_numpy()[chosen.index]), chosen) > 0.5


@pytest.mark.parametrize("frame", KINDS)
def test_metrics_by_themselves_join_frames_too(frame):
    codes, factors = (frame(table) for table in tables())
    found = uw.metrics.mig(codes, factors, bins=10)
    assert found.value > 0.8
    assert found.details["factor_names"] == ("a", "b")
    with pytest.raises(DataError, match="says which sample"):
        uw.metrics.explicitness(np.zeros((60, 2)), factors)
    assert list(inspect.signature(uw.metrics.mig).parameters)[:3] == ["codes", "factors", "seed"]
    assert pickle.loads(pickle.dumps(uw.metrics.mig)) is uw.metrics.mig
