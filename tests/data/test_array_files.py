"""Array files: what is refused before memory is taken, and what is never unpickled."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from unweave.data import load_data
from unweave.errors import DataError
from unweave.files.arrays import map_array


@pytest.fixture(autouse=True)
def own_cache(empty_cache):
    return empty_cache


@pytest.fixture
def images(rng):
    return rng.integers(0, 256, (6, 5, 9, 3)).astype(np.uint8)


def npy_header(shape: str, descr: str = "'|u1'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy_header("(8000000000, 1000, 1)"), "claims uint8 of shape .* cut short|cut short"),
        (npy_header("(2, 4, 4)") + bytes(31), "only 31 follow"),
        (npy_header("(-2, 4, 4)") + bytes(32), "impossible shape"),
        (npy_header("(True, 4, 4)") + bytes(32), "impossible shape"),
        (npy_header("(0, 4, 4)"), "expected rows of values"),
        (npy_header("()") + bytes(1), "expected rows of values"),
        (npy_header("(1, 1, 1, 1, 1, 1, 1, 1, 1)") + bytes(1), "expected rows of values"),
        (npy_header("(1,) * 99"), "unreadable header"),
        (npy_header("(2, 4, 4)", "'|O'") + bytes(999), "type '|O'"),
        (npy_header("(2, 4, 4)", "[('a', '<f4')]") + bytes(999), "not plain numbers"),
        (npy_header("(2, 4, 4)", "'zzz'") + bytes(999), "unknown type"),
        (npy_header("(2, 4, 4)", "'<M8[s]'") + bytes(999), "not plain numbers"),
        (b"\x93NUMPY\x01\x00\xff\xff", "header of 65,535|cut short"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "header of 4,294,967,295 bytes"),
        (b"\x93NUMPY", "does not start like one"),
        (b"", "does not start like one"),
        (b"\x80\x04N.", "does not start like one"),
    ],
)
def test_a_bad_npy_header_is_refused_before_memory_is_taken(tmp_path, content, message):
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(DataError, match=message):
        load_data(path)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_pickled_objects_are_never_loaded(tmp_path):
    trap = np.array([open], dtype=object)
    np.save(tmp_path / "a.npy", trap, allow_pickle=True)
    np.savez(tmp_path / "a.npz", images=trap)
    for suffix in ("npy", "npz"):
        with pytest.raises(DataError, match=r"'\|O'"):
            load_data(tmp_path / f"a.{suffix}")


def test_an_npz_that_unpacks_a_thousandfold_is_refused(tmp_path):
    path, shape = tmp_path / "bomb.npz", (500_000, 1000, 1)
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        start, {"descr": "|u1", "fortran_order": False, "shape": shape}
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("images.npy", "w", force_zip64=True) as member,
    ):
        member.write(start.getvalue())
        for _ in range(50):
            member.write(bytes(10_000_000))
    assert path.stat().st_size < 600_000
    tracemalloc.start()
    with pytest.raises(DataError, match=r"would unpack to 500 MB from 0.5 MB"):
        load_data(path)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_an_npz_whose_header_claims_more_than_it_holds_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("images.npy", npy_header("(8000000000, 1000, 1)") + bytes(100))
    with pytest.raises(DataError, match="its header claims"):
        load_data(tmp_path / "a.npz")


def test_an_npz_that_lies_about_its_sizes_is_refused(tmp_path, images):
    """The directory of the archive claims 8 TB, stored as they are."""
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images.npy", npy_header("(4000000, 1000, 1)") + bytes(100))
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")
    claim = struct.pack("<I", 4_000_000_000 + len(npy_header("(4000000, 1000, 1)")))
    content[entry + 20 : entry + 24] = content[entry + 24 : entry + 28] = claim
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"damaged|not a readable"):
        load_data(path)


def test_an_npz_without_images_lists_what_it_has(tmp_path):
    np.savez(tmp_path / "a.npz", weights=np.zeros(3), bias=np.zeros(3))
    with pytest.raises(DataError, match=r"it has weights, bias. Call it 'images'"):
        load_data(tmp_path / "a.npz")


def test_a_damaged_npz_is_refused(tmp_path, images):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, images=images)
    content = bytearray(path.read_bytes())
    content[120:160] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a.npz"):
        load_data(path)


def test_headers_of_every_version_are_read(tmp_path, images):
    for version in ((1, 0), (2, 0), (3, 0)):
        path = tmp_path / f"{version[0]}.npy"
        with open(path, "wb") as file:
            np.lib.format.write_array(file, images, version=version)
        np.testing.assert_array_equal(map_array(path), images)
