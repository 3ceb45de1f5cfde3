"""Augmented pairs: two views of an image, as far from it as asked and no further."""

import numpy as np
import pytest
import torch

from unweave.batches import AugmentedPairs
from unweave.data import from_arrays
from unweave.errors import ConfigError

STILL = {"shift": 0.0, "rotation": 0.0, "zoom": 0.0}


def spots(count: int, height: int = 24, width: int = 24) -> torch.Tensor:
    """Return images with a smooth bright spot in the middle."""
    y = (torch.arange(height) - (height - 1) / 2)[:, None]
    x = (torch.arange(width) - (width - 1) / 2)[None]
    return torch.exp(-(x**2 + y**2) / 8).expand(count, 1, height, width).contiguous()


def centres(images: torch.Tensor) -> torch.Tensor:
    """Return (image, 2): where the brightness is on average, in pixels, x and y."""
    _, _, height, width = images.shape
    mass = images.sum((1, 2, 3))
    x = (images.sum((1, 2)) * torch.arange(width)).sum(1) / mass
    y = (images.sum((1, 3)) * torch.arange(height)).sum(1) / mass
    return torch.stack([x, y], dim=1)


def test_two_views_differ_from_each_other_and_repeat_by_the_generator(toy):
    kind = AugmentedPairs(noise=0.1, elastic=0.05)
    one, again = (kind.draw(toy, 8, np.random.default_rng(3)) for _ in range(2))
    for name in ("images", "first", "second"):
        assert torch.equal(getattr(one, name), getattr(again, name))
    assert one.images.shape == one.first.shape == one.second.shape == (8, 1, 32, 32)
    assert (one.first != one.second).flatten(1).any(1).all()
    for view in (one.first, one.second):
        assert 0 <= view.min() < view.max() <= 1
        assert view.dtype == torch.float32
        assert (view != one.images).flatten(1).any(1).all()


def test_without_any_change_a_view_is_the_image(toy):
    images = torch.from_numpy(toy.images(np.arange(5)))
    seen = AugmentedPairs(**STILL).view(images, np.random.default_rng(0))
    torch.testing.assert_close(seen, images, atol=1e-4, rtol=0)


def test_shifts_are_even_up_to_their_size():
    images = spots(500)
    seen = AugmentedPairs(**{**STILL, "shift": 0.1}).view(images, np.random.default_rng(0))
    moved = centres(seen) - centres(images)
    assert 2.3 < moved.abs().max() < 2.45, "a tenth of 24 pixels"
    assert moved.abs().mean() == pytest.approx(1.2, abs=0.1)
    assert abs(np.corrcoef(moved.T)[0, 1]) < 0.15, "x and y on their own"


def test_turns_are_turns_also_of_images_that_are_not_square():
    """A spot off the centre stays as far from it, and its angle is within what was asked."""
    images = torch.roll(spots(400, 24, 40), 7, dims=3)
    seen = AugmentedPairs(**{**STILL, "rotation": 30.0}).view(images, np.random.default_rng(0))
    offset = centres(seen) - torch.tensor([19.5, 11.5])
    torch.testing.assert_close(offset.norm(dim=1), torch.full((400,), 7.0), atol=0.1, rtol=0)
    angle = torch.rad2deg(torch.atan2(offset[:, 1], offset[:, 0]))
    assert 28 < angle.abs().max() < 30.5
    assert (angle > 0).float().mean().item() == pytest.approx(0.5, abs=0.1)


def test_zoom_changes_sizes_by_its_share():
    images = spots(300)
    seen = AugmentedPairs(**{**STILL, "zoom": 0.2}).view(images, np.random.default_rng(0))
    ratio = (seen.sum((1, 2, 3)) / images.sum((1, 2, 3))).sqrt()
    assert 0.79 < ratio.min() < 0.83
    assert 1.17 < ratio.max() < 1.21
    torch.testing.assert_close(centres(seen), centres(images), atol=0.05, rtol=0)


def test_elastic_pulls_parts_apart():
    seen = AugmentedPairs(**STILL, elastic=0.1).view(spots(200), np.random.default_rng(0))
    moved = centres(seen) - centres(spots(200))
    assert 0.3 < moved.abs().mean() < 2.4
    assert len(seen.flatten(1).unique(dim=0)) == 200


def test_noise_has_its_deviation():
    grey = torch.full((50, 1, 24, 24), 0.5)
    seen = AugmentedPairs(**STILL, noise=0.05).view(grey, np.random.default_rng(0))
    assert (seen - grey).std().item() == pytest.approx(0.05, rel=0.02)


def test_any_images_will_do_and_impossible_settings_are_refused():
    data = from_arrays(np.zeros((3, 8, 9, 3), np.uint8))
    AugmentedPairs().check(data)
    assert AugmentedPairs().draw(data, 4, np.random.default_rng(0)).first.shape == (4, 3, 8, 9)
    for wrong in ({"shift": -0.1}, {"zoom": 1.0}, {"noise": -1.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            AugmentedPairs(**wrong)
