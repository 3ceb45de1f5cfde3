"""Codes of images as tables, and images of such tables."""

import csv

import numpy as np
import pandas
import pytest
from PIL import Image

import known_models
from unweave import editing
from unweave.cli import main
from unweave.data import DataOptions, load_data
from unweave.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def exact(toy):
    """A model whose codes are the factors, and which decodes them without error."""
    return known_models.separated(toy)


def write_pictures(folder, toy, rows, suffix=".png"):
    for row in rows:
        place = folder / f"deep/{row}{suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        pixels = (toy.images([row])[0, 0] * 255).astype(np.uint8)
        Image.fromarray(pixels).save(place)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_table_goes_there_and_back_with_every_digit(exact, toy, tmp_path, suffix):
    table = editing.encode_images(exact, editing.images_of_data(toy.subset(np.arange(0, 1024, 9))))
    path = tmp_path / f"codes{suffix}"
    table.save(path)
    back = editing.read_codes_of(path, exact.latent_dim)
    assert np.array_equal(back.codes, table.codes)
    assert back.names == table.names
    assert back.key == "row"


def test_a_frame_has_names_factors_as_they_are_called_and_codes(exact, toy, tmp_path):
    table = editing.encode_images(exact, editing.open_images(None, exact))
    table.save(tmp_path / "codes.csv")
    frame = pandas.read_csv(tmp_path / "codes.csv")
    assert list(frame.columns) == ["row", "x", "y", "side", "z0", "z1", "z2", "z3"]
    assert len(frame) == len(toy)
    assert sorted(frame["side"].unique()) == [5, 8, 11, 14], "the sides, not their numbers"
    assert frame["x"].corr(frame["z0"]) == pytest.approx(1.0, abs=1e-6)
    pandas.testing.assert_frame_equal(table.to_frame(), frame, check_dtype=False)


def test_words_of_factors_stay_words(tmp_path):
    shapes = load_data("toy_shapes").subset(np.arange(0, 2535, 200))
    model = known_models.wrap(lambda images: images.mean(axis=(2, 3)), shapes, name="mean")
    table = editing.encode_images(model, editing.open_images(None, model))
    assert set(table.columns["shape"]) == {"square", "disc", "cross"}
    for suffix in (".csv", ".parquet", ".npz"):
        table.save(tmp_path / f"codes{suffix}")
    frame = pandas.read_parquet(tmp_path / "codes.parquet")
    assert set(frame["shape"]) == {"square", "disc", "cross"}
    with np.load(tmp_path / "codes.npz") as arrays:
        assert set(arrays["shape"]) == {"square", "disc", "cross"}
        assert arrays["codes"].shape == (len(shapes), 1)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_folder_of_pictures_comes_back_as_it_was(exact, toy, tmp_path, suffix):
    rows = [3, 700, 1001]
    write_pictures(tmp_path / "photos", toy, rows)
    source = editing.open_images(tmp_path / "photos", exact)
    assert source.names == ("deep/1001.png", "deep/3.png", "deep/700.png")
    editing.encode_images(exact, source).save(tmp_path / f"codes{suffix}")
    table = editing.read_codes_of(tmp_path / f"codes{suffix}", exact.latent_dim)
    places = editing.decode_to_folder(exact, table, tmp_path / "again")
    assert [place.name for place in places] == ["1001.png", "3.png", "700.png"]
    for row in rows:
        with Image.open(tmp_path / f"again/deep/{row}.png") as picture:
            assert np.array_equal(np.asarray(picture) / 255, toy.images([row])[0, 0])


def test_a_single_picture_keeps_its_name(exact, toy, tmp_path):
    write_pictures(tmp_path, toy, [40])
    source = editing.open_images(tmp_path / "deep/40.png", exact)
    editing.encode_images(exact, source).save(tmp_path / "one.csv")
    table = editing.read_codes_of(tmp_path / "one.csv", exact.latent_dim)
    assert (table.key, table.names) == ("file", ("40.png",))
    assert np.array_equal(table.codes, exact.encode(toy.images([40])))


def test_factors_of_pictures_are_matched_by_their_names(exact, toy, tmp_path):
    write_pictures(tmp_path / "photos", toy, [3, 700, 1001])
    with open(tmp_path / "labels.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows(
            [("name", "mood"), ("700.png", "glad"), ("1001.png", ""), ("3.png", "sad")]
        )
    options = DataOptions(factors=str(tmp_path / "labels.csv"))
    source = editing.open_images(tmp_path / "photos", exact, options)
    assert list(source.columns["mood"]) == ["", "sad", "glad"]


def test_pictures_of_another_size_are_brought_to_the_models(exact, toy, tmp_path):
    large = Image.fromarray((toy.images([500])[0, 0] * 255).astype(np.uint8)).resize((96, 96), 0)
    large.convert("RGB").save(tmp_path / "large.png")
    image = editing.read_image(tmp_path / "large.png", exact.image_shape)
    assert image.shape == (1, 32, 32)
    assert np.abs(image - toy.images([500])[0]).mean() < 0.01


def test_pictures_that_are_none_are_refused_by_name_or_left_out(exact, toy, tmp_path):
    write_pictures(tmp_path, toy, [3, 4])
    (tmp_path / "deep/bad.png").write_bytes(b"not a picture")
    source = editing.open_images(tmp_path, exact)
    with pytest.raises(DataError, match=r"bad\.png is not a readable image"):
        editing.encode_images(exact, source)
    skipping = editing.open_images(tmp_path, exact, DataOptions(bad_images="skip"))
    assert skipping.names == ("deep/3.png", "deep/4.png")


@pytest.mark.parametrize("name", ["../out.png", "/etc/out.png", "C:\\out.png", "a/../../b.png"])
def test_no_name_in_a_table_leads_out_of_the_folder(exact, tmp_path, name):
    codes = np.zeros((2, exact.latent_dim), dtype=np.float32)
    table = editing.EncodedImages("file", (name, "fine.png"), codes, {})
    with pytest.raises(DataError, match="cannot be the name of a picture"):
        editing.decode_to_folder(exact, table, tmp_path / "to")
    assert not list(tmp_path.rglob("*.png"))


def test_pictures_that_are_there_are_never_replaced(exact, toy, tmp_path):
    write_pictures(tmp_path, toy, [3])
    before = (tmp_path / "deep/3.png").read_bytes()
    table = editing.encode_images(exact, editing.open_images(tmp_path, exact))
    with pytest.raises(ConfigError, match="is there already"):
        editing.decode_to_folder(exact, table, tmp_path)
    assert (tmp_path / "deep/3.png").read_bytes() == before


def test_names_that_differ_in_their_ending_stay_apart(exact, tmp_path):
    codes = np.zeros((2, exact.latent_dim), dtype=np.float32)
    table = editing.EncodedImages("file", ("cat.png", "cat.jpg"), codes, {})
    places = editing.decode_to_folder(exact, table, tmp_path)
    assert [place.name for place in places] == ["cat.png.png", "cat.jpg.png"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("row,z0,z1\n0,1,2\n1,3,4\n", "z0 to z3"),
        ("row,z0,z1,z2,z3,z4\n0,1,2,3,4,5\n1,3,4,5,6,7\n", "z0 to z4"),
        ("a,b\n1,2\n2,3\n", "none is called z0"),
        ("row,z0,z1,z2,z3\n0,1,2,3,\n1,3,4,5,6\n", "the code of 0"),
        ("row,z0,z1,z2,z3\n0,1,2,3,cat\n1,3,4,5,dog\n", "holds words"),
    ],
)
def test_a_table_of_other_codes_is_refused_in_a_line(exact, tmp_path, content, message):
    (tmp_path / "codes.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        editing.read_codes_of(tmp_path / "codes.csv", exact.latent_dim)


def test_the_commands_go_there_and_back(tiny_run, tmp_path, capsys):
    run = tiny_run("vae")
    codes, again = tmp_path / "codes.npz", tmp_path / "images.npz"
    assert main(["encode", str(run.path), "--to", str(codes)]) == 0
    assert "1,024 images, codes of 4, 3 factors" in capsys.readouterr().out
    with np.load(codes) as arrays:
        assert np.allclose(
            arrays["codes"][:5], run.encode(run.data.images(np.arange(5))), atol=1e-5
        )
    assert main(["decode", str(run.path), str(codes), "--to", str(again)]) == 0
    with np.load(again) as arrays:
        images = arrays["images"]
    assert np.allclose(images[:5], run.reconstruct(run.data.images(np.arange(5))), atol=1e-5)


def test_a_table_of_codes_can_be_scored(tiny_run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["encode", str(tiny_run("vae").path), "--to", "codes.npz"]
    assert main(words) == 0
    labels = tiny_run("vae").data.factors()
    np.savetxt("factors.csv", labels, fmt="%d", delimiter=",", header="x,y,side", comments="")
    tables = ["--codes", "codes.npz", "--factors", "factors.csv"]
    assert main(["evaluate", *tables, "--metrics", "mig"]) == 0
    assert "mig" in capsys.readouterr().out


def test_a_model_of_ones_own_encodes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_encoder.py").write_text(
        "def encode(images):\n    return images.mean(axis=(2, 3))\n"
    )
    own = ["--model", "own_encoder:encode"]
    known = [*own, "--data", "toy_xys"]
    assert main(["encode", *known, "--to", "codes.csv"]) == 0
    assert main(["encode", *own, "toy_xys", "--to", "again.csv"]) == 0
    assert (tmp_path / "codes.csv").read_text() == (tmp_path / "again.csv").read_text()
    code = main(["decode", *known, "codes.csv", "--to", "out"])
    assert code == 2
    assert "has no decoder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("encode {run} --to codes.txt", "written as .csv, .parquet or .npz"),
        ("encode {run} nowhere/at/all --to codes.csv", "no such file or folder"),
        ("encode {run} . --to codes.csv", "no image in"),
        ("encode {run} dsprites --to codes.csv", "takes (1, 32, 32)"),
        ("encode --to codes.csv", "of what?"),
        ("decode {run} --to out", "decode what?"),
        ("decode {run} nothing.csv --to out", "no file at"),
    ],
)
def test_mistakes_are_said_in_one_line(tiny_run, tmp_path, monkeypatch, capsys, words, hint):
    monkeypatch.chdir(tmp_path)
    path = tiny_run("vae").path
    assert main([word.format(run=path) for word in words.split()]) == 2
    err = capsys.readouterr().err
    assert hint in err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
