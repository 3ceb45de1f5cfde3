"""A distance of images that looks at several scales, without any trained network.

The Laplacian pyramid, P. J. Burt and E. H. Adelson, 1983; as a loss of generators
whose codes are optimised, P. Bojanowski et al., ICML 2018, arXiv:1707.05776, eq. (3).
It stands in for the features of a trained VGG: it notices a shift by a few pixels
and a blur, but knows nothing of objects.
"""

import torch
from torch.nn.functional import avg_pool2d, interpolate

from unweave.tensors import Images, Scalar

COARSEST_SIDE = 4


def pyramid_distance(images: Images, others: Images) -> Scalar:
    """Return the L1 distance of pixels plus those of all levels of the Laplacian pyramids.

    Each level counts as if it had as many pixels as the image: a level's mean
    absolute difference times the pixels. Averaged over the batch.
    """
    # The pyramid is linear: that of the difference is the difference of the pyramids.
    difference = images - others
    levels = [difference.abs().mean()]
    while min(difference.shape[2:]) >= 2 * COARSEST_SIDE:
        coarse = avg_pool2d(difference, 2, ceil_mode=True)
        fine = difference - interpolate(
            coarse, size=difference.shape[2:], mode="bilinear", align_corners=False
        )
        levels.append(fine.abs().mean())
        difference = coarse
    levels.append(difference.abs().mean())
    return torch.stack(levels).sum() * images[0].numel()
