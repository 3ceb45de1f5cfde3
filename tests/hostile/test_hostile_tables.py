"""Tables, archives and studies made to take memory or time: refused first, in a line."""

import os
import time
import zipfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unweave.cli import main
from unweave.data import load_data
from unweave.errors import ConfigError, DataError
from unweave.evaluation.read_tables import read_codes, read_factors
from unweave.files import parquet_files
from unweave.files.arrays import MOST_MEMBERS
from unweave.files.csv_cells import LONGEST_WORD, MOST_COLUMNS
from unweave.files.parquet_pages import unpacked_bytes
from unweave.studies import read_study
from unweave.studies.define.expansion import MOST_RUNS, expand
from unweave.tables import LARGEST_CLASSES, factor_table


def images(path: Path, rows: int = 6) -> Path:
    np.save(path, np.random.default_rng(0).integers(0, 255, (rows, 8, 8), dtype=np.uint8))
    return path


def claims_rows(path: Path, rows: int) -> Path:
    """Write a Parquet file of one value repeated, which takes next to no room."""
    group = pa.table({"a": np.zeros(10_000_000)})
    with pq.ParquetWriter(path, group.schema, compression="zstd") as writer:
        for _ in range(rows // len(group)):
            writer.write_table(group, row_group_size=len(group))
    return path


def test_a_parquet_file_that_unpacks_a_thousandfold_is_refused_before_it_is_read(
    tmp_path, monkeypatch
):
    path = claims_rows(tmp_path / "bomb.parquet", 20_000_000)
    assert path.stat().st_size < 200_000
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *a, **k: pytest.fail("it was read"))
    with pytest.raises(DataError, match=r"would unpack to 160 MB \(20,000,000 rows\)"):
        read_codes(path)
    with pytest.raises(DataError, match=r"at most 0\.0 GiB are read"):
        read_codes(path, limit=1_000_000)


def test_the_pages_of_a_parquet_file_are_asked_as_well_as_its_description(tmp_path):
    """A description can be forged; the reader believes the header of each page."""
    path = tmp_path / "t.parquet"
    table = pa.table({"a": np.zeros(9_000_000), "b": ["x", "y", None] * 3_000_000})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    meta = pq.ParquetFile(path).metadata
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    said = sum(g.column(c).total_uncompressed_size for g in groups for c in range(2))

    class Forged:
        num_rows, num_columns, num_row_groups = 10, 2, meta.num_row_groups

        def row_group(self, index):
            group = meta.row_group(index)
            return SimpleNamespace(num_rows=1, total_byte_size=100, column=group.column)

    with path.open("rb") as file:
        found = unpacked_bytes(file, 1 << 40)
    assert 0.9 * said < found <= said  # the headers themselves are not counted
    with pytest.raises(DataError, match=r"would unpack to .* MB \(10 rows\)"):
        parquet_files._check_size(Forged(), path, 8 << 30)


@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_every_version_are_counted(tmp_path, use_dictionary, version):
    path = tmp_path / "t.parquet"
    table = pa.table({"a": np.arange(5000.0), "b": [f"word {i % 300}" for i in range(5000)]})
    pq.write_table(
        table,
        path,
        use_dictionary=use_dictionary,
        data_page_version=version,
        data_page_size=2000,
        write_page_checksum=True,
        write_page_index=True,
    )
    column_sizes = pq.ParquetFile(path).metadata.row_group(0)
    said = sum(column_sizes.column(c).total_uncompressed_size for c in range(2))
    with path.open("rb") as file:
        found = unpacked_bytes(file, 1 << 40)
    assert 0.7 * said < found <= said
    assert len(read_factors(path).values) == 5000


def test_a_parquet_file_of_repeated_words_does_not_copy_them(tmp_path):
    path = tmp_path / "words.parquet"
    pq.write_table(pa.table({"a": ["long " * 1000] * 50}), path)
    with pytest.raises(DataError, match=r"a word of 5,000 characters"):
        read_factors(path)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([[1, 2], [3]], "list"),
        ([{"a": 1}, {"a": 2}], "struct"),
        ([b"\xff", b"\x00"], "binary"),
    ],
)
def test_columns_that_hold_no_single_values_are_refused(tmp_path, column, kind):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"good": [1, 2], "bad": column}), path)
    with pytest.raises(DataError, match=rf"column 'bad' holds '{kind}.*expected numbers or words"):
        read_factors(path)


def test_words_and_gaps_of_a_parquet_file_are_read_as_before(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", "y", None, "x"], "b": [1.5, 2, 3, 4]}), path)
    table = read_factors(path, missing="mask")
    assert table.classes == {"a": ("x", "y")}
    np.testing.assert_array_equal(table.values[:, 0], [0, 1, np.nan, 0])


def test_tables_with_a_million_columns_are_refused(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join("a" * 1_000_000) + "\n" + ",".join("1" * 1_000_000) + "\n")
    began = time.process_time()
    with pytest.raises(DataError, match="1,000,000 columns"):
        read_codes(path)
    with pytest.raises(DataError, match="1,000,000 columns"):
        load_data(images(tmp_path / "i.npy"), factors=path)
    assert time.process_time() - began < 2
    schema = pa.schema([(f"c{i}", pa.int8()) for i in range(MOST_COLUMNS + 1)])
    pq.write_table(schema.empty_table(), tmp_path / "wide.parquet")
    with pytest.raises(DataError, match="20,001 columns"):
        read_codes(tmp_path / "wide.parquet")


def test_a_cell_as_long_as_a_book_is_refused(tmp_path):
    """An array would give every row as much room as the longest word."""
    path = tmp_path / "t.csv"
    path.write_text("name\n" + "a\n" * 5 + "b" * (LONGEST_WORD + 1) + "\n")
    with pytest.raises(DataError, match="line 7 has a cell of 1,001 characters"):
        read_factors(path)


def test_whole_numbers_that_no_float_tells_apart_stay_apart(tmp_path):
    ids = [10**30, 10**30 + 1, 10**30 + 2, 2**53, 2**53 + 1, 7]
    path = tmp_path / "t.csv"
    path.write_text("code\n" + "".join(f"{number}\n" for number in ids))
    table = read_factors(path)
    assert len(np.unique(table.values)) == 6
    with pytest.raises(DataError, match="codes must be numbers"):
        read_codes(path)
    data = load_data(images(tmp_path / "i.npy"), factors=path)
    assert data.factor_list[0].size == 6
    assert not data.factor_list[0].continuous


def test_numbers_written_in_several_ways_are_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code\n" + f"{10**30}\n+{10**30}\n0{10**30}\n1e30\n")
    np.testing.assert_array_equal(read_codes(path).values[:, 0], 1e30)


def test_archives_of_many_arrays_are_refused_at_once(tmp_path):
    path = tmp_path / "many.npz"
    content = BytesIO()
    np.save(content, np.zeros(3))
    with zipfile.ZipFile(path, "w") as archive:
        for index in range(20_000):
            archive.writestr(f"a{index}.npy", content.getvalue())
    began = time.process_time()
    with pytest.raises(DataError, match=f"20,000 arrays; at most {MOST_MEMBERS:,}"):
        load_data(path)
    assert time.process_time() - began < 3


def test_the_archive_is_opened_once_for_all_its_headers(tmp_path, monkeypatch):
    path = tmp_path / "some.npz"
    rows = {f"factor_{index}": np.arange(6) for index in range(300)}
    np.savez(path, images=np.zeros((6, 8, 8), dtype=np.uint8), **rows)
    opened = []
    usual = zipfile.ZipFile.__init__

    def counting(self, *args, **more):
        opened.append(args)
        usual(self, *args, **more)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", counting)
    data = load_data(path)
    assert len(data.factor_list) == 300
    assert len(opened) < 310  # one for each array that is read, and a few


def test_names_of_arrays_cannot_fill_or_colour_the_screen(tmp_path):
    path = tmp_path / "odd.npz"
    np.savez(path, **{f"\x1b[31m{index}": np.zeros(3) for index in range(100)})
    with pytest.raises(DataError) as found:
        load_data(path)
    assert "\x1b" not in str(found.value)
    assert "(100)" in str(found.value)


def test_factors_of_countless_classes_are_left_out_and_noted():
    rows = 3 * LARGEST_CLASSES
    table = {"id": np.arange(rows), "shape": np.arange(rows) % 3}

    known = factor_table(pd.DataFrame(table))
    assert known.names == ("shape",)
    assert "id has 15,000 classes and is left out" in known.notes[0]
    with pytest.raises(DataError, match="no factor to score: factor_0 has 15,000 classes"):
        factor_table(np.arange(rows)[:, None])


def test_a_folder_that_cannot_be_looked_into_is_named(tmp_path, monkeypatch):
    (tmp_path / "images" / "secret").mkdir(parents=True)
    usual = os.scandir

    def refuse(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DataError, match=r"cannot read the folder .*secret: Permission denied"):
        load_data(tmp_path / "images")


def test_keys_of_countless_parts_are_refused_at_once(tmp_path, capsys):
    file = tmp_path / "study.toml"
    for text in (
        ".".join(["a"] * 100_000) + " = 1",
        "[" + ".".join(["a"] * 100_000) + "]",
        "x = {" + " . ".join(['"a"'] * 100_000) + " = 1}",
    ):
        file.write_text(text)
        began = time.process_time()
        assert main(["study", "run", str(file), "--dry-run"]) == 2
        assert time.process_time() - began < 3
        assert "has 100,000 parts" in capsys.readouterr().err


def test_dots_in_texts_remarks_and_numbers_are_no_keys(tmp_path):
    file = tmp_path / "study.toml"
    dots = "." * 500
    file.write_text(
        f'# {dots}\nnotes = """\n{dots}\n"""\ntitle = "{dots}"\nfull_size = \'{dots}\'\n'
        f'data = "toy_xys"\nmethods = ["vae"]\n[grid]\n"method.beta" = [{"1.5, " * 50}2.5]\n'
    )
    assert len(read_study(file).grid["method.beta"]) == 51


def test_studies_of_more_runs_than_were_meant_are_refused(tmp_path, capsys):
    file = tmp_path / "study.toml"
    file.write_text(f'data = "toy_xys"\nmethods = ["vae"]\nseeds = {MOST_RUNS + 1}\n')
    with pytest.raises(ConfigError, match="100,001 runs"):
        expand(read_study(file))
    file.write_text('data = "no_such_set"\nmethods = ["vae"]\nseeds = 6000\n')
    assert main(["study", "table", str(file), "--out", str(tmp_path)]) == 2
    assert "6,000 runs: checking the settings of each" in capsys.readouterr().out
