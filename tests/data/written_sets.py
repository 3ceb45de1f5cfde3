"""Small files in the exact formats of the original sets.

Each writer makes a few images whose grey value tells their row, and lowers the
sizes its loader expects to match. It returns the path to load and the values.
"""

import gzip
import io
import struct
import tarfile
import zipfile
from itertools import product
from math import prod
from pathlib import Path

import h5py
import numpy as np
from PIL import Image
from scipy.io import savemat

from unweave.data import (
    Factor,
    _idx_files,
    cars3d,
    celeba,
    chairs3d,
    dsprites,
    mpi3d,
    shapes3d,
    smallnorb,
    yale_b,
)


def small(factors: tuple[Factor, ...], *sizes: int) -> tuple[Factor, ...]:
    return tuple(
        Factor(f.name, n, categorical=f.categorical) for f, n in zip(factors, sizes, strict=True)
    )


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(product(*map(range, sizes))))


def values(count: int) -> np.ndarray:
    """Return a different grey value for each row, as far as bytes go."""
    return (np.arange(count) * 37 % 251).astype(np.uint8)


def flat(value: int, height: int, width: int, margin: tuple[int, int] = (0, 0)) -> np.ndarray:
    """Make a picture of one value with a white or black margin left out by the loader."""
    picture = np.full((height, width, 3), 255 - 255 * (value > 127), dtype=np.uint8)
    down, across = margin
    picture[down : height - down, across : width - across] = value
    return picture


def write_dsprites(
    folder: Path, monkeypatch, *, compressed: bool = True
) -> tuple[Path, np.ndarray]:
    sizes = (3, 2, 4, 2, 3)
    monkeypatch.setattr(dsprites, "FACTORS", small(dsprites.FACTORS, *sizes))
    images = np.random.default_rng(1).integers(0, 2, (prod(sizes), 64, 64)).astype(np.uint8)
    classes = np.hstack([np.zeros((prod(sizes), 1), dtype=np.int64), grid(*sizes)])
    path = folder / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    (np.savez_compressed if compressed else np.savez)(
        path,
        metadata=np.array({"latents_sizes": np.array([1, *sizes])}, dtype=object),
        imgs=images,
        latents_classes=classes,
        latents_values=classes.astype(np.float64),
    )
    return path, images


def write_dsprites_h5(folder: Path, monkeypatch) -> tuple[Path, np.ndarray]:
    npz, images = write_dsprites(folder, monkeypatch)
    path = folder / "dsprites.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("imgs", data=images, chunks=(5, 32, 32), compression="gzip")
        file.create_group("latents")["classes"] = np.load(npz)["latents_classes"]
    return path, images


def write_shapes3d(
    folder: Path, monkeypatch, *, packed: bool = True, npz: bool = False
) -> tuple[Path, np.ndarray]:
    sizes = (2, 3, 2, 2, 4, 3)
    monkeypatch.setattr(shapes3d, "FACTORS", small(shapes3d.FACTORS, *sizes))
    spans = ((0, 0.9), (0, 0.9), (0, 0.9), (0.75, 1.25), (0, 3), (-30, 30))
    steps = [np.linspace(*span, n) for span, n in zip(spans, sizes, strict=True)]
    labels = np.array(list(product(*steps)))
    images = np.random.default_rng(2).integers(0, 256, (len(labels), 64, 64, 3)).astype(np.uint8)
    if npz:
        path = folder / "shapes3d.npz"
        (np.savez_compressed if packed else np.savez)(path, images=images, labels=labels)
        return path, images
    how = {"chunks": (50, 16, 16, 1), "compression": "gzip"} if packed else {}
    path = folder / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, **how)
        file.create_dataset("labels", data=labels)
    return path, images


def write_mpi3d(
    folder: Path, monkeypatch, *, compressed: bool = False, complex_objects: bool = False
) -> tuple[Path, np.ndarray]:
    monkeypatch.setattr(mpi3d, "SIMPLE", small(mpi3d.SIMPLE, 3, 2, 2, 3, 1, 2, 2))
    monkeypatch.setattr(mpi3d, "COMPLEX", small(mpi3d.COMPLEX, 2, 2, 2, 3, 1, 2, 2))
    count = 96 if complex_objects else 144
    images = np.random.default_rng(3).integers(0, 256, (count, 64, 64, 3)).astype(np.uint8)
    path = folder / ("real3d_complicated_shapes.npz" if complex_objects else "mpi3d_real.npz")
    (np.savez_compressed if compressed else np.savez)(path, images=images)
    return path, images


def norb_bytes(array: np.ndarray) -> bytes:
    """Write an array in the NORB binary format; fewer than three sizes are filled up with 1."""
    magic = {"uint8": 0x1E3D4C55, "int32": 0x1E3D4C54}[str(array.dtype)]
    sizes = [*array.shape, *[1] * (3 - array.ndim)]
    return struct.pack(f"<{2 + len(sizes)}i", magic, array.ndim, *sizes) + array.tobytes()


def write_smallnorb(
    folder: Path, monkeypatch, *, packed: bool = False, archives: int = 0
) -> tuple[Path, np.ndarray]:
    """Write the six files; with `archives`, into one .zip or two, in a folder of their own."""
    sizes = (2, 4, 2, 3, 2)
    monkeypatch.setattr(smallnorb, "FACTORS", small(smallnorb.FACTORS, *sizes))
    table, grey = grid(*sizes), values(prod(sizes))
    parts = {"5x46789": ("training", [1, 3]), "5x01235": ("testing", [0, 2])}
    order = np.random.default_rng(4).permutation(len(table))
    for code, (part, instances) in parts.items():
        rows = order[np.isin(table[order, 1], instances)]
        photographs = np.zeros((len(rows), 2, 96, 96), dtype=np.uint8)
        photographs[:, 0] = grey[rows, None, None]
        photographs[:, 1] = 255  # the other camera is not used
        info = table[rows, 1:].astype(np.int32)
        info[:, 2] *= 2
        arrays = {"dat": photographs, "cat": table[rows, 0].astype(np.int32), "info": info}
        for kind, array in arrays.items():
            name = f"smallnorb-{code}x9x18x6x2x96x96-{part}-{kind}.mat"
            content = norb_bytes(array)
            if archives:
                archive = "smallnorb.zip" if archives == 1 else f"smallnorb-{part[:-3]}.zip"
                with zipfile.ZipFile(folder / archive, "a", zipfile.ZIP_DEFLATED) as file:
                    file.writestr(f"smallnorb/{name}", content)
            elif packed:
                (folder / f"{name}.gz").write_bytes(gzip.compress(content, 1))
            else:
                (folder / name).write_bytes(content)
    return (folder / "smallnorb.zip" if archives == 1 else folder), grey


def write_cars3d(folder: Path, monkeypatch, *, packed: bool = True) -> tuple[Path, np.ndarray]:
    elevations, azimuths, cars = sizes = (2, 3, 4)
    monkeypatch.setattr(cars3d, "FACTORS", small(cars3d.FACTORS, *sizes))
    grey = values(prod(sizes))
    by_factors = grey.reshape(sizes)
    inside = folder / "data" / "cars"
    inside.mkdir(parents=True)
    for car in reversed(range(cars)):  # so that the order on disk is not that of the names
        image = np.empty((128, 128, 3, azimuths, elevations), dtype=np.uint8)
        image[:] = by_factors[:, :, car].T
        savemat(inside / f"car_{car:03d}_mesh.mat", {"im": image, "mask": image[:, :, 0] > 0})
    (inside / "list.txt").write_text("".join(f"car_{car:03d}\n" for car in range(cars)))
    if not packed:
        return inside, grey
    (folder / "data" / "sprites").mkdir()
    savemat(folder / "data" / "sprites" / "sprites_0.mat", {"sprites": np.zeros(3)})
    path = folder / "nips2015-analogy-data.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(folder / "data", "data")
    return path, grey


def write_celeba(folder: Path, monkeypatch, *, extras: bool = True) -> tuple[Path, np.ndarray]:
    count = 9
    monkeypatch.setattr(celeba, "PICTURES", count)
    monkeypatch.setattr(celeba, "IDENTITIES", 3)
    grey = values(count)
    pictures = folder / "img_align_celeba"
    pictures.mkdir()
    names = [f"{i:06d}.jpg" for i in range(1, count + 1)]
    for name, value in zip(names, grey, strict=True):
        # Outside the middle 148 × 148 of 178 × 218 the picture differs.
        picture = flat(int(value), 218, 178, margin=(35, 15))
        Image.fromarray(picture).save(pictures / name, quality=100, subsampling=0)
    attributes = [f"Attribute_{i}" for i in range(40)]
    lines = [str(count), " ".join(attributes) + " "]
    for i, name in enumerate(names):
        lines.append(f"{name} " + " ".join(f"{1 if (i + k) % 3 else -1:2d}" for k in range(40)))
    (folder / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    if extras:
        people = "".join(f"{name} {100 + 7 * (i % 3)}\n" for i, name in enumerate(names))
        (folder / "identity_CelebA.txt").write_text(people)
        parts = "".join(f"{name} {i // 3}\n" for i, name in enumerate(names))
        (folder / "list_eval_partition.txt").write_text(parts)
    return folder, grey


def write_chairs3d(folder: Path, monkeypatch, *, packed: bool = False) -> tuple[Path, np.ndarray]:
    monkeypatch.setattr(chairs3d, "CHAIRS", 3)
    monkeypatch.setattr(chairs3d, "AZIMUTHS", 4)
    grey = values(3 * 2 * 4)
    root = folder / "rendered_chairs"
    views = list(product((20, 30), (11, 23, 34, 348)))
    for row, (chair, (view, (p, t))) in enumerate(
        product(("1a6f", "1b80", "ff00"), enumerate(views))
    ):
        renders = root / chair / "renders"
        renders.mkdir(parents=True, exist_ok=True)
        picture = flat(int(grey[row]), 600, 600, margin=(100, 100))
        name = f"image_{view:03d}_p{p:03d}_t{t:03d}_r096.png"
        Image.fromarray(picture).save(renders / name, compress_level=1)
    (root / "all_chair_names.mat").write_bytes(b"not a picture")
    if not packed:
        return root, grey
    path = folder / "rendered_chairs.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(root, "rendered_chairs")
    return path, grey


def write_yale_b(folder: Path, monkeypatch, *, packed: bool = False) -> tuple[Path, np.ndarray]:
    lights = [(0, 0), (-130, 20), (35, -20), (5, 10)]
    people = (1, 13, 15)
    monkeypatch.setattr(yale_b, "PEOPLE", len(people))
    monkeypatch.setattr(yale_b, "FEWEST", len(people) * len(lights) - 1)
    monkeypatch.setattr(yale_b, "MOST", len(people) * len(lights))
    root = folder / "CroppedYale"
    keys = sorted(product(people, lights))[:-1]  # one combination is missing
    grey = values(len(keys))
    for (person, (azimuth, elevation)), value in zip(keys, grey, strict=True):
        inside = root / f"yaleB{person:02d}"
        inside.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(flat(int(value), 192, 168, margin=(12, 0))[..., 0])
        picture.save(inside / f"yaleB{person:02d}_P00A{azimuth:+04d}E{elevation:+03d}.pgm")
    Image.new("L", (640, 480)).save(root / "yaleB01" / "yaleB01_P00_Ambient.pgm")
    (root / "yaleB01" / "yaleB01_P00.info").write_text("list")
    (root / "yaleB01" / "yaleB01_P00A+095E+00.pgm.bad").write_bytes(b"damaged")
    if not packed:
        return root, grey
    path = folder / "CroppedYale.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in root.rglob("*"):
            archive.write(file, file.relative_to(folder))
    return path, grey


def write_idx(folder: Path, monkeypatch, *, packed: bool = True) -> tuple[Path, np.ndarray]:
    monkeypatch.setattr(_idx_files, "COUNTS", {"train": 12, "t10k": 5})
    images = np.random.default_rng(5).integers(0, 256, (17, 28, 28)).astype(np.uint8)
    labels = (np.arange(17) % 10).astype(np.uint8)
    for part, rows in {"train": slice(0, 12), "t10k": slice(12, 17)}.items():
        image_bytes = struct.pack(">4i", 2051, len(images[rows]), 28, 28) + images[rows].tobytes()
        label_bytes = struct.pack(">2i", 2049, len(labels[rows])) + labels[rows].tobytes()
        for name, content in (
            (f"{part}-images-idx3-ubyte", image_bytes),
            (f"{part}-labels-idx1-ubyte", label_bytes),
        ):
            if packed:
                (folder / f"{name}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / name).write_bytes(content)
    return folder, images


def png_header(width: int, height: int) -> bytes:
    """Write a PNG that claims a size and holds next to nothing."""
    import zlib

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    file = io.BytesIO()
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head))
    file.write(chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
    return file.getvalue()


WRITERS = {
    "cars3d": write_cars3d,
    "celeba": write_celeba,
    "chairs3d": write_chairs3d,
    "fashion_mnist": write_idx,
    "mnist": write_idx,
    "mpi3d": write_mpi3d,
    "shapes3d": write_shapes3d,
    "smallnorb": write_smallnorb,
    "yale_b": write_yale_b,
}
"""Sets that can be read from files; all others are made on this machine."""
