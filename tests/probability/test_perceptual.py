"""The distance of images by pixels and Laplacian pyramids."""

import pytest
import torch

from unweave.probability.perceptual import pyramid_distance


def test_equal_images_have_no_distance_and_order_does_not_matter():
    one, two = torch.rand(2, 3, 20, 27), torch.rand(2, 3, 20, 27)
    assert pyramid_distance(one, one) == 0
    torch.testing.assert_close(pyramid_distance(one, two), pyramid_distance(two, one))


@pytest.mark.parametrize("power", [1, 2])
def test_a_constant_counts_at_the_pixels_and_at_the_coarsest_level(power):
    images = torch.rand(2, 1, 32, 32)
    shifted = pyramid_distance(images, images + 0.25, power)
    assert shifted.item() == pytest.approx(2 * 0.25**power * 1024, rel=1e-4)


def test_of_mostly_dark_images_the_nearest_by_absolute_differences_is_dark_and_by_squares_is_not():
    images = (torch.arange(16) == torch.arange(16)[:, None]).float().reshape(16, 1, 4, 4)
    dark, mean = torch.zeros_like(images), images.mean(0, keepdim=True).expand_as(images)
    assert pyramid_distance(images, dark, 1) < pyramid_distance(images, mean, 1)
    assert pyramid_distance(images, mean, 2) < pyramid_distance(images, dark, 2)


def test_it_is_summed_over_pixels_and_averaged_over_the_batch():
    one, two = torch.rand(1, 1, 16, 16), torch.rand(1, 1, 16, 16)
    twice = pyramid_distance(one.repeat(2, 1, 1, 1), two.repeat(2, 1, 1, 1))
    torch.testing.assert_close(twice, pyramid_distance(one, two))


def test_unlike_pixels_alone_it_tells_near_from_far():
    """A dot moved by 2 pixels and by 12: as many pixels differ."""
    images = torch.zeros(3, 1, 32, 32)
    for image, column in zip(images, (8, 10, 20), strict=True):
        image[0, 14:16, column : column + 2] = 1
    start, near, far = images[:, None]
    assert (start - near).abs().sum() == (start - far).abs().sum()
    assert pyramid_distance(start, near) < 0.9 * pyramid_distance(start, far)
