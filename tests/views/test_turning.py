"""A category is chosen, an angle goes round, a number slides; a generator starts at its prior."""

import numpy as np
import pytest

from unweave import figures, views
from unweave.errors import ConfigError, DataError
from unweave.methods import Code, Part
from unweave.runs.wrapped import wrap
from unweave.views.turning import nearest_column, turned, value_in, values_of

CODE = Code((Part(3, "category", "content", "shape"), Part(2, "angle"), Part(2, role="style")))


@pytest.fixture
def generator(toy):
    """A model of squares: one of four sides is chosen, the place slides."""

    def decode(codes: np.ndarray) -> np.ndarray:
        place = np.clip(np.rint(codes[:, 4:] * 4 + 7.5), 0, 15).astype(int)
        side = codes[:, :4].argmax(1)
        return toy.images(toy.rows_of(np.column_stack([place, side])))

    def prior(count: int, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        sides = np.eye(4)[rng.integers(4, size=count)]
        return np.concatenate([sides, rng.standard_normal((count, 2))], axis=1)

    parts = (Part(4, "category"), Part(2))
    return wrap(None, toy, decode=decode, prior=prior, parts=parts, name="squares")


def test_units_are_a_category_an_angle_and_single_numbers():
    assert [unit.label for unit in CODE.units] == ["z0–z2", "z3–z4", "z5", "z6"]
    assert CODE.size == 7
    assert CODE.roles == {"content": [0, 1, 2], "style": [5, 6]}
    assert CODE.unit_of(4) == CODE.units[1]
    with pytest.raises(ConfigError, match="3 dimensions of angle"):
        Part(3, "angle")


def test_turning_a_unit_leaves_the_others_where_they_are():
    code = np.arange(7, dtype=np.float32)
    category, angle, number, _ = CODE.units
    chosen = turned(code, category, values_of(category, np.linspace(-2, 2, 5)))
    np.testing.assert_array_equal(chosen[:, :3], np.eye(3))
    np.testing.assert_array_equal(chosen[:, 3:], np.tile(code[3:], (3, 1)))
    round_once = turned(code, angle, values_of(angle, np.linspace(-2, 2, 5)))
    np.testing.assert_allclose(np.hypot(*round_once[:, 3:5].T), 1, rtol=1e-6)
    np.testing.assert_allclose(round_once[0], round_once[-1], atol=1e-6)
    slid = turned(code, number, np.array([-1.0, 1.0]))
    np.testing.assert_array_equal(slid[:, 5], [-1, 1])
    np.testing.assert_array_equal(np.delete(slid, 5, axis=1), np.delete([code, code], 5, axis=1))


def test_a_code_is_found_where_it_was_turned_to():
    code = np.zeros(7, dtype=np.float32)
    for unit, value in zip(CODE.units, (2.0, 0.7, -1.5, 0.25), strict=True):
        (moved,) = turned(code, unit, np.array([value]))
        assert value_in(moved, unit) == pytest.approx(value)
        assert nearest_column(moved, unit, np.array([value, 9.0])) == 0


def test_a_choice_that_is_not_shown_is_not_marked():
    category = Code((Part(9, "category"),)).units[0]
    code = np.eye(9, dtype=np.float32)[7]
    values = values_of(category, np.linspace(-2, 2, 4))
    np.testing.assert_array_equal(values, [0, 1, 2, 3])
    assert nearest_column(code, category, values) == -1


def test_a_generator_is_traversed_from_its_prior_with_a_line_a_choice(generator):
    view = views.traversals(generator, steps=6)
    assert view.labels == ["z0–z3", "z4", "z5"]
    assert view.kinds == ["category", "number", "number"]
    assert view.kl is None
    np.testing.assert_array_equal(view.start, generator.prior_codes(1)[0])
    assert np.isnan(view.values[0, 4:]).all()
    sides = view.images[0, :4].sum(axis=(1, 2, 3)) ** 0.5
    assert (np.diff(sides) > 0).all(), "each choice another side"
    assert (view.images[0, 4:] == 1).all(), "white where there is no choice"
    assert view.nearest[0] == view.start[:4].argmax()


def test_figures_of_a_generator_are_drawn_and_the_others_say_why_not(generator, tmp_path):
    drawn = figures.draw(generator, tmp_path)
    assert set(drawn.paths) == {"prior_samples", "traversals", "traversals_animated"}
    assert "generator without an encoder" in drawn.reasons["reconstructions"]
    assert "generator without an encoder" in drawn.reasons["heat_map_mi"]
    with pytest.raises(ConfigError, match="squares has no codes of images"):
        views.traversals(generator, ranges="posterior")


def test_a_generator_needs_a_decoder_and_a_prior(toy):
    with pytest.raises(ConfigError, match="give decode and the prior"):
        wrap(None, toy)


def test_parts_must_fit_the_codes(toy):
    with pytest.raises(ConfigError, match="parts of 3 dimensions for codes of 2"):
        wrap(lambda images: images[:, 0, :2, 0], toy, parts=[Part(3)])
    with pytest.raises(DataError, match="returned ndarray of shape"):
        wrap(lambda images: images, toy)
