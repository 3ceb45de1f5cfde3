"""Loaders of original files, each on a small file in the exact format."""

import sys
import zipfile

import numpy as np
import pytest
import written_sets as written
from PIL import Image

from unweave.data import DataOptions, load_data
from unweave.data._hdf5_files import map_images
from unweave.errors import DataError


@pytest.fixture(autouse=True)
def own_cache(empty_cache):
    return empty_cache


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


def greys(data) -> np.ndarray:
    """Return the middle pixel of every image, having checked that all pixels are as one."""
    images = data.images(np.arange(len(data)))
    assert (np.ptp(images, axis=(1, 2, 3)) < 0.03).all()
    return images[:, 0, images.shape[2] // 2, images.shape[3] // 2] * 255


@pytest.mark.parametrize("compressed", [True, False])
def test_dsprites_npz_gives_its_images_as_bits(folder, monkeypatch, compressed):
    path, images = written.write_dsprites(folder, monkeypatch, compressed=compressed)
    data = load_data(f"dsprites:{path}")
    np.testing.assert_array_equal(data.images(np.arange(len(data)))[:, 0], images)
    assert data.pixels.words.nbytes == images.nbytes // 8


def test_dsprites_hdf5_twin_gives_the_same(folder, monkeypatch):
    path, images = written.write_dsprites_h5(folder, monkeypatch)
    data = load_data(f"dsprites:{path}")
    np.testing.assert_array_equal(data.images(np.arange(len(data)))[:, 0], images)
    assert data.factor_names == ("shape", "scale", "orientation", "x", "y")


def test_dsprites_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_dsprites(folder, lowered)
    with pytest.raises(DataError, match=r"expected 'imgs' as uint8 of shape \(737280, 64, 64\)"):
        load_data(f"dsprites:{path}")


def test_dsprites_in_another_order_is_refused(folder, monkeypatch):
    path, images = written.write_dsprites(folder, monkeypatch)
    classes = np.load(path)["latents_classes"]
    np.savez(path, imgs=images, latents_classes=classes[::-1])
    with pytest.raises(DataError, match="order"):
        load_data(f"dsprites:{path}")


@pytest.mark.parametrize("shape", [(9, 6), (144, 5), (144,), (144, 6, 1)])
def test_dsprites_with_other_classes_is_refused(folder, monkeypatch, shape):
    path, images = written.write_dsprites(folder, monkeypatch)
    np.savez(path, imgs=images, latents_classes=np.zeros(shape, dtype=np.int64))
    with pytest.raises(DataError, match=r"expected labels|expected classes"):
        load_data(f"dsprites:{path}")


def test_dsprites_that_are_not_black_and_white_are_refused(folder, monkeypatch):
    path, images = written.write_dsprites(folder, monkeypatch)
    np.savez(path, imgs=images * 255)
    with pytest.raises(DataError, match="0 and 1, found 255"):
        load_data(f"dsprites:{path}")


@pytest.mark.parametrize("npz", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_shapes3d_gives_its_images(folder, monkeypatch, packed, npz, own_cache):
    path, images = written.write_shapes3d(folder, monkeypatch, packed=packed, npz=npz)
    data = load_data(f"shapes3d:{path}")
    expected = images.transpose(0, 3, 1, 2) / np.float32(255)
    np.testing.assert_allclose(data.images(np.arange(len(data))), expected, atol=1e-6)
    assert data.factor_sizes == (2, 3, 2, 2, 4, 3)
    assert isinstance(data.pixels.array, np.memmap)
    # Only what is packed has to be written out again.
    assert len(list(own_cache.rglob("*.npy"))) == packed


def test_hdf5_images_are_read_in_several_blocks(folder, monkeypatch):
    path, images = written.write_shapes3d(folder, monkeypatch)
    monkeypatch.setattr("unweave.data._hdf5_files.BLOCK", 70 * 64 * 64 * 3)
    np.testing.assert_array_equal(map_images(path, "images", images.shape), images)


def test_shapes3d_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_shapes3d(folder, lowered)
    with pytest.raises(DataError, match="found 288 labels, expected 480,000"):
        load_data(f"shapes3d:{path}")


def test_shapes3d_npz_of_another_size_or_order_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, images = written.write_shapes3d(folder, lowered, npz=True)
    with pytest.raises(DataError, match=r"expected 'images' as uint8 of shape \(480000"):
        load_data(f"shapes3d:{path}")
    labels = np.load(path)["labels"]
    written.write_shapes3d(folder, monkeypatch, npz=True)
    np.savez(path, images=images, labels=labels[::-1])
    with pytest.raises(DataError, match="order of the original"):
        load_data(f"shapes3d:{path}")


def test_shapes3d_in_another_order_is_refused(folder, monkeypatch):
    import h5py

    path, _ = written.write_shapes3d(folder, monkeypatch)
    with h5py.File(path, "r+") as file:
        file["labels"][:] = file["labels"][:][::-1]
    with pytest.raises(DataError, match="order of the original"):
        load_data(f"shapes3d:{path}")


def test_shapes3d_with_labels_that_are_no_table_is_refused(folder, monkeypatch):
    import h5py

    path, _ = written.write_shapes3d(folder, monkeypatch)
    with h5py.File(path, "r+") as file:
        del file["labels"]
        file["labels"] = np.zeros(288)
    with pytest.raises(DataError, match="expected labels as numbers of shape"):
        load_data(f"shapes3d:{path}")


def test_hdf5_without_h5py_says_what_to_install(folder, monkeypatch):
    path, _ = written.write_shapes3d(folder, monkeypatch)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match=r"pip install 'unweave\[data\]'"):
        load_data(f"shapes3d:{path}")


def test_hdf5_without_the_array_names_those_it_has(folder, monkeypatch):
    import h5py

    path = folder / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        file["pictures"] = np.zeros(3)
    with pytest.raises(DataError, match="no array 'labels'; it holds pictures"):
        load_data(f"shapes3d:{path}")


@pytest.mark.parametrize("compressed", [True, False])
def test_mpi3d_is_mapped(folder, monkeypatch, compressed, own_cache):
    path, images = written.write_mpi3d(folder, monkeypatch, compressed=compressed)
    data = load_data(f"mpi3d:{path}")
    assert data.name == "mpi3d_real"
    assert isinstance(data.pixels.array, np.memmap)
    np.testing.assert_array_equal(data.pixels.array, images)
    # An uncompressed file is mapped where it lies.
    assert len(list(own_cache.rglob("*.npy"))) == compressed


def test_mpi3d_of_complex_objects_is_told_by_its_size(folder, monkeypatch):
    path, _ = written.write_mpi3d(folder, monkeypatch, complex_objects=True)
    data = load_data(f"mpi3d:{path}")
    assert data.factor_sizes == (2, 2, 2, 3, 1, 2, 2)
    assert data.name == "mpi3d_real_complex"


def test_mpi3d_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_mpi3d(folder, lowered)
    with pytest.raises(DataError, match=r"\(1036800, 64, 64, 3\), or 460800"):
        load_data(f"mpi3d:{path}")


@pytest.mark.parametrize("packed", [True, False])
def test_smallnorb_puts_each_photograph_in_its_row(folder, monkeypatch, packed):
    path, grey = written.write_smallnorb(folder, monkeypatch, packed=packed)
    data = load_data(f"smallnorb:{path}")
    assert data.image_shape == (1, 64, 64)
    np.testing.assert_allclose(greys(data), grey, atol=0.01)
    instance = data.factors()[:, 1]
    np.testing.assert_array_equal(data.partitions["train"], np.flatnonzero(instance % 2 == 1))


@pytest.mark.parametrize("archives", [1, 2])
def test_smallnorb_in_archives_gives_the_same(folder, monkeypatch, archives):
    path, grey = written.write_smallnorb(folder, monkeypatch, archives=archives)
    data = load_data(f"smallnorb:{path}")
    np.testing.assert_allclose(greys(data), grey, atol=1)
    assert {name: len(rows) for name, rows in data.partitions.items()} == {"train": 48, "test": 48}


def test_smallnorb_archives_that_lack_or_repeat_a_file_are_refused(folder, monkeypatch):
    path, _ = written.write_smallnorb(folder, monkeypatch, archives=2)
    (path / "smallnorb-test.zip").unlink()
    with pytest.raises(DataError, match=r"holds no file \*-testing-cat.mat, by itself or in a"):
        load_data(f"smallnorb:{path}")
    with zipfile.ZipFile(path / "smallnorb-train.zip", "a") as archive:
        archive.writestr("again/a-training-cat.mat", b"")
    with pytest.raises(DataError, match=r"holds several files -training-cat\.mat"):
        load_data(f"smallnorb:{path}")


def test_smallnorb_cut_short_is_refused(folder, monkeypatch):
    path, _ = written.write_smallnorb(folder, monkeypatch)
    dat = next(path.glob("*-testing-dat.mat"))
    dat.write_bytes(dat.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"testing-dat.mat is cut short"):
        load_data(f"smallnorb:{path}")


def test_smallnorb_without_its_test_files_names_them(folder, monkeypatch):
    path, _ = written.write_smallnorb(folder, monkeypatch)
    for file in path.glob("*testing*"):
        file.unlink()
    with pytest.raises(DataError, match="testing-cat"):
        load_data(f"smallnorb:{path}")


def test_smallnorb_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_smallnorb(folder, lowered)
    with pytest.raises(DataError, match="found 96 photographs, expected 48,600"):
        load_data(f"smallnorb:{path}")


@pytest.mark.parametrize("packed", [True, False])
def test_cars3d_goes_by_elevation_azimuth_and_car(folder, monkeypatch, packed):
    path, grey = written.write_cars3d(folder, monkeypatch, packed=packed)
    data = load_data(f"cars3d:{path}")
    assert data.image_shape == (3, 64, 64)
    np.testing.assert_allclose(greys(data), grey, atol=0.01)


def test_cars3d_with_a_car_missing_is_refused(folder, monkeypatch):
    path, _ = written.write_cars3d(folder, monkeypatch, packed=False)
    (path / "car_002_mesh.mat").unlink()
    with pytest.raises(DataError, match="found 3 cars"):
        load_data(f"cars3d:{path}")


def test_cars3d_with_a_damaged_car_names_it(folder, monkeypatch):
    path, _ = written.write_cars3d(folder, monkeypatch, packed=False)
    (path / "car_002_mesh.mat").write_bytes(b"MATLAB 5.0 MAT-file, or so it says" * 9)
    with pytest.raises(DataError, match=r"car_002_mesh.mat is not a readable"):
        load_data(f"cars3d:{path}")


def test_cars3d_changed_in_place_is_read_again(folder, monkeypatch):
    from scipy.io import savemat

    path, grey = written.write_cars3d(folder, monkeypatch, packed=False)
    load_data(f"cars3d:{path}")
    savemat(path / "car_000_mesh.mat", {"im": np.full((128, 128, 3, 3, 2), 9, np.uint8), "a": 1})
    changed = greys(load_data(f"cars3d:{path}"))
    np.testing.assert_allclose(changed[::4], 9, atol=0.01)
    np.testing.assert_allclose(changed[1::4], grey[1::4], atol=0.01)


def test_celeba_takes_the_middle_of_each_picture(folder, monkeypatch):
    path, grey = written.write_celeba(folder, monkeypatch)
    data = load_data(f"celeba:{path}")
    np.testing.assert_allclose(greys(data), grey, atol=3)  # JPEG is not exact
    assert len(data.factor_names) == 41
    assert data.factors([0])[0, :3].tolist() == [0, 1, 1]
    assert data.factors()[:, 40].tolist() == [0, 1, 2] * 3
    assert data.factor_list[40].labels == ("100", "107", "114")
    assert {name: rows.tolist() for name, rows in data.partitions.items()} == {
        "train": [0, 1, 2],
        "validation": [3, 4, 5],
        "test": [6, 7, 8],
    }


def test_celeba_does_without_identities_and_partitions(folder, monkeypatch):
    path, _ = written.write_celeba(folder, monkeypatch, extras=False)
    data = load_data(f"celeba:{path}", DataOptions(image_size=32, color="grey"))
    assert data.image_shape == (1, 32, 32)
    assert len(data.factor_names) == 40
    assert not data.partitions


def test_celeba_with_a_picture_missing_names_it(folder, monkeypatch):
    path, _ = written.write_celeba(folder, monkeypatch)
    (path / "img_align_celeba" / "000004.jpg").unlink()
    with pytest.raises(DataError, match=r"no 000004.jpg"):
        load_data(f"celeba:{path}")


def test_celeba_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_celeba(folder, lowered)
    with pytest.raises(DataError, match="found 9 pictures with attributes, expected 202,599"):
        load_data(f"celeba:{path}")


@pytest.mark.parametrize("packed", [True, False])
def test_chairs3d_takes_the_middle_of_each_picture(folder, monkeypatch, packed):
    path, grey = written.write_chairs3d(folder, monkeypatch, packed=packed)
    data = load_data(f"chairs3d:{path}")
    np.testing.assert_allclose(greys(data), grey, atol=0.01)
    assert data.factor_sizes == (3, 2, 4)
    assert data.factor_list[1].labels == ("20", "30")


def test_chairs3d_with_views_unevenly_spread_are_refused(folder, monkeypatch):
    path, _ = written.write_chairs3d(folder, monkeypatch)
    renders = path / "1b80" / "renders"
    (renders / "image_001_p020_t023_r096.png").rename(renders / "image_001_p030_t012_r096.png")
    with pytest.raises(DataError, match="found 3 azimuths of 1b80 at 20°, expected 4"):
        load_data(f"chairs3d:{path}")


def test_chairs3d_with_a_damaged_picture_names_it(folder, monkeypatch):
    path, _ = written.write_chairs3d(folder, monkeypatch)
    (path / "ff00" / "renders" / "image_000_p020_t011_r096.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError, match=r"ff00/renders/image_000.* not a readable image"):
        load_data(f"chairs3d:{path}")


@pytest.mark.parametrize("packed", [True, False])
def test_yale_b_leaves_out_ambient_light_and_bad_pictures(folder, monkeypatch, packed):
    path, grey = written.write_yale_b(folder, monkeypatch, packed=packed)
    data = load_data(f"yale_b:{path}")
    assert len(data) == 11
    np.testing.assert_allclose(greys(data), grey, atol=0.01)
    assert data.factor_list[0].labels == ("01", "13", "15")
    assert data.factor_list[1].labels == ("-130", "+0", "+5", "+35")
    assert data.factor_list[2].labels == ("-20", "+0", "+10", "+20")
    assert data.factors([1])[0].tolist() == [0, 1, 1]
    assert not data.is_grid


def test_yale_b_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_yale_b(folder, lowered)
    with pytest.raises(DataError, match=r"found 11 pictures .* expected 2,414 to 2,432"):
        load_data(f"yale_b:{path}")


@pytest.mark.parametrize("packed", [True, False])
def test_mnist_joins_its_training_and_test_images(folder, monkeypatch, packed):
    path, images = written.write_idx(folder, monkeypatch, packed=packed)
    data = load_data(f"mnist:{path}")
    np.testing.assert_array_equal(data.pixels.array, images)
    assert data.factors()[:, 0].tolist() == [*range(10), *range(7)]
    assert data.partitions["test"].tolist() == [12, 13, 14, 15, 16]


def test_mnist_is_resized_when_asked(folder, monkeypatch):
    path, images = written.write_idx(folder, monkeypatch)
    data = load_data(f"mnist:{path}", DataOptions(image_size=32))
    assert data.image_shape == (1, 32, 32)
    expected = Image.fromarray(images[3]).resize((32, 32), Image.Resampling.LANCZOS)
    np.testing.assert_array_equal(data.pixels.array[3, 0], np.asarray(expected))


def test_fashion_mnist_names_its_articles(folder, monkeypatch):
    path, _ = written.write_idx(folder, monkeypatch)
    assert load_data(f"fashion_mnist:{path}").factor_list[0].labels[9] == "ankle boot"


def test_mnist_of_another_size_is_refused(folder, monkeypatch):
    with monkeypatch.context() as lowered:
        path, _ = written.write_idx(folder, lowered)
    with pytest.raises(DataError, match="found 12 items, expected 60,000"):
        load_data(f"mnist:{path}")


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b + b"x"])
def test_mnist_of_the_wrong_length_is_refused(folder, monkeypatch, change):
    path, _ = written.write_idx(folder, monkeypatch, packed=False)
    file = path / "t10k-images-idx3-ubyte"
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DataError, match="bytes"):
        load_data(f"mnist:{path}")


def test_mnist_images_given_as_labels_are_refused(folder, monkeypatch):
    path, _ = written.write_idx(folder, monkeypatch, packed=False)
    (path / "t10k-images-idx3-ubyte").rename(path / "t10k-labels-idx1-ubyte")
    with pytest.raises(DataError, match="t10k"):
        load_data(f"mnist:{path}")
