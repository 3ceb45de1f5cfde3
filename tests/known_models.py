"""Models of toy_xys whose codes are known exactly."""

import numpy as np

from unweave.data.toy_xys import SIDES
from unweave.runs.wrapped import wrap

CENTRE = np.array([7.5, 7.5, 1.5], dtype=np.float32)
SCALE = np.array([4.0, 4.0, 1.0], dtype=np.float32)


def read_factors(images: np.ndarray) -> np.ndarray:
    """Return x, y and side of squares, as their row of the data set has them."""
    found = []
    for image in images[:, 0]:
        lines, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
        side = len(lines)
        found.append(
            (columns[0] + side // 2 - 8, lines[0] + side // 2 - 8, SIDES.index(side)),
        )
    return np.array(found, dtype=np.float32)


def standard(images: np.ndarray) -> np.ndarray:
    """Return x, y, side as codes of about unit size, and a fourth that is dead."""
    codes = (read_factors(images) - CENTRE) / SCALE
    return np.concatenate([codes, np.zeros((len(codes), 1), dtype=np.float32)], axis=1)


def posterior(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = standard(images)
    logvar = np.tile(np.array([-4.0, -3.0, -2.0, 0.0], dtype=np.float32), (len(mean), 1))
    return mean, logvar


def draw(toy, codes: np.ndarray) -> np.ndarray:
    """Return the image of the nearest factors."""
    factors = np.rint(codes[:, :3] * SCALE + CENTRE)
    factors = np.clip(factors, 0, np.array(toy.factor_sizes) - 1).astype(int)
    return toy.images(toy.rows_of(factors))


def swap(toy, content_images: np.ndarray, style_images: np.ndarray) -> np.ndarray:
    """Return squares at the place of the content with the side of the style."""
    codes = standard(content_images)
    codes[:, 2] = standard(style_images)[:, 2]
    return draw(toy, codes)


def separated(toy, **changes):
    """Return a model with one latent per factor and a dead one."""
    options = {
        "decode": lambda codes: draw(toy, codes),
        "posterior": posterior,
        "swap": lambda content, style: swap(toy, content, style),
        "name": "separated",
    }
    return wrap(standard, toy, **(options | changes))


def entangled(toy):
    """Return a model whose first two latents are x and y turned by 45 degrees."""

    def encode(images: np.ndarray) -> np.ndarray:
        codes = standard(images)[:, :3]
        x, y = codes[:, 0].copy(), codes[:, 1].copy()
        codes[:, 0], codes[:, 1] = x + y, x - y
        return codes

    return wrap(encode, toy, name="entangled")
