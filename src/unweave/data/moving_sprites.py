"""moving_sprites: clips of one dSprites sprite that moves and turns, 1,000 clips of 20 images.

Settings behind the colon choose dynamics, number and length:
`moving_sprites:dynamics=laplace,frames=50`; see `unweave.data._clips`. Shape and size
of a sprite stay through its clip, unless the dynamics are `laplace`, by which its size changes.
"""

from pathlib import Path

from unweave.data._clips import Motion, moving
from unweave.data._dataset import FactorImages
from unweave.data._options import DataOptions
from unweave.data._sprites import FACTORS, sprites

# The last orientation is the first one again, so that a turn has 39 values.
MOTIONS = (Motion(0), Motion(0), Motion(1.5, period=39), Motion(2), Motion(2))


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Draw the clips; always the same for the same settings."""
    return moving("moving_sprites", str(path or ""), sprites(), FACTORS, MOTIONS)
