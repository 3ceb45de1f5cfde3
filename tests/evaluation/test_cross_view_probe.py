"""Probes that learn in one view and are asked in the others, of models whose answer is known."""

import json
import shutil

import numpy as np
import pytest

from known_models import read_factors, standard
from unweave.cli import main
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError
from unweave.evaluation.cross_view import probe_views
from unweave.runs.wrapped import wrap


def sides(images: np.ndarray, turned: bool = False) -> np.ndarray:
    """Return one-hot sides; turned, which of the four is on moves on from view to view."""
    x, _, side = read_factors(images).T.astype(int)
    return np.eye(4, dtype=np.float32)[(side + turned * (x // 4)) % 4]


def noise(images: np.ndarray) -> np.ndarray:
    """Return a code of many numbers that says which image it is, and nothing of it."""
    ids = read_factors(images) @ np.array([64, 4, 1])
    return np.stack([np.random.default_rng(int(i)).standard_normal(200) for i in ids])


def test_what_is_the_same_in_all_views_is_named_in_all_of_them(toy):
    found = probe_views(wrap(sides, toy, name="sides"), "x", "side")
    assert found.views == ("0 to 3", "4 to 7", "8 to 11", "12 to 15")
    np.testing.assert_array_equal(found.tables["codes"], np.ones((4, 4)))
    assert found.own("codes") == found.others("codes") == 1
    # Pixels tell the side where it was learnt, and elsewhere they are other pixels.
    assert found.own("pixels") > 0.9
    assert found.others("pixels") < 0.7
    assert found.chance == 0.25


def test_what_means_something_else_in_another_view_is_named_wrongly_there(toy):
    model = wrap(lambda images: sides(images, turned=True), toy, name="turned")
    table = probe_views(model, "x", "side").tables["codes"]
    np.testing.assert_array_equal(table, np.eye(4))


def test_nothing_is_asked_that_was_told(toy):
    """A code of noise is learnt by heart, and is worth nothing in its own view either."""
    found = probe_views(wrap(noise, toy, name="noise"), "x", "side")
    assert found.own("codes") == pytest.approx(0.25, abs=0.1)
    assert found.others("codes") == pytest.approx(0.25, abs=0.1)


def test_a_view_is_as_fine_as_asked_for_and_as_its_values_are(toy):
    model = wrap(standard, toy, name="standard")
    assert probe_views(model, "x", "side", views=2).views == ("0 to 7", "8 to 15")
    found = probe_views(model, "side", "y", views=9, rows=300)
    assert found.views == ("0", "1", "2", "3")
    assert found.tables["codes"].shape == (4, 4)
    assert probe_views(model, rows=300).view == "x"


def test_contents_and_styles_stand_beside_the_whole_code(tiny_run):
    found = probe_views(tiny_run("cv_mim"), "x", "side", rows=300)
    assert list(found.tables) == ["codes", "content", "style", "pixels"]
    kept = json.loads(json.dumps(found.to_json()))
    assert kept["others"]["content"] == pytest.approx(found.others("content"))
    assert np.shape(kept["tables"]["style"]) == (4, 4)


def test_what_cannot_be_asked_is_refused(toy):
    model = wrap(standard, toy, name="standard")
    with pytest.raises(ConfigError, match="'side' is the view; name another factor"):
        probe_views(model, "side", "side")
    with pytest.raises(ConfigError, match="needs 2 views or more, found 1"):
        probe_views(model, "x", "side", views=1)
    with pytest.raises(ValueError, match="column of toy_xys"):
        probe_views(model, "z", "side")
    rows = np.arange(12)
    images = np.zeros((12, 32, 32), dtype=np.uint8)
    same = from_arrays(images, {"camera": rows // 6, "kind": rows // 6})
    flat = wrap(lambda images: images.reshape(len(images), -1), same, name="flat")
    with pytest.raises(DataError, match=r"each of which must show 2 values of 'kind' or more"):
        probe_views(flat, "camera", "kind")
    paired = wrap(
        lambda images: images.reshape(len(images), -1),
        from_arrays(images, {"pair": rows // 2, "kind": rows % 3}),
        name="paired",
    )
    with pytest.raises(ConfigError, match="which factor is the view"):
        probe_views(paired)


def test_the_command_shows_own_and_other_views_and_keeps_them(tiny_run, tmp_path, capsys):
    folder = shutil.copytree(tiny_run("vae").path, tmp_path / "run")
    words = ["evaluate", str(folder), "--probe", "view=x,column=side,views=2"]
    assert main(words) == 0
    out = " ".join(capsys.readouterr().out.split())
    for word in ("codes", "pixels", "in the other views", "x 0 to 7, 8 to 15", "chance 0.250"):
        assert word in out
    kept = json.loads((folder / "probe.x_views.json").read_text())
    assert kept["column"] == "side"
    assert main([*words[:3], "view=x,labels=10"]) == 2
    assert "setting of --probe" in capsys.readouterr().err
