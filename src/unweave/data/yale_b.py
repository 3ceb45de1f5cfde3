"""Extended Yale B, cropped: faces under 64 lights, about 2,414 grey images of 64×64.

A. Georghiades, P. Belhumeur and D. Kriegman, PAMI 2001; K.-C. Lee, J. Ho and
D. Kriegman, PAMI 2005. The original is CroppedYale.zip or its unpacked folder;
each picture of 168×192 is cut to the middle 168×168 and resized. Pictures in
ambient light only are left out, as are those the makers marked .bad, so the
table of person and light has a few holes.
"""

import re
from pathlib import Path

import numpy as np

from unweave.data._archives import list_files
from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import check_count, required_path
from unweave.data._picture_sets import decoded
from unweave.errors import DataError

PEOPLE = 38
# 64 lights each, of which 18 pictures in all were damaged when they were taken.
FEWEST, MOST = 38 * 64 - 18, 38 * 64
NAME = re.compile(r"(?:.*/)?yaleB(\d\d)_P(\d\d)A([+-]\d+)E([+-]\d+)\.pgm")


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read the original archive or folder; rows go by person, azimuth, elevation."""
    path = required_path("yale_b", path, "/path/to/CroppedYale")
    found = {}
    for file in list_files(path):
        if match := NAME.fullmatch(file):
            person, pose, azimuth, elevation = map(int, match.groups())
            found[person, azimuth, elevation, pose] = file
    if not FEWEST <= len(found) <= MOST:
        raise DataError(
            f"{path}: found {len(found):,} pictures yaleB…_P…A…E….pgm, expected {FEWEST:,} to "
            f"{MOST:,}; is the copy complete? Load it as own data if it is a part"
        )
    ordered = sorted(found)
    columns = np.array(ordered)[:, :3]
    factors, table = [], np.empty_like(columns)
    for i, name in enumerate(("person", "azimuth", "elevation")):
        values, table[:, i] = np.unique(columns[:, i], return_inverse=True)
        labels = tuple(f"{value:02d}" if i == 0 else f"{value:+d}" for value in values)
        factors.append(Factor(name, len(values), labels, categorical=i == 0))
    check_count("Yale B", "people", factors[0].size, PEOPLE, path)
    files = [found[key] for key in ordered]
    pixels = decoded("yale_b", path, files, options, color=options.color == "rgb", crop=None)
    return FactorImages("yale_b", pixels, factors, table)
