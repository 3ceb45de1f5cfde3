"""Own images in arrays and array files."""

import tracemalloc

import numpy as np
import pytest
import torch

from unweave.data import DataOptions, from_arrays, load_data
from unweave.errors import ConfigError, DataError


@pytest.fixture(autouse=True)
def own_cache(empty_cache):
    return empty_cache


@pytest.fixture
def images(rng):
    return rng.integers(0, 256, (6, 5, 9, 3)).astype(np.uint8)


def everything(data):
    return data.images(np.arange(len(data)))


def test_bytes_become_values_from_0_to_1(images):
    data = from_arrays(images)
    assert data.image_shape == (3, 5, 9)
    np.testing.assert_allclose(everything(data), images.transpose(0, 3, 1, 2) / 255, atol=1e-6)


def test_bytes_of_0_and_1_are_black_and_white(rng):
    images = rng.integers(0, 2, (4, 5, 5)).astype(np.uint8)
    np.testing.assert_array_equal(everything(from_arrays(images))[:, 0], images)
    np.testing.assert_array_equal(everything(from_arrays(images > 0))[:, 0], images)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_real_numbers_are_taken_as_they_are(rng, dtype):
    images = rng.random((4, 5, 6)).astype(dtype)
    given = everything(from_arrays(images))
    np.testing.assert_array_equal(given[:, 0], images.astype(np.float32))


def test_a_torch_tensor_works_like_an_array(rng):
    tensor = torch.rand(4, 3, 8, 8, requires_grad=True)
    data = from_arrays(tensor, torch.arange(4))
    np.testing.assert_array_equal(everything(data), tensor.detach().numpy())
    assert data.factor_sizes == (4,)


def test_the_smaller_of_the_outer_axes_is_the_channels(images):
    first = from_arrays(images.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(everything(first), everything(from_arrays(images)))
    assert from_arrays(np.zeros((2, 28, 28, 1), np.uint8)).image_shape == (1, 28, 28)
    assert from_arrays(np.zeros((2, 5, 40, 30), np.uint8)).image_shape == (5, 40, 30)


def test_channels_that_could_be_either_axis_must_be_stated():
    images = np.zeros((2, 3, 8, 3))
    with pytest.raises(DataError, match="channels='first' or channels='last'"):
        from_arrays(images)
    assert from_arrays(images, channels="first").image_shape == (3, 8, 3)
    assert from_arrays(images, channels="last").image_shape == (3, 3, 8)


@pytest.mark.parametrize(
    ("images", "advice"),
    [
        (np.full((2, 4, 4), 200.0), "divide by 255"),
        (np.full((2, 4, 4), -0.5), r"\(images \+ 1\) / 2"),
        (np.full((2, 4, 4), 4000.0), "largest value"),
        (np.full((2, 4, 4), np.nan), "image 0 has pixels that are not finite"),
        (np.full((2, 4, 4), np.inf), "not finite"),
        (np.zeros((2, 4, 4), dtype=np.int64), r"astype\(numpy.uint8\)"),
        (np.zeros((2, 4, 4), dtype=complex), "complex128"),
        (np.zeros((4, 4)), r"found shape \(4, 4\)"),
        (np.zeros((0, 4, 4)), "no pixels"),
        (np.zeros((2, 0, 4)), "no pixels"),
        (np.array(["a"]), "found shape"),
        (3, "found shape"),
    ],
)
def test_images_that_cannot_be_used_are_explained(images, advice):
    with pytest.raises(DataError, match=advice):
        from_arrays(images)


def test_a_slight_overshoot_is_clipped():
    images = np.array([0.0, 1.0, -1e-5, 1 + 1e-5], dtype=np.float32).reshape(1, 2, 2)
    assert everything(from_arrays(images)).reshape(-1).tolist() == [0, 1, 0, 1]
    assert images.max() > 1  # the user's array is left as it is


def test_the_image_that_is_not_a_number_is_named(rng):
    images = rng.random((50, 4, 4)).astype(np.float32)
    images[37, 2, 1] = np.nan
    with pytest.raises(DataError, match="image 37"):
        from_arrays(images)


def test_whole_numbers_are_renumbered_and_keep_their_values_as_labels():
    data = from_arrays(np.zeros((4, 2, 2)), np.array([30, -5, 30, 7]), ["angle"])
    factor = data.factor_list[0]
    assert (factor.name, factor.size, factor.labels) == ("angle", 3, ("-5", "7", "30"))
    assert data.factors()[:, 0].tolist() == [2, 0, 2, 1]
    assert not factor.categorical


def test_whole_numbers_from_0_need_no_labels():
    assert from_arrays(np.zeros((3, 2, 2)), [1, 0, 2]).factor_list[0].labels is None


def test_columns_may_be_of_different_kinds():
    columns = {"kind": ["b", "a", "b"], "angle": [0.5, 1.5, 0.25], "on": [True, False, True]}
    data = from_arrays(np.zeros((3, 2, 2)), columns)
    kind, angle, on = data.factor_list
    assert kind.labels == ("a", "b")
    assert kind.categorical
    assert angle.continuous
    assert on.size == 2
    assert data.factors().tolist() == [[1, 0.5, 1], [0, 1.5, 0], [1, 0.25, 1]]


def test_real_columns_of_whole_values_count_as_whole_numbers():
    table = np.array([[1.0, 0.5], [3.0, 0.25], [1.0, 2.0]])
    data = from_arrays(np.zeros((3, 2, 2)), table, ["shape", "width"])
    assert data.factor_sizes == (2, 0)
    assert data.factors()[:, 0].tolist() == [0, 1, 0]


def test_a_data_frame_gives_its_columns():
    import pandas

    frame = pandas.DataFrame({"kind": ["cat", "dog"], "weight": [4.5, 20.25]})
    data = from_arrays(np.zeros((2, 2, 2)), frame)
    assert data.factor_names == ("kind", "weight")
    assert data.factor_list[0].labels == ("cat", "dog")
    assert from_arrays(np.zeros((2, 2, 2)), frame, ["weight"]).factor_names == ("weight",)


def test_a_full_grid_in_order_is_recognised():
    table = np.stack(np.unravel_index(np.arange(6), (2, 3)), axis=1)
    images = np.zeros((6, 2, 2))
    assert from_arrays(images, table).is_grid
    shuffled = from_arrays(images, table[::-1])
    assert not shuffled.is_grid
    assert shuffled.rows_of([[0, 0]]).tolist() == [5]


@pytest.mark.parametrize(
    ("factors", "names", "message"),
    [
        (np.zeros(3), None, "each of the 2 images, found 3"),
        (np.array([0.5, np.nan]), None, "is nan in row 1"),
        (np.array([0.5, np.inf]), None, "is inf in row 1"),
        (np.zeros((2, 2, 2)), None, r"expected factors \(row, factor\)"),
        (np.zeros((2, 2)), ["a"], "1 factor names for 2 columns"),
        (np.zeros((2, 2)), ["a", "a"], "same name"),
        ({"a": [1, 2]}, ["b"], "no factor 'b'"),
        ({"a": [None, {}]}, None, "numbers or strings"),
        ({"a": ["x", " "]}, None, "empty in row 1"),
        ({"a": [[1], [2]]}, None, "expected one axis"),
    ],
)
def test_factors_that_cannot_be_used_are_explained(factors, names, message):
    with pytest.raises(DataError, match=message):
        from_arrays(np.zeros((2, 2, 2)), factors, names)


def test_an_npy_file_is_mapped(tmp_path, images):
    np.save(tmp_path / "pictures.npy", images)
    data = load_data(tmp_path / "pictures.npy")
    assert data.name == "pictures"
    assert isinstance(data.pixels.array, np.memmap)
    np.testing.assert_array_equal(data.pixels.array, images)


def test_a_file_larger_than_memory_opens_at_once(tmp_path):
    """Sixty gigabytes, of which the disk holds one block: a hole reads as zeros."""
    path, shape = tmp_path / "large.npy", (5_000_000, 64, 64, 3)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|u1", "fortran_order": False, "shape": shape}
        )
        file.write(bytes([255]))
        file.truncate(file.tell() - 1 + int(np.prod(shape)))
    tracemalloc.start()
    data = load_data(path)
    batch = data.images([0, 4_999_999, 2_000_000])
    assert batch[0, 0, 0, 0] == 1
    assert batch.sum() == 1
    assert len(data.split(0.1)[1]) == 500_000
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npz_is_mapped_with_its_factors(tmp_path, images, save, order, own_cache):
    table = np.array([[0, 5], [1, 5], [2, 5], [0, 6], [1, 6], [2, 6]])
    names = np.array(["shape", "angle"])
    save(
        tmp_path / "set.npz", imgs=np.asarray(images, order=order), labels=table, factor_names=names
    )
    data = load_data(tmp_path / "set.npz")
    np.testing.assert_allclose(everything(data), images.transpose(0, 3, 1, 2) / 255, atol=1e-6)
    assert data.factor_names == ("shape", "angle")
    assert data.factor_sizes == (3, 2)
    assert data.factor_list[1].labels == ("5", "6")
    # What is not compressed is mapped in place.
    assert len(list(own_cache.rglob("*.npy"))) == (save is np.savez_compressed)


def test_single_columns_of_an_npz_are_factors_by_their_names(tmp_path, images):
    np.savez(
        tmp_path / "a.npz",
        pictures=images,
        person=np.arange(6) // 2,
        light=np.linspace(0, 1, 6),
        notes=np.zeros(4),
    )
    data = load_data(tmp_path / "a.npz")
    assert data.factor_names == ("person", "light")
    assert data.factor_sizes == (3, 0)


def test_classes_of_a_dsprites_like_file_are_found_without_its_pickle(tmp_path, images):
    classes = np.arange(12).reshape(6, 2)
    metadata = np.array({"a": 1}, dtype=object)
    np.savez(tmp_path / "a.npz", imgs=images, latents_classes=classes, metadata=metadata)
    assert load_data(tmp_path / "a.npz").factor_names == ("factor_0", "factor_1")


def test_factors_come_from_a_file_of_their_own(tmp_path, images):
    np.save(tmp_path / "images.npy", images)
    (tmp_path / "t.csv").write_text("kind,size\nb,1.5\na,2\nb,3\na,4\na,5\na,6\n")
    np.save(tmp_path / "t.npy", np.arange(6) % 3)
    np.savez(tmp_path / "t.npz", y=np.arange(6) % 3)
    csv, npy, npz = (
        load_data(tmp_path / "images.npy", DataOptions(factors=str(tmp_path / f"t.{suffix}")))
        for suffix in ("csv", "npy", "npz")
    )
    assert csv.factor_names == ("kind", "size")
    assert csv.factors([0])[0].tolist() == [1, 1.5]
    assert npy.factor_names == ("factor_0",)
    assert npz.factor_names == ("y",)
    np.testing.assert_array_equal(npy.factors(), npz.factors())


def test_a_file_of_factors_of_another_length_is_refused(tmp_path, images):
    np.save(tmp_path / "images.npy", images)
    np.save(tmp_path / "t.npy", np.zeros((5, 2)))
    np.savez(tmp_path / "t.npz", a=np.zeros(5))
    for suffix, message in {"npy": "expected 6 lines", "npz": "no array of 6 values"}.items():
        with pytest.raises(DataError, match=message):
            load_data(tmp_path / "images.npy", DataOptions(factors=str(tmp_path / f"t.{suffix}")))


def test_factors_of_another_length_are_refused(tmp_path, images):
    np.savez(tmp_path / "a.npz", images=images, labels=np.zeros((5, 2)))
    with pytest.raises(DataError, match="expected 6 lines"):
        load_data(tmp_path / "a.npz")


def test_images_are_resized_into_the_cache(tmp_path, rng, own_cache):
    images = np.zeros((3, 20, 30, 3), dtype=np.uint8)
    images[:, :, 5:25] = [10, 100, 200]  # the middle square
    np.save(tmp_path / "bytes.npy", images)
    np.save(tmp_path / "floats.npy", (images / 255).astype(np.float32))
    for name in ("bytes", "floats"):
        data = load_data(tmp_path / f"{name}.npy", DataOptions(image_size=8))
        assert data.image_shape == (3, 8, 8)
        expected = np.broadcast_to(np.array([10, 100, 200]).reshape(3, 1, 1) / 255, (3, 3, 8, 8))
        np.testing.assert_allclose(everything(data), expected, atol=1e-6)
    assert len(list(own_cache.glob("resized/*.npy"))) == 2


def test_black_and_white_stays_so_when_resized(tmp_path):
    images = np.zeros((2, 16, 16), dtype=np.uint8)
    images[:, 4:12, 4:12] = 1
    np.save(tmp_path / "a.npy", images)
    small = everything(load_data(tmp_path / "a.npy", DataOptions(image_size=8)))
    assert small[0, 0, 4, 4] == 1
    assert small[0, 0, 0, 0] == 0


def test_colors_are_joined_or_repeated_when_asked(tmp_path, images):
    np.save(tmp_path / "rgb.npy", images)
    np.save(tmp_path / "grey.npy", images[..., 0])
    grey = load_data(tmp_path / "rgb.npy", DataOptions(color="grey"))
    weights = np.array([0.299, 0.587, 0.114])
    np.testing.assert_allclose(everything(grey)[:, 0], images @ weights / 255, atol=1e-5)
    rgb = load_data(tmp_path / "grey.npy", DataOptions(color="rgb"))
    assert rgb.image_shape == (3, 5, 9)
    np.testing.assert_allclose(everything(rgb)[:, 2], images[..., 0] / 255, atol=1e-6)
    np.save(tmp_path / "two.npy", images[..., :2])
    with pytest.raises(DataError, match="2 channels into grey"):
        load_data(tmp_path / "two.npy", DataOptions(color="grey"))


def test_real_numbers_in_a_file_are_checked(tmp_path, rng):
    images = rng.random((10, 4, 4))
    images[7] = 200
    np.save(tmp_path / "a.npy", images)
    for _ in range(2):  # a failed check is not remembered as passed
        with pytest.raises(DataError, match=r"around image 7; .*divide by 255"):
            load_data(tmp_path / "a.npy")


def test_a_checked_file_is_checked_again_only_when_it_changes(tmp_path, rng, monkeypatch):
    path = tmp_path / "a.npy"
    np.save(path, rng.random((10, 4, 4)))
    load_data(path)
    with monkeypatch.context() as patched:
        patched.setattr("unweave.data._own_arrays._check_range", lambda *_: pytest.fail("again"))
        load_data(path)
    np.save(path, rng.random((11, 4, 4)) * 2)
    with pytest.raises(DataError, match="must lie in"):
        load_data(path)


@pytest.mark.parametrize(
    ("largest", "white"),
    [(255, 255), (256, 1023), (4000, 4095), (9000, 16383), (20_000, 65535), (65535, 65535)],
)
def test_16_bit_images_are_as_white_as_their_bits_allow(tmp_path, largest, white, empty_cache):
    images = np.zeros((3, 8, 8), np.uint16)
    images[1] = largest
    images[2, 0, 0] = largest // 2
    path = tmp_path / "images.npy"
    np.save(path, images)
    for data in (from_arrays(images), load_data(path)):
        shown = data.images([0, 1, 2])[:, 0]
        np.testing.assert_allclose(shown, images / white, atol=1e-6)
        assert f"{white:,} is white" in data.note


def test_16_bit_images_keep_their_steps_when_they_are_resized(tmp_path, empty_cache):
    images = np.full((2, 8, 8), 60_000, np.uint16)
    images[1] = 60_020  # less than one step of 8 bits further
    np.save(tmp_path / "images.npy", images)
    data = load_data(tmp_path / "images.npy", image_size=4)
    shown = data.images([0, 1])
    np.testing.assert_allclose(shown[0], 60_000 / 65535, atol=1e-6)
    assert (shown[1] > shown[0]).all()


def test_options_can_be_given_one_by_one(tmp_path, empty_cache):
    np.save(tmp_path / "images.npy", np.zeros((2, 8, 8), np.uint8))
    (tmp_path / "table.csv").write_text("shape\na\nb\n")
    data = load_data(tmp_path / "images.npy", factors=tmp_path / "table.csv", image_size=4)
    assert data.image_shape == (1, 4, 4)
    assert data.factor_names == ("shape",)
    options = DataOptions(image_size=2)
    assert load_data(tmp_path / "images.npy", options, color="rgb").image_shape == (3, 2, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"imagesize": 4}, "no setting 'imagesize'. Did you mean 'image_size'"),
        ({"bad_images": "drop"}, "load_data.bad_images: 'drop'"),
        ({"image_size": "large"}, "load_data.image_size: expected a whole number"),
    ],
)
def test_an_option_that_does_not_exist_is_explained(changes, message, tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((2, 8, 8), np.uint8))
    with pytest.raises(ConfigError, match=message):
        load_data(tmp_path / "images.npy", **changes)
