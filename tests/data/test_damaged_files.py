"""Whatever bytes a file holds, opening it works or ends in an error the user can read."""

import io
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from unweave.data import DataOptions, load_data
from unweave.errors import DataError

SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def saved(write) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


PICTURE = Image.fromarray(np.arange(300, dtype=np.uint8).reshape(10, 10, 3))
ARRAY = np.arange(48, dtype=np.uint8).reshape(3, 4, 4)
SAMPLES = {
    "npy": [
        saved(lambda f: np.save(f, ARRAY)),
        saved(lambda f: np.save(f, ARRAY / 255)),
        saved(lambda f: np.save(f, np.array(["a", "b"]))),
    ],
    "npz": [
        saved(lambda f: np.savez(f, images=ARRAY, labels=np.arange(3))),
        saved(lambda f: np.savez_compressed(f, images=ARRAY, kind=np.array(["a", "b", "c"]))),
        saved(lambda f: np.savez(f, imgs=ARRAY / 50, y=np.ones((3, 2)), factor_names=["a", "b"])),
        saved(lambda f: np.savez(f, images=ARRAY, kind=np.array([b"a", b"b", b"c"]))),
    ],
    "csv": [
        b"file,kind,size\n0.png,a,1.5\n1.png,b,2\n",
        b"kind;size\n1;2\n3;4\n",
        "\ufefföl\tß\n1\t\u00b2\n3\t4\n".encode(),
    ],
    "png": [
        saved(lambda f, kind=kind: PICTURE.save(f, kind))
        for kind in ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
    ],
}


@st.composite
def damaged(draw, suffix: str) -> bytes:
    """Bytes of any kind, or a good file with bytes changed, cut out, put in or lost at the end."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=300))
    content = bytearray(draw(st.sampled_from(SAMPLES[suffix])))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        match draw(st.sampled_from(["change", "cut", "insert", "end"])):
            case "change":
                content[place : place + 1] = draw(st.binary(min_size=1, max_size=4))
            case "cut":
                del content[place : place + draw(st.integers(1, 20))]
            case "insert":
                content[place:place] = draw(st.binary(max_size=20))
            case "end":
                del content[place:]
    return bytes(content)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    before = os.environ.get("UNWEAVE_CACHE")
    os.environ["UNWEAVE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("UNWEAVE_CACHE")
    if before is not None:
        os.environ["UNWEAVE_CACHE"] = before


def opens_or_explains(source: Path | str, options: DataOptions = DataOptions()) -> bool:
    """Load a set and read all of it. Whether it could be; any error but ours escapes."""
    message = None
    try:
        data = load_data(source, options)
        images = data.images(np.arange(min(len(data), 50)))
        data.factors()
    except DataError as error:
        message = str(error)
    if message is not None:
        assert len(message) < 3000
        assert "\n" not in message
        return False
    assert images.dtype == np.float32
    assert images.min() >= 0
    assert images.max() <= 1
    return True


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_the_samples_themselves_open(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(SAMPLES[suffix][0])
    assert opens_or_explains(path)


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_any_array_file_opens_or_explains(suffix):
    @SETTINGS
    @given(damaged(suffix))
    def check(content):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"a.{suffix}"
            path.write_bytes(content)
            opens_or_explains(path)

    check()


@pytest.mark.parametrize("suffix", ["csv", "npy", "npz"])
def test_any_table_of_factors_is_read_or_explained(suffix):
    @SETTINGS
    @given(damaged(suffix))
    def check(content):
        with tempfile.TemporaryDirectory() as folder:
            images, table = Path(folder) / "images.npy", Path(folder) / f"t.{suffix}"
            np.save(images, ARRAY)
            table.write_bytes(content)
            opens_or_explains(images, DataOptions(factors=str(table)))

    check()


@SETTINGS
@given(damaged("png"), damaged("csv"), st.sampled_from(["skip", "refuse"]))
def test_any_picture_is_read_or_explained(picture, table, bad_images):
    with tempfile.TemporaryDirectory() as folder:
        pictures = Path(folder) / "pictures"
        pictures.mkdir()
        PICTURE.save(pictures / "0.png")
        (pictures / "1.png").write_bytes(picture)
        (pictures / "table.csv").write_bytes(table)
        opens_or_explains(pictures, DataOptions(bad_images=bad_images, image_size=8))
        options = DataOptions(
            bad_images=bad_images, image_size=8, factors=str(pictures / "table.csv")
        )
        opens_or_explains(pictures, options)


@pytest.mark.parametrize("name", ["mnist", "smallnorb", "cars3d", "shapes3d", "mpi3d", "dsprites"])
def test_any_bytes_as_an_original_file_are_explained(name, tmp_path):
    rng = np.random.default_rng(0)
    for i, start in enumerate((b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"\x89HDF\r\n\x1a\n", b"BZh9")):
        path = tmp_path / f"{i}.h5"
        path.write_bytes(start + rng.bytes(500))
        assert not opens_or_explains(f"{name}:{path}")
