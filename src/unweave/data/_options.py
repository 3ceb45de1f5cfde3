"""How the images of a source are read."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DataOptions:
    """How the images of a source are read; each source uses what applies to it."""

    factors: str | None = None
    """File of factors for own images: CSV with a header, or .npy/.npz; one row per image."""
    image_size: int | None = None
    """Side in pixels to which images are cropped and resized; 64 for image files if not given."""
    color: Literal["auto", "grey", "rgb"] = "auto"
    """Colour of own images; auto keeps colour unless every image is grey."""
    missing: Literal["refuse", "mask"] = "refuse"
    """What to do with values of factors that are missing (NA, empty): refuse them, or score each
    factor on the rows that have it; of own images such columns stand beside the factors."""
    bad_images: Literal["refuse", "skip"] = "refuse"
    """What to do about files that are not readable images: stop, or report and leave them out."""
    channels: Literal["auto", "first", "last"] = "auto"
    """Where arrays of four axes keep their channels; auto takes the smaller of axes 1 and 3."""
    clips: Literal["none", "folders"] = "none"
    """Whether each folder of pictures in a folder is a clip, its frames in the order of names."""
    split: str = ""
    """Combinations of factors held out of training: a rule such as shape=square,x>0.5, or the
    name of a published split (element, range, extrapolation of dsprites, shapes3d and mpi3d)."""
    correlate: str = ""
    """Factors correlated in training: orientation~x:0.1 by a Gaussian of that width, or
    orientation~x:line:0.2 by a blurred line; ~- turns one around."""
