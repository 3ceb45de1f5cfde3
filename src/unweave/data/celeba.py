"""CelebA: 202,599 faces of celebrities, 64×64 in colour, with 40 attributes.

Z. Liu, P. Luo, X. Wang and X. Tang, ICCV 2015, arXiv:1411.7766. The original is
a folder with img_align_celeba/, list_attr_celeba.txt and, where there,
identity_CelebA.txt (adds the factor `identity`) and list_eval_partition.txt
(gives the `partitions` train, validation and test).

Of each picture of 178×218 the middle 148×148 is resized. Published work also
squashes the whole picture to a square, or cuts out another part; losses then
do not compare.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import check_count, find_file, required_path
from unweave.data._picture_sets import decoded
from unweave.errors import DataError, reason

PICTURES, ATTRIBUTES, IDENTITIES = 202_599, 40, 10_177
CROP = (148, 148)
PARTITIONS = ("train", "validation", "test")


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read the folder with the original files; rows go by the number of the picture."""
    folder = required_path("celeba", path, "/path/to/folder")
    lines = _read_lines(find_file(folder, "list_attr_celeba.txt"))
    names = lines[1]
    check_count("CelebA", "attributes", len(names), ATTRIBUTES, folder)
    table = _numbers_by_file(lines[2:], len(names), folder)
    check_count("CelebA", "pictures with attributes", len(table), PICTURES, folder)
    files = sorted(table)
    attributes = np.array([table[file] for file in files])
    if not np.isin(attributes, (-1, 1)).all():
        raise DataError(f"{folder}: attributes must be 1 or -1")
    factors = [Factor(name, 2, ("no", "yes")) for name in names]
    columns = [(attributes + 1) // 2]

    if (identity := _optional(folder, "identity_CelebA.txt", files)) is not None:
        people, indices = np.unique(identity, return_inverse=True)
        check_count("CelebA", "identities", len(people), IDENTITIES, folder)
        labels = tuple(map(str, people))
        factors.append(Factor("identity", len(people), labels, categorical=True))
        columns.append(indices.reshape(-1, 1))
    partitions = {}
    if (part := _optional(folder, "list_eval_partition.txt", files)) is not None:
        if not np.isin(part, range(len(PARTITIONS))).all():
            raise DataError(f"{folder}: partitions must be 0, 1 or 2")
        partitions = {name: np.flatnonzero(part == i) for i, name in enumerate(PARTITIONS)}

    pictures = find_file(folder, f"img_align_celeba/{files[0]}", files[0]).parent
    color = options.color != "grey"
    missing = next((file for file in files if not (pictures / file).is_file()), None)
    if missing:
        raise DataError(f"{pictures} has no {missing}; is the copy complete?")
    pixels = decoded("celeba", pictures, files, options, color=color, crop=CROP)
    return FactorImages("celeba", pixels, factors, np.hstack(columns), partitions)


def _read_lines(path: Path) -> list[list[str]]:
    """Read a list as words by line; spacing varies."""
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {reason(error)}") from error
    lines = [line for line in lines if line]
    if len(lines) < 3:
        raise DataError(f"{path} has {len(lines)} lines; expected one for each picture")
    return lines


def _numbers_by_file(lines: list[list[str]], count: int, folder: Path) -> dict[str, list[int]]:
    table = {}
    for line in lines:
        try:
            table[line[0]] = [int(word) for word in line[1:]]
        except ValueError as error:
            raise DataError(f"{folder}: unreadable line for {line[0]}: {reason(error)}") from error
        if len(table[line[0]]) != count:
            raise DataError(
                f"{folder}: expected {count} numbers for {line[0]}, found {len(line) - 1}"
            )
    return table


def _optional(folder: Path, name: str, files: list[str]) -> np.ndarray | None:
    """Read one number per picture from a list, if there is one."""
    found = next(iter(sorted(folder.rglob(name))), None)
    if found is None:
        return None
    table = _numbers_by_file(_read_lines(found), 1, folder)
    missing = next((file for file in files if file not in table), None)
    if missing:
        raise DataError(f"{found} has no line for {missing}")
    return np.array([table[file][0] for file in files])
