"""The geometry of dSprites, rasterised exactly.

Each image is one filled polygon, drawn as a GPU draws without antialiasing:
vertices are rounded to 1/256 pixel, a pixel is on if its centre lies inside
(even–odd rule), and a centre exactly on an edge follows the top-left rule.
After rounding all is integer arithmetic, so every machine draws the same bits.
"""

import numpy as np

from unweave.data._factor import Factor
from unweave.data._pixels import BitPixels
from unweave.files.cache import cache_folder, cached_array

FACTORS = (
    Factor("shape", 3, ("square", "ellipse", "heart"), categorical=True),
    Factor("scale", 6, values=tuple(0.5 + 0.1 * i for i in range(6))),
    Factor("orientation", 40, values=tuple(360 * i / 39 for i in range(40))),
    Factor("x", 32, values=tuple(i / 31 for i in range(32))),
    Factor("y", 32, values=tuple(i / 31 for i in range(32))),
)
SPLITS = {
    "element": "shape=ellipse,scale>0.6,orientation>120,orientation<240,x>0.66,y>0.66",
    "range": "shape=square,x>0.5",
    "extrapolation": "x>0.5",
}
"""What M. Montero et al., ICLR 2021, openreview:qbH974jKUVy, hold out of training."""
SIDE = 64
PIXEL = 256  # sub-pixel steps


def sprites() -> BitPixels:
    """Return all 737,280 images, rendered on first use and kept in the cache."""
    count = int(np.prod([factor.size for factor in FACTORS]))
    return BitPixels(
        cached_array(
            cache_folder() / "dsprites-v1.npy", (count, SIDE), np.dtype("<u8"), render_into
        )
    )


def render_into(words: np.ndarray) -> None:
    """Draw every image into `words` (row, height), in row order."""
    blocks = words.reshape(*(factor.size for factor in FACTORS), SIDE)
    for shape in range(3):
        for scale in range(6):
            for orientation in range(40):
                blocks[shape, scale, orientation] = render_block(shape, scale, orientation)


def outline(shape: int) -> np.ndarray:
    """Return the polygon of a shape at the origin, (vertex, 2)."""
    if shape == 0:
        return np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    if shape == 1:
        t = 2 * np.pi * np.arange(100) / 100
        return np.stack([1.33 * np.cos(t), np.sin(t) / 1.33], axis=1)
    t = 2 * np.pi * np.arange(150) / 150
    height = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
    return np.stack([np.sin(t) ** 3, -0.15 - height / 14.5], axis=1)


def render_block(shape: int, scale: int, orientation: int) -> np.ndarray:
    """Draw all 32 × 32 positions of one sprite: words (x, y, height)."""
    size = 9.6 * (0.5 + 0.1 * scale)
    angle = 2 * np.pi * orientation / 39
    u, v = outline(shape).T
    right = size * (np.cos(angle) * u + np.sin(angle) * v)
    down = size * (-np.sin(angle) * u + np.cos(angle) * v)
    centers = 16 + 32 * np.arange(32) / 31

    # Vertices in sub-pixels, y upwards: (position, vertex).
    x = np.floor(PIXEL * (centers[:, None] + right) + 0.5).astype(np.int64)
    y = np.floor(PIXEL * (SIDE - (centers[:, None] + down)) + 0.5).astype(np.int64)
    x_next, y_next = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)

    # Each edge from its lower to its upper end; it counts for the scan lines
    # whose centre c has low ≤ c < high.
    rising = y <= y_next
    low, high = np.minimum(y, y_next), np.maximum(y, y_next)
    first = -((PIXEL // 2 - low) // PIXEL)
    count = -((PIXEL // 2 - high) // PIXEL) - first
    place, edge = np.nonzero(count)  # (y position, edge) pairs that cross any line
    repeats = count[place, edge]
    line = first[place, edge].repeat(repeats) + _counting(repeats)
    place, edge = place.repeat(repeats), edge.repeat(repeats)

    # Where an edge crosses a line, as a fraction over `rise`: how many column
    # centres lie strictly to the left. (x position, crossing)
    rise = (high - low)[place, edge]
    climb = line * PIXEL + PIXEL // 2 - low[place, edge]
    x_low = np.where(rising[place, edge], x[:, edge], x_next[:, edge])
    run = np.where(rising[place, edge], x_next[:, edge], x[:, edge]) - x_low
    columns = -(-((x_low - PIXEL // 2) * rise + climb * run) // (PIXEL * rise))
    columns = columns.clip(0, SIDE - 1)  # no sprite reaches the last column

    # A pixel is on if an odd number of crossings lie to its right.
    masks = (np.uint64(1) << columns.astype(np.uint64)) - np.uint64(1)
    row = SIDE - 1 - line
    order = np.lexsort((row, place))
    key = (place * SIDE + row)[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    words = np.zeros((32, 32 * SIDE), dtype=np.uint64)
    words[:, key[starts]] = np.bitwise_xor.reduceat(masks[:, order], starts, axis=1)
    return words.reshape(32, 32, SIDE)


def _counting(repeats: np.ndarray) -> np.ndarray:
    """Return 0, 1, …, r−1 for each r of `repeats`, one after the other."""
    return np.arange(repeats.sum()) - (repeats.cumsum() - repeats).repeat(repeats)
