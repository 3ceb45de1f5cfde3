"""3D Chairs: 1,393 chairs from 2 × 31 directions, 86,366 images of 64×64 in colour.

M. Aubry et al., "Seeing 3D chairs", CVPR 2014. The original is rendered_chairs.tar
or its unpacked folder; each picture of 600×600 is cut to the middle 400×400 and
resized. Chairs are numbered in the order of their names.
"""

import re
from collections import Counter
from pathlib import Path

from unweave.data._archives import list_files
from unweave.data._dataset import Factor, FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import check_count, required_path
from unweave.data._picture_sets import decoded

CHAIRS, ELEVATIONS, AZIMUTHS = 1393, 2, 31
CROP = (400, 400)
NAME = re.compile(r"(?:.*/)?([^/]+)/renders/image_\d+_p(\d+)_t(\d+)_r\d+\.png")


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Read the original archive or folder; rows go by chair, elevation, azimuth."""
    path = required_path("chairs3d", path, "/path/to/rendered_chairs")
    views = {}
    for file in list_files(path):
        if match := NAME.fullmatch(file):
            chair, elevation, azimuth = match.groups()
            views[chair, int(elevation), int(azimuth)] = file
    count = CHAIRS * ELEVATIONS * AZIMUTHS
    check_count("3D Chairs", "pictures (…/ID/renders/image_….png)", len(views), count, path)
    ordered = sorted(views)
    chairs = sorted({chair for chair, _, _ in ordered})
    elevations = sorted({elevation for _, elevation, _ in ordered})
    check_count("3D Chairs", "chairs", len(chairs), CHAIRS, path)
    check_count("3D Chairs", "elevations", len(elevations), ELEVATIONS, path)
    # Azimuths are counted per elevation, in case they are not the same angles in each.
    for (chair, elevation), found in Counter((c, e) for c, e, _ in ordered).items():
        check_count("3D Chairs", f"azimuths of {chair} at {elevation}°", found, AZIMUTHS, path)
    factors = (
        Factor("chair", CHAIRS, categorical=True),
        Factor("elevation", ELEVATIONS, tuple(map(str, elevations))),
        Factor("azimuth", AZIMUTHS),
    )
    files = [views[view] for view in ordered]
    pixels = decoded("chairs3d", path, files, options, color=options.color != "grey", crop=CROP)
    return FactorImages("chairs3d", pixels, factors)
