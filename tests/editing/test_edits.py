"""Images changed through their codes, and what is said of it."""

import json

import numpy as np
import pytest
from PIL import Image

import known_models
from unweave import editing
from unweave.cli import main
from unweave.data import load_data
from unweave.errors import ConfigError
from unweave.methods import Part
from unweave.runs.wrapped import wrap


@pytest.fixture(scope="module")
def exact(toy):
    """A model whose codes are x, y, side and nothing, z1 being called height."""
    return known_models.separated(toy, latent_names={1: "height"})


@pytest.fixture(scope="module")
def finder(exact):
    return editing.Finder(exact)


@pytest.fixture(scope="module")
def reader(toy):
    return editing.fit_reader(toy)


def image_of(toy, x, y, side):
    return toy.images(toy.rows_of([[x, y, side]]))


def test_a_latent_is_found_by_its_number_its_name_and_its_factor(finder):
    assert finder.find("z2").unit.dimensions == range(2, 3)
    assert finder.find("Height").unit.dimensions == range(1, 2)
    found = finder.find("side")
    assert found.unit.dimensions == range(2, 3)
    assert "knows 1.00 of its entropy" in found.evidence
    assert "by chance" in found.evidence


@pytest.mark.parametrize(
    ("word", "hint"), [("z4", "z0 to z3"), ("sied", "'side'"), ("nothing", "no latent")]
)
def test_what_is_not_there_is_refused_with_a_hint(finder, word, hint):
    with pytest.raises(ConfigError, match=hint):
        finder.find(word)


def test_a_factor_that_no_latent_carries_is_refused(toy):
    blind = wrap(lambda images: known_models.standard(images)[:, :2], toy, name="blind")
    with pytest.raises(ConfigError, match="no latent carries side"):
        editing.Finder(blind).find("side")


def test_a_set_latent_changes_what_it_stands_for_and_nothing_else(exact, finder, reader, toy):
    image = image_of(toy, 3, 12, 1)
    edited = editing.edit(exact, image, [editing.read_change("z0=1.125", finder)], reader=reader)
    assert known_models.read_factors(edited.edited).tolist() == [[12, 12, 1]]
    moved = {change.factor: change.moved for change in edited.factors_moved}
    assert moved["x"] == pytest.approx(9 / 15, abs=0.05)
    assert moved["y"] < 0.05
    assert moved["side"] < 0.1


def test_the_judge_notices_what_changed_besides(toy, reader):
    """A model that mixes x and y moves both, and the judge says so."""

    def decode(codes):
        x, y = (codes[:, 0] + codes[:, 1]) / 2, (codes[:, 0] - codes[:, 1]) / 2
        return known_models.draw(toy, np.stack([x, y, codes[:, 2]], axis=1))

    encode = known_models.entangled(toy).encode
    mixed = wrap(encode, toy, decode=decode, name="mixed")
    finder = editing.Finder(mixed)
    change = editing.read_change("z0+=1.5", finder)
    edited = editing.edit(mixed, image_of(toy, 6, 6, 1), [change], reader=reader)
    moved = {change.factor: change.moved for change in edited.factors_moved}
    assert moved["x"] > 0.1
    assert moved["y"] > 0.1


def test_a_change_by_factor_goes_to_the_value_as_it_is_called(exact, finder, toy):
    change = editing.read_change("side=14", finder)
    edited = editing.edit(exact, image_of(toy, 3, 12, 0), [change])
    assert known_models.read_factors(edited.edited).tolist() == [[3, 12, 3]]
    assert "side is carried by z2" in edited.paragraph()
    with pytest.raises(ConfigError, match="expected one of 5, 8, 11, 14"):
        editing.read_change("side=3", finder)


def test_moving_goes_by_an_amount_and_setting_to_one(exact, finder, toy):
    image = image_of(toy, 3, 12, 0)
    code = exact.encode(image)[0]
    moved = editing.edit(exact, image, [editing.read_change("z0+=0.5", finder)])
    assert moved.edited_codes[0, 0] == pytest.approx(code[0] + 0.5)
    back = editing.edit(exact, image, [editing.read_change("z0 -= 0.5", finder)])
    assert back.edited_codes[0, 0] == pytest.approx(code[0] - 0.5)
    put = editing.edit(exact, image, [editing.read_change("z0=+0.5", finder)])
    assert put.edited_codes[0, 0] == pytest.approx(0.5)


def test_something_is_taken_from_another_image(exact, finder, toy):
    other = exact.encode(image_of(toy, 14, 1, 3))[0]
    change = editing.taken_from(other, finder.find("side"), "other")
    edited = editing.edit(exact, image_of(toy, 3, 12, 0), [change])
    assert known_models.read_factors(edited.edited).tolist() == [[3, 12, 3]]


def test_content_and_style_are_taken_by_the_methods_own_swap(exact, toy):
    """Of this model the content is the place and the style is the side."""
    image, other = image_of(toy, 3, 12, 0), image_of(toy, 14, 1, 3)[0]
    style = editing.swap(exact, image, other, "style", "other")
    assert known_models.read_factors(style.edited).tolist() == [[3, 12, 3]]
    content = editing.swap(exact, image, other, "content", "other")
    assert known_models.read_factors(content.edited).tolist() == [[14, 1, 0]]


def test_without_a_swap_the_dimensions_of_the_role_are_taken(toy):
    parts = [Part(2, role="content"), Part(2, role="style")]
    model = known_models.separated(toy, parts=parts, swap=None)
    image, other = image_of(toy, 3, 12, 0), image_of(toy, 14, 1, 3)[0]
    taken = editing.swap(model, image, other, "style", "other")
    assert known_models.read_factors(taken.edited).tolist() == [[3, 12, 3]]
    plain = known_models.separated(toy, swap=None)
    with pytest.raises(ConfigError, match="does not tell content from style"):
        editing.swap(plain, image, other, "style", "other")


def test_a_category_is_chosen_and_an_angle_is_turned(toy):
    shapes = load_data("toy_shapes").subset(np.arange(0, 2535, 100))

    def encode(images):
        return np.tile(np.array([1, 0, 0, 1, 0], dtype=np.float32), (len(images), 1))

    def decode(codes):
        return np.zeros((len(codes), 1, 32, 32), dtype=np.float32)

    parts = [Part(3, "category"), Part(2, "angle")]
    model = wrap(encode, shapes, decode=decode, parts=parts, name="parts")
    finder, image = editing.Finder(model), shapes.images([0])
    chosen = editing.edit(model, image, [editing.read_change("z0=2", finder)])
    assert chosen.edited_codes.tolist() == [[0, 0, 1, 1, 0]]
    turned = editing.edit(model, image, [editing.read_change(f"z3+={np.pi / 2}", finder)])
    assert np.allclose(turned.edited_codes, [[1, 0, 0, 0, 1]], atol=1e-6)
    for text, hint in [("z0=3", "from 0 to 2"), ("z0+=1", "choose one with ="), ("z0=x", "number")]:
        with pytest.raises(ConfigError, match=hint):
            editing.read_change(text, finder)


def test_varied_images_follow_the_values(exact, finder, reader, toy):
    varied = editing.vary(
        exact,
        image_of(toy, 3, 12, 0),
        finder.find("z0"),
        low=-1.875,
        high=1.875,
        steps=6,
        reader=reader,
    )
    xs = known_models.read_factors(varied.images[0])[:, 0]
    assert xs.tolist() == [0, 3, 6, 9, 12, 15]
    moved = {change.factor: change.moved for change in varied.factors_moved}
    assert moved["x"] > 0.9
    assert len(varied.animation().frames) == 2 * 6 - 2


def test_the_reader_is_good_where_images_tell_and_no_better_than_chance_where_they_do_not(toy):
    found = {reading.factor: reading for reading in editing.fit_reader(toy).readings}
    assert min(found[name].quality for name in ("x", "y", "side")) > 0.98
    shapes = load_data("toy_shapes")
    by_name = {reading.factor: reading for reading in editing.fit_reader(shapes).readings}
    assert by_name["shape"].quality > 0.9
    assert by_name["shape"].chance < 0.5
    rng = np.random.default_rng(0)
    from unweave.data import from_arrays

    noise = from_arrays(toy.images(np.arange(1024)), {"coin": rng.random(1024)}, name="noise")
    assert abs(editing.fit_reader(noise).readings[0].quality) < 0.1


@pytest.fixture
def pictures(toy, tmp_path, monkeypatch):
    """A folder with two pictures, and a module with a model of ours that can be imported."""
    monkeypatch.chdir(tmp_path)
    for name, factors in {"cat": [3, 12, 0], "dog": [14, 1, 3]}.items():
        pixels = (image_of(toy, *factors)[0, 0] * 255).astype(np.uint8)
        (tmp_path / "photos").mkdir(exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{name}.png")
    (tmp_path / "exact_squares.py").write_text(
        "import known_models\n"
        "from unweave.data import load_data\n"
        "toy = load_data('toy_xys')\n"
        "class Exact:\n"
        "    def encode(self, images):\n        return known_models.standard(images)\n"
        "    def decode(self, codes):\n        return known_models.draw(toy, codes)\n"
        "    def swap(self, a, b):\n        return known_models.swap(toy, a, b)\n"
    )
    return tmp_path


EXACT = ["edit", "--model", "exact_squares:Exact", "--data", "toy_xys", "--image", "photos/cat.png"]


def factors_in(path):
    with Image.open(path) as picture:
        return known_models.read_factors(np.asarray(picture)[None, None] / 255)[0].tolist()


def test_the_command_sets_takes_swaps_and_varies(pictures, capsys):
    assert main([*EXACT, "--set", "z0=1.125", "side=14", "--to", "a.png"]) == 0
    out = capsys.readouterr().out
    assert factors_in("a.png") == [12, 12, 3]
    assert "Asked for: side moved" in out
    numbers = json.loads((pictures / "a.json").read_text())
    assert numbers["changes"] == ["z0 set to 1.125", "z2 set to where side is 14"]
    assert {change["factor"] for change in numbers["factors_moved"]} == {"x", "y", "side"}
    like = ["--like", "photos/dog.png", "--no-judge"]
    assert main([*EXACT, *like, "--take", "side", "--to", "b.png"]) == 0
    assert factors_in("b.png") == [3, 12, 3]
    assert main([*EXACT, *like, "--take", "content", "--to", "c.png", "--figure", "c.pdf"]) == 0
    assert factors_in("c.png") == [14, 1, 0]
    assert (pictures / "c.pdf").read_bytes().startswith(b"%PDF")
    assert main([*EXACT, "--vary", "x", "--no-judge", "--to", "strip.png"]) == 0
    assert main([*EXACT, "--vary", "x", "--no-judge", "--to", "moving.gif"]) == 0
    with Image.open("moving.gif") as moving:
        assert moving.n_frames > 2
    assert main([*EXACT, "--set", "z0=1", "--no-judge", "--to", "moving.webp"]) == 0


def test_a_folder_is_changed_into_a_folder(pictures, capsys):
    words = [*EXACT[:-1], "photos", "--set", "side=5", "--no-judge"]
    assert main([*words, "--to", "edited"]) == 0
    assert factors_in("edited/cat.png") == [3, 12, 0]
    assert factors_in("edited/dog.png") == [14, 1, 0]
    assert (pictures / "edited/edit.json").is_file()
    assert main([*words, "--to", "sheet.png"]) == 0
    assert main([*words, "--to", "edited"]) == 2, "pictures there are not replaced"


def test_a_run_is_edited_by_the_name_that_the_explorer_keeps(tiny_run, tmp_path, capsys):
    import shutil

    import unweave as uw

    folder = tmp_path / "run"
    shutil.copytree(tiny_run("vae").path, folder)
    uw.load(folder).name_latent(2, "width of it")
    words = ["edit", str(folder), "--row", "5", "--no-judge", "--to", str(tmp_path / "a.png")]
    assert main([*words, "--set", "width of it=1.5"]) == 0
    assert "z2 width of it set to 1.5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--set", "z0"], "expected a change such as"),
        (["--set", "z9=1"], "z0 to z3"),
        (["--set", "z0=1", "--vary", "z0"], "one of --set"),
        ([], "one of --set"),
        (["--take", "side"], "belong together"),
        (["--set", "z0=1", "--to", "a.txt"], "written as .png"),
        (["--vary", "z0", "--to", "folder"], "varied images are written"),
        (["--vary", "z0", "--steps", "1"], "2 steps or more"),
    ],
)
def test_mistakes_in_edits_are_said_in_one_line(pictures, capsys, words, hint):
    assert main([*EXACT, *words]) == 2
    err = capsys.readouterr().err
    assert hint in err
    assert len(err.strip().splitlines()) == 1
