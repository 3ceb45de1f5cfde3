"""Own images in a folder."""

import logging

import numpy as np
import pytest
from PIL import Image, ImageFile
from written_sets import png_header

from unweave.data import DataOptions, load_data
from unweave.data._image_files import LARGEST, fitted, open_image
from unweave.errors import DataError


@pytest.fixture(autouse=True)
def own_cache(empty_cache):
    return empty_cache


@pytest.fixture
def folder(tmp_path):
    """Three grey pictures of different size and format, in the order b, sub/a, sub/c."""
    folder = tmp_path / "pictures"
    (folder / "sub").mkdir(parents=True)
    Image.new("L", (90, 70), 50).save(folder / "b.png")
    Image.new("L", (64, 200), 100).save(folder / "sub" / "a.bmp")
    Image.new("L", (10, 10), 200).save(folder / "sub" / "c.tif")
    return folder


def greys(data):
    return np.rint(data.images(np.arange(len(data)))[:, 0, 5, 5] * 255).astype(int).tolist()


def test_pictures_are_found_below_the_folder_and_sorted(folder):
    data = load_data(folder)
    assert data.name == "pictures"
    assert data.image_shape == (1, 64, 64)
    assert greys(data) == [50, 100, 200]
    assert not data.factor_names


def test_texts_and_hidden_files_are_passed_over(folder):
    for name in (".DS_Store", "notes.txt", "labels.csv", "Thumbs.db", ".cache.png"):
        (folder / name).write_bytes(b"no picture")
    (folder / ".git").mkdir()
    (folder / ".git" / "object").write_bytes(b"no picture")
    assert len(load_data(folder)) == 3


def test_a_picture_is_known_by_its_content_not_its_suffix(folder):
    (folder / "b.png").rename(folder / "b.dat")
    assert greys(load_data(folder)) == [50, 100, 200]


def test_size_and_color_follow_the_options(folder):
    data = load_data(folder, DataOptions(image_size=24, color="rgb"))
    assert data.image_shape == (3, 24, 24)


def test_one_colored_picture_makes_the_set_colored(folder):
    Image.new("RGB", (20, 20), (7, 7, 7)).save(folder / "z.png")
    assert load_data(folder).image_shape[0] == 1  # grey in all but name
    Image.new("RGB", (20, 20), (7, 7, 8)).save(folder / "zz.png")
    assert load_data(folder).image_shape[0] == 3
    assert load_data(folder, DataOptions(color="grey")).image_shape[0] == 1


def test_only_the_middle_square_is_kept(tmp_path):
    picture = np.zeros((20, 60, 3), dtype=np.uint8)
    picture[:, 20:40] = (10, 20, 30)
    (tmp_path / "f").mkdir()
    Image.fromarray(picture).save(tmp_path / "f" / "wide.png")
    image = load_data(tmp_path / "f").images([0])[0]
    np.testing.assert_allclose(
        image,
        np.broadcast_to(np.array([10, 20, 30]).reshape(3, 1, 1) / 255, (3, 64, 64)),
        atol=1e-6,
    )


def test_preparing_happens_once(folder, own_cache, monkeypatch):
    load_data(folder)
    monkeypatch.setattr("unweave.data._own_folder._decode", lambda *_: pytest.fail("again"))
    assert greys(load_data(folder)) == [50, 100, 200]
    assert isinstance(load_data(folder).pixels.array, np.memmap)


def test_a_changed_or_new_picture_is_noticed(folder):
    load_data(folder)
    Image.new("L", (91, 70), 60).save(folder / "b.png")
    assert greys(load_data(folder)) == [60, 100, 200]
    Image.new("L", (9, 9), 1).save(folder / "a.png")
    assert greys(load_data(folder)) == [1, 60, 100, 200]


@pytest.mark.parametrize("name", ["images.npy", "bad.json"])
def test_a_damaged_cache_is_made_again(folder, own_cache, name):
    load_data(folder)
    file = next(own_cache.rglob(name))
    file.write_bytes(file.read_bytes()[:-1])
    assert greys(load_data(folder)) == [50, 100, 200]
    file.unlink()
    assert greys(load_data(folder)) == [50, 100, 200]


def test_bad_files_are_refused_by_name(folder):
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    (folder / "program.exe").write_bytes(b"MZ")
    with pytest.raises(DataError, match=r"2 of 5 files .*broken.jpg: .*program.exe: .*'skip'"):
        load_data(folder)


def test_bad_files_are_skipped_and_reported_when_asked(folder, caplog):
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    truncated = (folder / "sub" / "a.bmp").read_bytes()[:300]
    (folder / "sub" / "a.bmp").write_bytes(truncated)
    with caplog.at_level(logging.WARNING):
        data = load_data(folder, DataOptions(bad_images="skip"))
    assert greys(data) == [50, 200]
    assert "2 of 4 files" in caplog.text
    assert "broken.jpg" in caplog.text
    assert "sub/a.bmp" in caplog.text


def test_refusing_after_skipping_still_refuses(folder):
    (folder / "broken.jpg").write_bytes(b"")
    load_data(folder, DataOptions(bad_images="skip"))
    with pytest.raises(DataError, match=r"broken.jpg"):
        load_data(folder)


def test_many_bad_files_are_counted_not_all_named(folder):
    for i in range(25):
        (folder / f"bad{i:02d}.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"25 of 28 files .* and 15 more"):
        load_data(folder)


def test_a_folder_without_any_picture_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "readme.txt").write_text("hello")
    with pytest.raises(DataError, match="no image in"):
        load_data(tmp_path / "empty")
    (tmp_path / "empty" / "a.png").write_bytes(b"no")
    with pytest.raises(DataError, match="1 of 1 files"):
        load_data(tmp_path / "empty", DataOptions(bad_images="skip"))


@pytest.mark.parametrize("side", [9_000, 12_000, 50_000])
def test_an_image_bomb_is_refused_before_it_is_decoded(folder, side, recwarn, monkeypatch):
    path = folder / "bomb.png"
    path.write_bytes(png_header(side, side))
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(DataError, match=r"bomb.png .*pixels"):
        open_image(path)
    assert not recwarn.list
    assert side * side > LARGEST


def test_formats_that_start_programs_are_not_opened(folder):
    path = folder / "page.eps"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n")
    with pytest.raises(DataError, match="not a readable image"):
        open_image(path)


def test_sixteen_bits_are_scaled_not_clipped(tmp_path):
    grey = np.array([[0, 32768], [65535, 257]], dtype=np.uint16)
    Image.fromarray(grey).save(tmp_path / "deep.png")
    pixels = fitted(open_image(tmp_path / "deep.png"), 2, color=False)
    assert pixels.tolist() == [[0, 128], [255, 1]]


def test_transparent_parts_become_white(tmp_path):
    Image.new("RGBA", (4, 4), (200, 0, 0, 0)).save(tmp_path / "clear.png")
    assert (fitted(open_image(tmp_path / "clear.png"), 4, color=True) == 255).all()
    Image.new("LA", (4, 4), (0, 0)).save(tmp_path / "clear_grey.png")
    assert (fitted(open_image(tmp_path / "clear_grey.png"), 4, color=False) == 255).all()


def test_the_rotation_note_of_a_camera_is_followed(tmp_path):
    picture = Image.new("L", (8, 8), 0)
    picture.paste(255, (0, 0, 8, 4))  # the upper half
    note = Image.Exif()
    note[0x0112] = 3  # upside down
    picture.save(tmp_path / "turned.png", exif=note)
    pixels = fitted(open_image(tmp_path / "turned.png"), 8, color=False)
    assert pixels[0].max() == 0
    assert pixels[7].min() == 255


def test_palettes_and_bitmaps_are_read(tmp_path):
    Image.new("RGB", (4, 4), (200, 10, 10)).quantize(4).save(tmp_path / "a.gif")
    assert fitted(open_image(tmp_path / "a.gif"), 4, color=True)[0, 0].tolist() == [200, 10, 10]
    Image.new("1", (4, 4), 1).save(tmp_path / "a.pbm")
    assert (fitted(open_image(tmp_path / "a.pbm"), 4, color=False) == 255).all()


def test_a_large_jpeg_is_scaled_while_it_is_decoded(tmp_path):
    gradient = np.linspace(0, 255, 1600).astype(np.uint8)[None].repeat(1600, axis=0)
    Image.fromarray(gradient).save(tmp_path / "a.jpg", quality=95)
    small = open_image(tmp_path / "a.jpg", at_least=64)
    assert small.width == 200
    whole = fitted(open_image(tmp_path / "a.jpg"), 64, color=False).astype(int)
    assert abs(fitted(small, 64, color=False).astype(int) - whole).max() <= 2


def test_factors_are_matched_by_file_name_in_any_order(folder):
    table = folder / "labels.csv"
    table.write_text(
        "angle,File,kind\n0.5,sub/c.tif,x\n0.25,b.png,y\n1,sub/a.bmp,x\n9,gone.png,q\n"
    )
    data = load_data(folder, DataOptions(factors=str(table)))
    assert data.factor_names == ("angle", "kind")
    assert data.factors().tolist() == [[0.25, 1], [1, 0], [0.5, 0]]


def test_names_without_folder_or_suffix_are_enough_where_unique(folder):
    table = folder / "labels.csv"
    table.write_text("name;kind\nc;2\nb;0\na.bmp;1\n")
    assert load_data(folder, DataOptions(factors=str(table))).factors()[:, 0].tolist() == [0, 1, 2]
    Image.new("L", (10, 10)).save(folder / "a.bmp")
    with pytest.raises(DataError, match=r"no line for sub/a.bmp|no line for"):
        load_data(folder, DataOptions(factors=str(table)))


def test_lines_without_names_follow_the_sorted_files(folder):
    table = folder / "labels.tsv"
    table.write_text("kind\tsize\n2\t1\n1\t1\n0\t1\n")
    data = load_data(folder, DataOptions(factors=str(table)))
    assert data.factors().tolist() == [[2, 0], [1, 0], [0, 0]]
    assert data.factor_list[1].labels == ("1",)


def test_lines_of_skipped_pictures_are_skipped_too(folder):
    (folder / "sub" / "a.bmp").write_bytes(b"broken")
    table = folder / "labels.csv"
    table.write_text("kind\n10\n20\n30\n")
    options = DataOptions(factors=str(table), bad_images="skip")
    data = load_data(folder, options)
    assert data.factor_list[0].labels == ("10", "30")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind\n1\n2\n", "2 lines after its header for 3 images"),
        ("file,kind\nb.png,1\n", "no line for 2 of 3 images: .*sub/a.bmp"),
        ("file,kind\nb.png,1\nb.png,2\n", "two lines for b.png"),
        ("file\nb.png\na.bmp\nc.tif\n", "no column besides"),
        ("kind,kind\n1,2\n1,2\n1,2\n", "same name"),
        ("kind,\n1,2\n1,2\n1,2\n", "names every column"),
        ("1,2\n1,2\n1,2\n1,2\n", "must name"),
        ("kind,size\n1,2\n1\n1,2\n", "line 3 has 1 cells"),
        ("kind\n1\n \n3\n", "empty in row 1"),
        ("kind\n1\nnan\n3\n", "is nan in row 1"),
        ("", "names every column"),
        ("kind\n\x00\n1\n2\n", "labels.csv"),
    ],
)
def test_a_table_that_cannot_be_used_is_explained(folder, text, message):
    table = folder / "labels.csv"
    table.write_text(text)
    with pytest.raises(DataError, match=message):
        load_data(folder, DataOptions(factors=str(table)))


def test_a_table_that_is_no_text_is_refused(folder):
    (folder / "labels.csv").write_bytes(b"kind\n\xff\xfe\n")
    with pytest.raises(DataError, match="not a readable CSV"):
        load_data(folder, DataOptions(factors=str(folder / "labels.csv")))
    with pytest.raises(DataError, match="no such file of factors"):
        load_data(folder, DataOptions(factors=str(folder / "nothing.csv")))


def test_a_size_of_nothing_is_refused(folder):
    with pytest.raises(DataError, match="image_size"):
        load_data(folder, DataOptions(image_size=0))


def many_pictures(folder):
    folder.mkdir()
    for i in range(12):
        Image.new("L", (8, 8), 10 * i).save(folder / f"p{i:02d}.png")
    return folder


@pytest.mark.parametrize("column", ["picture", "weird name"])
def test_a_column_of_names_is_matched_whatever_it_is_called(tmp_path, column):
    lines = [f"p{i:02d}.png,{i // 3}" for i in reversed(range(12))]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([f"{column},kind", *lines]), encoding="utf-8")
    data = load_data(many_pictures(tmp_path / "many"), DataOptions(factors=str(table)))
    assert data.factor_names == ("kind",)
    assert data.factors(np.arange(12))[:, 0].tolist() == [i // 3 for i in range(12)]


def test_names_that_match_no_picture_are_refused_not_taken_by_order(tmp_path):
    lines = [f"other{i},{i // 3}" for i in range(12)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["which,kind", *lines]), encoding="utf-8")
    with pytest.raises(DataError, match="'which' has another word in each line"):
        load_data(many_pictures(tmp_path / "many"), DataOptions(factors=str(table)))
    np.savez(tmp_path / "images.npz", images=np.zeros((12, 8, 8), dtype=np.uint8))
    with pytest.raises(DataError, match="images of an array have no names"):
        load_data(tmp_path / "images.npz", DataOptions(factors=str(table)))
