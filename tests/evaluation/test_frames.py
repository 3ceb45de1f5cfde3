"""Frames of codes and factors that name their rows."""

import numpy as np
import pandas
import polars
import pytest

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


@pytest.mark.parametrize("frame", KINDS)
def test_frames_with_a_shared_key_are_joined_by_it(frame):
    codes, factors = tables()
    assert score(frame(codes), frame(factors), ["mig"])["mig"].value > 0.8
    del codes["file"], factors["file"]  # in their own order the labels are those of other rows
    assert score(frame(codes), frame(factors), ["mig"])["mig"].value < 0.3


@pytest.mark.parametrize("frame", KINDS)
def test_a_key_that_only_the_codes_have_is_named(frame):
    codes, factors = tables()
    factors["file"][3] = "images/other.png"
    with pytest.raises(DataError, match=r"factors has no line for images/"):
        score(frame(codes), frame(factors), ["mig"])
    factors["file"][4:9] = [f"images/gone_{row}.png" for row in range(5)]
    with pytest.raises(DataError, match=r"no line for 6 of \d+ images: \S+, \S+, \S+, …$"):
        score(frame(codes), frame(factors), ["mig"])


@pytest.mark.parametrize("frame", KINDS)
def test_frames_of_unlike_length_with_a_key_are_refused(frame):
    codes, factors = tables()
    fewer = {name: values[:50] for name, values in factors.items()}
    with pytest.raises(DataError, match="60 rows and factors 50"):
        score(frame(codes), frame(fewer), ["mig"])
