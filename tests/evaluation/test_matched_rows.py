"""Rows of tables are matched by what names them, whatever the column is called."""

import numpy as np
import pytest

from unweave.cli import main
from unweave.errors import DataError
from unweave.workflows import evaluate_tables

ROWS = 300


@pytest.fixture
def tables(tmp_path):
    """Codes that are the factors, and the same factors in another order, as lines of CSV."""
    rng = np.random.default_rng(0)
    factors = rng.integers(5, size=(ROWS, 2))
    order = rng.permutation(ROWS)
    codes = [f"{a + 0.01 * i / ROWS},{b}" for i, (a, b) in enumerate(factors)]
    labels = [f"{a},{b}" for a, b in factors]
    return tmp_path, codes, labels, order


def write(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("ours", "theirs", "keyed"),
    [
        ("file", "file", lambda i: (f"a/{i}.png", f"a/{i}.png")),
        ("picture", "which", lambda i: (f"img_{i}", f"img_{i}")),
        ("path", "name", lambda i: (f"/data/{i}.png", f"{i}")),
        ("id", "id", lambda i: (f"{7 * i + 3}", f"{7 * i + 3}")),
    ],
)
def test_codes_and_factors_are_joined_by_their_names(tables, ours, theirs, keyed):
    folder, codes, labels, order = tables
    named = [f"{keyed(i)[0]},{line}" for i, line in enumerate(codes)]
    first = write(folder / "codes.csv", f"{ours},z0,z1", named)
    mixed = [f"{labels[i]},{keyed(i)[1]}" for i in order]
    second = write(folder / "factors.csv", f"x,y,{theirs}", mixed)
    scores = evaluate_tables(first, second, metrics=["mig"])
    assert scores["mig"].value > 0.95
    assert scores["mig"].details["factor_names"] == ("x", "y")


def test_names_of_one_table_alone_are_refused_never_taken_by_order(tables, capsys, monkeypatch):
    folder, codes, labels, order = tables
    np.save(folder / "codes.npy", np.array([line.split(",") for line in codes], dtype=float))
    mixed = [f"pic{i},{labels[i]}" for i in order]
    factors = write(folder / "factors.csv", "sample_of_mine,x,y", mixed)
    monkeypatch.chdir(folder)
    assert main(["evaluate", "--codes", "codes.npy", "--factors", str(factors)]) == 2
    error = capsys.readouterr().err.strip()
    assert "'sample_of_mine' says which sample a row is about" in error
    assert "\n" not in error
    with pytest.raises(DataError, match="says which sample"):
        evaluate_tables(factors, folder / "codes.npy", metrics=["mig"])


def test_numbers_of_rows_in_order_are_no_factor_and_no_fault(tables):
    folder, codes, labels, _ = tables
    first = write(folder / "codes.csv", "z0,z1", codes)
    counted = [f"{i},{line}" for i, line in enumerate(labels)]
    scores = evaluate_tables(first, write(folder / "f.csv", "id,x,y", counted), metrics=["mig"])
    assert scores["mig"].details["factor_names"] == ("x", "y")
    assert scores["mig"].value > 0.95


def test_a_code_without_factors_is_named(tables):
    folder, codes, labels, order = tables
    first = write(folder / "c.csv", "file,z0,z1", [f"{i}.png,{v}" for i, v in enumerate(codes)])
    short = [f"{i}.png,{labels[i]}" for i in order if i != 17]
    with pytest.raises(DataError, match=r"no line for 17\.png, which .* names in column 'file'"):
        evaluate_tables(first, write(folder / "f.csv", "file,x,y", short), metrics=["mig"])


def test_names_in_an_archive_are_matched(tables):
    folder, codes, labels, order = tables
    values = np.array([line.split(",") for line in codes], dtype=float)
    names = np.array([f"{i}.png" for i in range(ROWS)])
    np.savez(folder / "codes.npz", codes=values, files=names)
    factors = write(folder / "f.csv", "file,x,y", [f"{i}.png,{labels[i]}" for i in order])
    assert evaluate_tables(folder / "codes.npz", factors, metrics=["mig"])["mig"].value > 0.95


def test_amounts_with_gaps_name_no_rows(tables):
    folder, codes, labels, _ = tables
    first = write(folder / "codes.csv", "z0,z1", codes)
    lines = [f"{line},{'' if i % 9 == 0 else i / 7}" for i, line in enumerate(labels)]
    second = write(folder / "f.csv", "x,y,amount", lines)
    scores = evaluate_tables(first, second, metrics=["mig"], missing="mask")
    assert scores["mig"].details["factor_names"] == ("x", "y", "amount")
