"""Amounts and missing values of own images, declared for models and runs as for tables."""

import json

import numpy as np
import pytest
from PIL import Image

import unweave as uw
from unweave.cli import main
from unweave.data import load_data
from unweave.errors import ConfigError, DataError
from unweave.evaluation.baselines import baselines_of
from unweave.evaluation.known_factors import known_factors
from unweave.evaluation.score import score

ROWS = 720


@pytest.fixture
def labelled(tmp_path, monkeypatch):
    """Pictures whose halves are as bright as an angle of 0 to 359 and a size, which some lack."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    angles, sizes = rng.permutation(ROWS) % 360, rng.integers(4, size=ROWS)
    (tmp_path / "pictures").mkdir()
    lines = ["file,angle,size"]
    for row, (angle, size) in enumerate(zip(angles, sizes, strict=True)):
        pixels = np.zeros((8, 8), dtype=np.uint8)
        pixels[:, :4], pixels[:, 4:] = angle * 0.7, size * 60
        Image.fromarray(pixels).save(tmp_path / "pictures" / f"{row:03}.png")
        lines.append(f"{row:03}.png,{angle},{'NA' if row % 5 == 0 else size}")
    (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "halves_of.py").write_text(
        "def encode(images):\n    return images[:, 0, 4, [1, 6]]\n", encoding="utf-8"
    )
    return tmp_path


DATA = "--data pictures --factors labels.csv --image-size 8"


def scored(words, name="scores.json"):
    assert main(f"evaluate {words} --metrics mig".split()) == 0
    return json.loads(open(name, encoding="utf-8").read())["mig"]


def test_a_model_is_scored_on_amounts_and_on_what_is_known(labelled, capsys):
    words = f"--model halves_of:encode {DATA}"
    assert main(f"evaluate {words}".split()) == 2
    error = capsys.readouterr().err
    assert "factor 'size' is NA in row 0" in error
    assert "--missing mask" in error
    as_classes = scored(f"{words} --missing mask")
    assert any("declare it: continuous=['angle']" in note for note in as_classes["notes"])
    assert any("size is known in 576 of 720 rows" in note for note in as_classes["notes"])
    assert as_classes["made"]["masked"]
    declared = scored(f"{words} --missing mask --continuous angle")
    assert not any("declare it" in note for note in declared["notes"])
    gaps = [entry["details"]["gap_per_factor"][0] for entry in (as_classes, declared)]
    assert gaps[0] < 0.6
    assert gaps[1] > 0.9
    assert declared["made"]["continuous_factors"] == ["angle"]
    assert main(f"evaluate {words} --missing mask --continuous angel".split()) == 2
    assert "no factor 'angel' to declare continuous" in capsys.readouterr().err


def test_a_run_and_a_part_of_its_data_are_scored_so_too(labelled):
    words = f"train pca {DATA} --missing mask --split angle>0.9 --out run --threads 1"
    assert main([*words.split(), "--no-evaluation"]) == 0
    run = uw.load("run")
    assert run.data.factor_names == ("angle",)
    assert run.data.column("size")[0] == -1
    plain = uw.evaluate(run, ["explicitness"])["explicitness"]
    assert plain.details["factor_names"] == ("angle",)
    declared = uw.evaluate(run, ["explicitness"], continuous=["angle"], missing="mask")
    assert declared["explicitness"].details["factor_names"] == ("angle", "size")
    assert declared["explicitness"].made.continuous_factors == ("angle",)
    held_out = scored(
        "run --part held_out --continuous angle --missing mask", "run/scores.held_out.json"
    )
    assert held_out["details"]["factor_names"] == ["angle", "size"]
    assert held_out["made"]["continuous_factors"] == ["angle"]
    assert held_out["made"]["rows"] == 2 * 36


def test_a_declared_factor_counts_by_its_values_not_by_their_numbers(labelled):
    angles = np.array([0, 1, 90, 359])
    data = uw.from_arrays(
        np.zeros((4, 2, 2), np.uint8),
        {"angle": angles, "gap": [1.0, np.nan, 3.5, 1.0]},
        missing="mask",
    )
    rows = np.array([3, 1])
    assert known_factors(data, rows).values.tolist() == [[3], [1]]
    assert known_factors(data, rows, continuous=["angle"]).values.tolist() == [[359], [1]]
    masked = known_factors(data, rows, missing="mask")
    assert masked.names == ("angle", "gap")
    np.testing.assert_array_equal(masked.values, [[3, 1.0], [1, np.nan]])


def test_gaps_are_masked_only_where_that_is_asked_for_and_makes_sense(labelled):
    images = np.zeros((3, 2, 2), np.uint8)
    with pytest.raises(DataError, match="is nan in row 1"):
        uw.from_arrays(images, {"a": [1.0, np.nan, 2.0]})
    with pytest.raises(DataError, match="'a' is missing in every row"):
        uw.from_arrays(images, {"a": ["", "NA", ""], "b": [1, 2, 3]}, missing="mask")
    with pytest.raises(ConfigError, match="mask"):
        uw.from_arrays(images, {"a": [1, 2, 3]}, missing="drop")
    data = load_data("pictures", uw.DataOptions(factors="labels.csv", image_size=8, missing="mask"))
    column = data.columns["size"]
    assert column.factor.name == "size"
    assert (column.values == -1).sum() == ROWS / 5
    with pytest.raises(ConfigError, match="continuous is of factors"):
        score(np.eye(4), None, continuous=["angle"])


def test_baselines_are_made_as_the_score_was_or_not_at_all():
    rng = np.random.default_rng(0)
    angles, sizes = rng.permutation(ROWS) % 360, rng.integers(4, size=ROWS)
    images = np.zeros((ROWS, 8, 8), dtype=np.uint8)
    images[:, :, :4], images[:, :, 4:] = (angles * 0.7)[:, None, None], 60 * sizes[:, None, None]
    gaps = np.where(np.arange(ROWS) < 9, np.nan, sizes)
    factors = {"angle": angles, "size": sizes, "known": gaps}
    data = uw.from_arrays(images, factors, missing="mask")
    model = uw.wrap(lambda images: images[:, 0, 4, [1, 6]], data)
    truth = []
    for continuous in (["angle"], None):
        uw.evaluate(model, ["mig"], continuous=continuous)
        truth.append(baselines_of(model).values["mig"]["ground truth"])
    assert truth[0] > 0.9
    assert truth[1] < truth[0] - 0.2
    uw.evaluate(model, ["mig"], continuous=["angle"], missing="mask")
    assert baselines_of(model).values == {}
