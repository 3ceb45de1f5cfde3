"""Reading tables from files, and refusing damaged and hostile ones."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unweave.errors import ConfigError, DataError
from unweave.evaluation.read_tables import read_codes, read_factors

TABLE = np.arange(12.0).reshape(4, 3)


def npy_header(shape: str, descr: str = "'<f8'") -> bytes:
    """Write a header that may promise anything."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_every_format_gives_the_same_table(tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE, columns=["a", "b", "c"])
    np.save(tmp_path / "t.npy", TABLE)
    np.savez_compressed(tmp_path / "t.npz", codes=TABLE)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.npy", "t.npz", "t.csv", "t.tsv", "t.parquet"):
        table = read_codes(tmp_path / name)
        np.testing.assert_array_equal(table.values, TABLE)
        if name.endswith(("csv", "tsv", "parquet")):
            assert table.names == ("a", "b", "c")


def test_a_csv_without_names_is_read_from_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1;2\n3;4.5\n")
    table = read_codes(tmp_path / "t.csv")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4.5]])
    assert table.names == ("column_0", "column_1")


def test_words_become_classes_of_a_factor_and_are_refused_as_codes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("shape,size\nheart,1\nsquare,2\nheart,3\n")
    pd.DataFrame({"shape": ["heart", "square", "heart"], "size": [1, 2, 3]}).to_parquet(
        tmp_path / "t.parquet"
    )
    for name in ("t.csv", "t.parquet"):
        table = read_factors(tmp_path / name)
        np.testing.assert_array_equal(table.values, [[0, 1], [1, 2], [0, 3]])
        assert table.classes == {"shape": ("heart", "square")}
        assert table.values.dtype.kind == "i"
        with pytest.raises(DataError, match="'shape' holds words such as 'heart'"):
            read_codes(tmp_path / name)


def test_arrays_of_words_become_classes(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([["b", "1"], ["a", "2"]]))
    np.testing.assert_array_equal(read_factors(tmp_path / "t.npy").values, [[1, 1], [0, 2]])


def test_an_archive_with_several_arrays_needs_a_key(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, first=TABLE, second=TABLE + 1)
    with pytest.raises(DataError, match="first, second"):
        read_codes(path)
    np.testing.assert_array_equal(read_codes(path, key="second").values, TABLE + 1)
    with pytest.raises(DataError, match="no array 'third'"):
        read_codes(path, key="third")
    np.savez(path, codes=TABLE, other=TABLE)
    np.testing.assert_array_equal(read_codes(path).values, TABLE)


def test_a_single_column_is_a_table(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.arange(5))
    assert read_factors(tmp_path / "t.npy").values.shape == (5, 1)
    np.save(tmp_path / "t.npy", np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match="expected a table"):
        read_factors(tmp_path / "t.npy")


def test_python_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "t.npz", codes=np.array([[object]], dtype=object))
    for name in ("t.npy", "t.npz"):
        with pytest.raises(DataError, match="run code from the file"):
            read_codes(tmp_path / name)


def test_a_header_that_promises_terabytes_is_refused(tmp_path: Path) -> None:
    data = npy_header("(1000000000000, 8)") + b"\0" * 64
    (tmp_path / "t.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("codes.npy", data)
    for name in ("t.npy", "t.npz"):
        with pytest.raises(DataError, match=r"at most 8\.0 GiB"):
            read_codes(tmp_path / name)


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    data = npy_header("(1000, 8)") + b"\0" * 64
    (tmp_path / "t.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("codes.npy", data)
    for name in ("t.npy", "t.npz"):
        with pytest.raises(DataError, match=r"header claims .*64,000 bytes"):
            read_codes(tmp_path / name)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, codes=np.zeros((1 << 18, 10)))
    assert path.stat().st_size < 1 << 16
    with pytest.raises(DataError, match=r"at most 0\.0 GiB are read"):
        read_codes(path, limit=1 << 20)


@pytest.mark.parametrize("name", ["t.npy", "t.npz", "t.parquet"])
@pytest.mark.parametrize("content", [b"not a table at all", b"PK\x03\x04broken", b"\x93NUMPY"])
def test_damaged_files_are_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_codes(tmp_path / name)


def test_bytes_are_read_as_words_and_an_archive_of_nothing_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([[b"b"], [b"a"], ["é".encode()]]))
    table = read_factors(tmp_path / "t.npy")
    assert table.values[:, 0].tolist() == [1, 0, 2]
    assert table.classes == {"column_0": ("a", "b", "é")}
    np.save(tmp_path / "bad.npy", np.array([[b"\xff"]]))
    with pytest.raises(DataError, match="damaged text"):
        read_factors(tmp_path / "bad.npy")
    np.savez(tmp_path / "none.npz")
    with pytest.raises(DataError, match="holds no array"):
        read_codes(tmp_path / "none.npz")


def test_a_member_with_a_wrong_checksum_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, codes=TABLE)
    data = bytearray(path.read_bytes())
    buffer = io.BytesIO()
    np.save(buffer, TABLE)
    start = bytes(data).index(buffer.getvalue()[-24:])
    data[start] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="damaged"):
        read_codes(path)


def test_faults_of_a_csv_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(DataError, match="line 3 has 1 cells; expected 2"):
        read_codes(path)
    path.write_text("a,b\n1,2\n,4\n")
    with pytest.raises(DataError, match=r"1 value of 4 is missing, in line 3 \('a'\)\. Fill"):
        read_codes(path)
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        read_codes(path)
    path.write_bytes(b"a,b\n\xff\xfe\x00,1\n")
    with pytest.raises(DataError, match="UTF-8"):
        read_codes(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="GiB"):
        read_codes(path, limit=4)


def test_of_many_missing_values_the_count_and_the_first_three_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,\n,4\n5,6\n,\n")
    places = r"in line 2 \('b'\), line 3 \('a'\), line 5 \('a'\), …\. "
    with pytest.raises(DataError, match=rf"4 values of 8 are missing, {places}"):
        read_codes(path)


def test_missing_values_of_a_parquet_file_are_refused(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0, None]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"1 value of 2 is missing, in row 1 \('a'\)"):
        read_codes(tmp_path / "t.parquet")
    pd.DataFrame({"a": np.arange(1000.0)}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="says it holds 1,000 rows"):
        read_codes(tmp_path / "t.parquet", limit=100)


def test_wrong_paths_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Check the path"):
        read_codes(tmp_path / "none.npy")
    with pytest.raises(ConfigError, match="expected a file ending in"):
        read_codes(tmp_path / "t.xlsx")
    (tmp_path / "t.csv").write_text("")
    with pytest.raises(DataError, match="empty"):
        read_codes(tmp_path / "t.csv")
    np.save(tmp_path / "t.npy", TABLE)
    with pytest.raises(ConfigError, match="no array named"):
        read_codes(tmp_path / "t.npy", key="codes")


@pytest.mark.parametrize("word", ["", "NA", "None", "NaT", "nan", "<NA>"])
def test_missing_words_are_refused_or_masked_in_every_kind_of_file(
    tmp_path: Path, word: str
) -> None:
    csv, npy = tmp_path / "t.csv", tmp_path / "t.npy"
    csv.write_text(f"shape,size\nheart,1\n{word},2\nsquare,{word}\nheart,4\n")
    np.save(npy, np.array([["heart", "1"], [word, "2"], ["square", word], ["heart", "4"]]))
    for path, place in ((csv, "line 3"), (npy, "row 1")):
        told = rf"2 values of 8 are missing, in {place} \(.*\), .* \(.*\)\. Fill"
        with pytest.raises(DataError, match=told):
            read_factors(path)
        table = read_factors(path, missing="mask")
        np.testing.assert_array_equal(table.values, [[0, 1], [np.nan, 2], [1, np.nan], [0, 4]])
        assert next(iter(table.classes.values())) == ("heart", "square")
