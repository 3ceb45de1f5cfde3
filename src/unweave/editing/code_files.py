"""Codes of images as a table that a data frame can hold, and images of such a table.

A row is an image: its name, the factors that are known of it, then z0, z1, … A table is
written as CSV, Parquet or NPZ, and read back from any of them.
"""

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from unweave.editing.sources import FILE, ROW, NamedImages, columns_of
from unweave.errors import ConfigError, DataError, shown
from unweave.evaluation.read_tables import read_factors
from unweave.files.writing import write_atomically
from unweave.runs.model import CHUNK, Model
from unweave.views import to_picture

TABLES = (".csv", ".parquet", ".npz")
LATENT = re.compile(r"z(\d+)")
CODES, IMAGES = "codes", "images"
"""What arrays of an .npz are called."""


@dataclass(frozen=True)
class EncodedImages:
    """Codes by image, what each image is called, and what is known of it."""

    key: str
    """What the names are: `file` or `row`."""
    names: tuple[str, ...]
    codes: np.ndarray
    """float32 (image, code)."""
    columns: Mapping[str, np.ndarray]
    """Factors by name, numbers or words."""

    def to_columns(self) -> dict[str, np.ndarray]:
        """Return the columns in their order: names, factors, codes."""
        names: np.ndarray = np.array(self.names)
        if self.key == ROW:
            names = names.astype(np.int64)
        codes = {f"z{i}": column for i, column in enumerate(self.codes.T)}
        taken = {self.key, *codes}
        known = {f"{n}_factor" if n in taken else n: c for n, c in self.columns.items()}
        return {self.key: names, **known, **codes}

    def to_frame(self) -> Any:
        """Return a pandas frame, a row for each image."""
        try:
            import pandas
        except ImportError as error:
            raise ConfigError(
                "to_frame needs pandas: pip install pandas; to_columns() gives the same as arrays"
            ) from error
        return pandas.DataFrame(self.to_columns())

    def save(self, path: str | Path) -> None:
        """Write the table; the suffix decides the format."""
        path = Path(path)
        makers = {".csv": self._csv, ".parquet": self._parquet, ".npz": self._npz}
        write_atomically(path, makers[table_suffix(path)]())

    def _csv(self) -> bytes:
        columns = self.to_columns()
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(map(_cell, column) for column in columns.values()), strict=True))
        return text.getvalue().encode("utf-8", "backslashreplace")

    def _parquet(self) -> bytes:
        try:
            import pyarrow
            import pyarrow.parquet as parquet
        except ImportError as error:
            raise ConfigError(
                "writing parquet needs pyarrow: pip install 'unweave[table]', or write csv or npz"
            ) from error
        file = io.BytesIO()
        parquet.write_table(pyarrow.table(self.to_columns()), file)
        return file.getvalue()

    def _npz(self) -> bytes:
        columns = self.to_columns()
        arrays = {name: columns[name] for name in columns if LATENT.fullmatch(name) is None}
        known = {f"{n}_factor" if n == CODES else n: column for n, column in arrays.items()}
        return npz_of({CODES: self.codes, **known})


def npz_of(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return an .npz of arrays by name; NumPy's own writer knows no array called file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())
    return content.getvalue()


def table_suffix(path: Path) -> str:
    """Return the ending of a table's name, if tables of codes are written so."""
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        *most, last = TABLES
        raise ConfigError(
            f"{path}: tables of codes are written as {', '.join(most)} or {last}, found {suffix!r}"
        )
    return suffix


def encode_images(model: Model, source: NamedImages) -> EncodedImages:
    """Encode images, some at once."""
    if source.rows is None:
        model.code.require_codes_of_images(model.kind)
    parts = [
        model.encode(source.images(rows)) if source.rows is None else model.encode_rows(rows)
        for rows in _in_chunks(len(source))
    ]
    codes = np.concatenate(parts).astype(np.float32)
    return EncodedImages(source.key, source.names, codes, dict(source.columns))


def read_codes_of(path: str | Path, latent_dim: int) -> EncodedImages:
    """Read a table of codes: columns z0, z1, …, or as many numbers as a code has."""
    path = Path(path)
    table = read_factors(path, missing="mask")
    columns = columns_of(table)
    key, names = _names(table.keys, columns, len(table.values))
    latents = {int(m[1]): name for name in columns if (m := LATENT.fullmatch(name))}
    if not latents:
        left = [name for name in columns if name != key]
        if len(left) != latent_dim:
            raise DataError(
                f"{path} has {len(left)} columns and none is called z0; expected the "
                f"{latent_dim} numbers of a code"
            )
        latents = dict(enumerate(left))
    if sorted(latents) != list(range(latent_dim)):
        found = (
            f"z0 to z{max(latents)}" if max(latents) >= latent_dim else f"{len(latents)} of them"
        )
        raise DataError(f"{path}: expected codes in columns z0 to z{latent_dim - 1}, found {found}")
    for name in latents.values():
        if name in table.classes:
            raise DataError(f"{path}: codes must be numbers; column {name!r} holds words")
    codes = np.stack([columns[latents[i]] for i in range(latent_dim)], axis=1)
    if not np.isfinite(codes).all():
        row = int(np.argwhere(~np.isfinite(codes))[0][0])
        raise DataError(
            f"{path}: the code of {names[row]} has a number that is missing or infinite"
        )
    beside = {n: c for n, c in columns.items() if n not in latents.values() and n != key}
    return EncodedImages(key, names, codes.astype(np.float32), beside)


def decode_to_folder(model: Model, table: EncodedImages, folder: str | Path) -> list[Path]:
    """Decode every code and write one PNG for each, called as the image was."""
    places = places_in(Path(folder), table.key, table.names)
    _refuse_written(places)
    model.code.require_decoder(model.kind)
    for rows in _in_chunks(len(places)):
        for row, image in zip(rows, model.decode(table.codes[rows]), strict=True):
            save_picture(image, places[row])
    return places


def decode_to_array(model: Model, table: EncodedImages, path: str | Path) -> None:
    """Decode every code into one .npz of images, with their names."""
    model.code.require_decoder(model.kind)
    parts = [model.decode(table.codes[rows]) for rows in _in_chunks(len(table.names))]
    arrays = {IMAGES: np.concatenate(parts), table.key: np.array(table.names)}
    write_atomically(Path(path), npz_of(arrays))


def save_pictures(images: np.ndarray, names: Sequence[str], folder: Path) -> list[Path]:
    """Write images as one PNG each, called by their names; no file that is there is replaced."""
    places = places_in(folder, FILE, names)
    _refuse_written(places)
    for image, place in zip(images, places, strict=True):
        save_picture(image, place)
    return places


def save_picture(image: np.ndarray, path: Path) -> None:
    """Write one image (channel, height, width) in [0, 1] as a PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    to_picture(image).save(file, "PNG")
    write_atomically(path, file.getvalue())


def places_in(folder: Path, key: str, names: Sequence[str]) -> list[Path]:
    """Return where the picture of each name is to be; none leads out of the folder."""
    if key == ROW:
        width = max(len(name) for name in names)
        found = [f"{_inside(name).zfill(width)}.png" for name in names]
    else:
        inside = [_inside(name) for name in names]
        short = [str(PurePosixPath(name).with_suffix("")) for name in inside]
        twice = {name for name, count in Counter(short).items() if count > 1}
        pairs = zip(inside, short, strict=True)
        found = [f"{name}.png" if brief in twice else f"{brief}.png" for name, brief in pairs]
    if len(set(found)) < len(found):
        again = next(name for name, count in Counter(found).items() if count > 1)
        raise DataError(f"two images would be called {shown(again)}")
    return [folder / name for name in found]


def _inside(name: str) -> str:
    """Return a name as a place below a folder, or refuse one that is none."""
    place = PurePosixPath(name.replace("\\", "/"))
    leads_out = place.is_absolute() or ".." in place.parts or PureWindowsPath(name).drive
    if leads_out or not place.name or not name.isprintable():
        raise DataError(f"{shown(name)} cannot be the name of a picture in a folder")
    return str(place)


def _refuse_written(places: Sequence[Path]) -> None:
    for place in places:
        if place.exists():
            raise ConfigError(f"{place} is there already; name another folder with --to")


def _names(
    keys: Mapping[str, tuple[str, ...]], columns: Mapping[str, Any], rows: int
) -> tuple[str, tuple[str, ...]]:
    """Return what rows are called: by a column of names, else by their number."""
    for key in (FILE, ROW, *keys):
        if key in keys:
            return (ROW if key == ROW else FILE), tuple(keys[key])
        if rows == 1 and key in columns:  # a column of one entry is never taken for names
            return key, tuple(map(str, columns[key]))
    return ROW, tuple(map(str, range(rows)))


def _in_chunks(count: int) -> list[np.ndarray]:
    return [np.arange(i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]


def _cell(value: Any) -> str:
    """Return a value as CSV holds it: codes with all their digits, nothing where there is none."""
    if isinstance(value, np.float32):
        return f"{value:.9g}"
    if isinstance(value, np.floating | float):
        return "" if np.isnan(value) else repr(float(value))
    return str(value)
