"""A distance of images that looks at several scales, without any trained network.

The Laplacian pyramid, P. J. Burt and E. H. Adelson, 1983; as a loss of generators
whose codes are optimised, P. Bojanowski et al., ICML 2018, arXiv:1707.05776, eq. (3).
It stands in for the features of a trained VGG: it notices a shift by a few pixels
and a blur, but knows nothing of objects.
"""

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, interpolate

from unweave.tensors import Images, Scalar

COARSEST_SIDE = 4


def pyramid_distance(images: Images, others: Images, power: int = 1) -> Scalar:
    """Return the distance of pixels plus those of all levels of the Laplacian pyramids.

    A distance is the sum of absolute differences, or of a power of them. Each level counts as if
    it had as many pixels as the image: a level's mean times the pixels. Averaged over the batch.
    """
    # The pyramid is linear: that of the difference is the difference of the pyramids.
    difference = images - others
    levels = [mean_power(difference, power)]
    while min(difference.shape[2:]) >= 2 * COARSEST_SIDE:
        coarse = avg_pool2d(difference, 2, ceil_mode=True)
        fine = difference - interpolate(
            coarse, size=difference.shape[2:], mode="bilinear", align_corners=False
        )
        levels.append(mean_power(fine, power))
        difference = coarse
    levels.append(mean_power(difference, power))
    return torch.stack(levels).sum() * images[0].numel()


def mean_power(values: Tensor, power: int) -> Scalar:
    """Return the mean of a power of absolute values."""
    return values.abs().mean() if power == 1 else values.abs().pow(power).mean()
