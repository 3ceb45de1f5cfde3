"""moving_shapes3d: clips of the rendered 3D Shapes, seen from a moving camera, 1,000 of 20.

Settings behind the colon choose dynamics, number and length:
`moving_shapes3d:dynamics=straight,clips=200`; see `unweave.data._clips`. The camera swings and
the object grows and shrinks; colours and shape stay through a clip, unless the dynamics are
`laplace`, by which hues change as well.
"""

from pathlib import Path

from unweave.data._clips import Motion, moving
from unweave.data._dataset import FactorImages
from unweave.data._options import DataOptions
from unweave.data._room import FACTORS, RENDERED, rooms

HUE = Motion(0, period=10)
MOTIONS = (HUE, HUE, HUE, Motion(0.5), Motion(0), Motion(1))


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the clips; always the same for the same settings."""
    return moving("moving_shapes3d", str(path or ""), rooms(), FACTORS, MOTIONS, RENDERED)
