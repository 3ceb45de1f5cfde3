"""The rendering of dSprites, its variants and the toys."""

import hashlib

import numpy as np
import pytest
from PIL import Image

from unweave.data import _sprites, load_data
from unweave.data.scream_dsprites import cloud_texture
from unweave.errors import DataError


@pytest.fixture(scope="module")
def sprites():
    return load_data("dsprites")


def test_the_whole_rendering_is_the_known_one(sprites):
    digest = hashlib.sha256(memoryview(np.ascontiguousarray(sprites.pixels.words)))
    known = "faaf9cf5fa6256819224cb831e7fe802f7e166a63fda58f12c5f1c6eec3f5ea0"
    assert digest.hexdigest() == known


def test_the_rendering_has_the_known_pixels_on(sprites):
    ones = np.array([n.bit_count() for n in range(2**16)], dtype=np.uint8)
    halves = sprites.pixels.words.reshape(-1).view(np.uint16)
    assert ones[halves].sum(dtype=np.int64) == 128_328_864


def test_no_sprite_leaves_rows_and_columns_2_to_61(sprites):
    touched = np.bitwise_or.reduce(sprites.pixels.words, axis=0)
    assert np.flatnonzero(touched).tolist() == list(range(2, 62))
    columns = np.bitwise_or.reduce(touched)
    assert [c for c in range(64) if int(columns) >> c & 1] == list(range(2, 62))


def test_715706_images_are_distinct(sprites):
    # By their hashes, of 64 bits: two images share one by chance once in 10⁷ such tests.
    assert len({hash(image.tobytes()) for image in sprites.pixels.words}) == 715_706


def test_the_first_and_last_orientation_coincide(sprites, rng):
    factors = sprites.factors(sprites.sample_rows(50, rng, {"orientation": 0}))
    first = sprites.images(sprites.rows_of(factors))
    factors[:, 2] = 39
    np.testing.assert_array_equal(first, sprites.images(sprites.rows_of(factors)))


def test_x_moves_right_and_y_moves_down(sprites):
    def middle(x, y):
        image = sprites.images(sprites.rows_of([[0, 3, 0, x, y]]))[0, 0]
        down, across = np.nonzero(image)
        return down.mean() + 0.5, across.mean() + 0.5

    assert middle(0, 0) == pytest.approx((16, 16), abs=0.6)
    assert middle(31, 0) == pytest.approx((16, 48), abs=0.6)
    assert middle(0, 31) == pytest.approx((48, 16), abs=0.6)


def test_the_upright_square_has_the_side_its_scale_says(sprites):
    for scale in range(6):
        image = sprites.images(sprites.rows_of([[0, scale, 0, 16, 16]]))[0, 0]
        side = 2 * 9.6 * (0.5 + 0.1 * scale)
        assert image.sum() ** 0.5 == pytest.approx(side, abs=1)


@pytest.mark.parametrize(("shape", "area"), [(0, 4.0), (1, np.pi)])
def test_area_does_not_depend_on_orientation(sprites, shape, area):
    rows = sprites.rows_of([[shape, 5, turn, 9, 20] for turn in range(40)])
    pixels = sprites.images(rows).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(pixels, area * 9.6**2, rtol=0.03)


def test_the_heart_points_down(sprites):
    image = sprites.images(sprites.rows_of([[2, 5, 0, 16, 16]]))[0, 0]
    rows = np.flatnonzero(image.any(axis=1))
    widths = image[rows].sum(axis=1)
    assert widths[-1] < 4 < widths[2]


def test_a_block_is_rendered_as_in_the_whole(sprites):
    block = _sprites.render_block(2, 1, 17)
    row = sprites.rows_of([[2, 1, 17, 0, 0]])[0]
    np.testing.assert_array_equal(block.reshape(1024, 64), sprites.pixels.words[row : row + 1024])


def test_color_gives_each_sprite_one_bright_color(sprites, rng):
    rows = rng.integers(len(sprites), size=20)
    plain, colored = sprites.images(rows), load_data("color_dsprites").images(rows, rng)
    assert (colored[np.broadcast_to(plain == 0, colored.shape)] == 0).all()
    for image, sprite in zip(colored, plain[:, 0], strict=True):
        inside = image[:, sprite > 0]
        assert (inside == inside[:, :1]).all()
        assert inside.min() >= 0.5
    assert len(np.unique(colored.max(axis=(2, 3)), axis=0)) == 20


def test_noise_surrounds_white_sprites(sprites, rng):
    rows = rng.integers(len(sprites), size=20)
    plain, noisy = sprites.images(rows), load_data("noisy_dsprites").images(rows, rng)
    inside = np.broadcast_to(plain > 0, noisy.shape)
    assert (noisy[inside] == 1).all()
    assert noisy[~inside].mean() == pytest.approx(0.5, abs=0.01)
    assert noisy[~inside].std() == pytest.approx(12**-0.5, abs=0.01)


def test_without_the_painting_the_set_calls_itself_texture():
    data = load_data("scream_dsprites")
    assert data.name == "texture_dsprites"
    assert cloud_texture().shape == (3, 274, 350)


def test_sprites_invert_the_painting(tmp_path, sprites, rng):
    path = tmp_path / "scream.png"
    Image.new("RGB", (700, 548), (51, 102, 153)).save(path)
    data = load_data(f"scream_dsprites:{path}")
    assert data.name == "scream_dsprites"
    rows = rng.integers(len(sprites), size=20)
    images, inside = data.images(rows, rng), sprites.images(rows)[:, 0] > 0
    for image, sprite in zip(images, inside, strict=True):
        outside = image[:, ~sprite]
        assert np.ptp(outside, axis=1).max() < 1e-6
        np.testing.assert_allclose(image[:, sprite], 1 - outside[:, :1].repeat(sprite.sum(), 1))
        color = outside[:, 0] * 2 - np.array([0.2, 0.4, 0.6])
        assert (color >= -1e-6).all()
        assert (color <= 1 + 1e-6).all()


def test_a_painting_that_is_too_small_is_refused(tmp_path):
    path = tmp_path / "small.png"
    Image.new("RGB", (60, 60)).save(path)
    with pytest.raises(DataError, match="64"):
        load_data(f"scream_dsprites:{path}")


def test_random_parts_change_between_accesses(sprites):
    data = load_data("color_dsprites")
    rng = np.random.default_rng(0)
    assert (data.images([5], rng) != data.images([5], rng)).any()


def test_toy_xys_is_one_square_per_image():
    data = load_data("toy_xys")
    assert len(data) == 1024
    assert data.factor_sizes == (16, 16, 4)
    images = data.images(np.arange(1024))[:, 0]
    for factors, image in zip(data.factors(), images, strict=True):
        x, y, side = 8 + factors[0], 8 + factors[1], (5, 8, 11, 14)[factors[2]]
        expected = np.zeros((32, 32))
        expected[y - side // 2 : y - side // 2 + side, x - side // 2 : x - side // 2 + side] = 1
        np.testing.assert_array_equal(image, expected)


def test_toy_shapes_stay_inside_and_keep_their_place():
    data = load_data("toy_shapes")
    images = data.images(np.arange(len(data)))[:, 0]
    factors = data.factors()
    assert len(data) == 3 * 5 * 13 * 13
    assert images[:, [0, -1]].max() == images[:, :, [0, -1]].max() == 0
    square, disc, cross = (images[factors[:, 0] == shape] for shape in range(3))
    widths = 9 + factors[factors[:, 0] == 0][:, 1]
    np.testing.assert_array_equal(square.sum(axis=(1, 2)), widths**2)
    np.testing.assert_allclose(disc.sum(axis=(1, 2)), np.pi / 4 * widths**2, rtol=0.09)
    for other in (disc, cross):  # inside the square, and touching its four sides
        assert (other <= square).all()
        np.testing.assert_array_equal(other.max(axis=1), square.max(axis=1))
        np.testing.assert_array_equal(other.max(axis=2), square.max(axis=2))
    corner = np.argwhere(square[0]).mean(axis=0)  # side 9, both offsets −6 from the middle, 16
    assert corner.tolist() == [10.0, 10.0]


def test_toy_images_are_all_different():
    for name in ("toy_xys", "toy_shapes"):
        data = load_data(name)
        images = data.images(np.arange(len(data))).reshape(len(data), -1)
        assert len(np.unique(images, axis=0)) == len(data)
