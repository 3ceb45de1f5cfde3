"""dSprites: white sprites on black, 737,280 images of 64×64, each combination once.

L. Matthey et al., 2017, github.com/deepmind/dsprites-dataset.

The set is rendered on this machine, in seconds and once; the original file is
read instead when its path is given. The constant colour factor is left out.
Against the original, the rendering has two pixels more in 128 million that are
on; at most about 150 images are thought to differ, by about one pixel each.
"""

from pathlib import Path

import numpy as np

from unweave.data._dataset import FactorImages
from unweave.data._options import DataOptions
from unweave.data._original import open_npz_member
from unweave.data._pixels import BytePixels
from unweave.data._sprites import FACTORS, sprites


def load(path: Path | None, options: DataOptions) -> FactorImages:
    """Render the set, or read the original file."""
    if path is None:
        return FactorImages("dsprites", sprites(), FACTORS)
    images = open_npz_member(path, "imgs", np.dtype(np.uint8), (None, 64, 64))
    return FactorImages("dsprites", BytePixels(images, white=1), FACTORS)
