"""One object in a square room under the sky: the geometry and light of 3D Shapes.

The camera stands on a circle around the object, looks at it horizontally, and turns with
the orientation, so that the corner of the room moves through the picture. Two lights: one
rides with the camera, one hangs in the room and throws a soft shadow; the sky lights what
looks up. Sizes were fitted to what published pictures of the original show of the room
(the line where wall meets sky, the corner, the shades of both walls); the object's were
chosen by eye.

Hues change nothing of the geometry. A picture is therefore a sum over materials, each a
map of how much of it a pixel shows and how brightly it is lit, times the material's colour:
15 orientations × 8 scales × 4 shapes give the 480 sets of maps that make 480,000 pictures.
"""

import colorsys

import numpy as np
from numpy.random import Generator

from unweave.data._factor import Factor
from unweave.data._original import grid_size
from unweave.data._pixels import FunctionPixels
from unweave.data._progress import with_progress
from unweave.data._solids import Box, Capsule, Cylinder, Solid, Sphere
from unweave.files.cache import cache_folder, cached_array

HUES = tuple(i / 10 for i in range(10))
FACTORS = (
    Factor("floor_hue", 10, values=HUES),
    Factor("wall_hue", 10, values=HUES),
    Factor("object_hue", 10, values=HUES),
    Factor("scale", 8, values=tuple(0.75 + 0.5 * i / 7 for i in range(8))),
    Factor("shape", 4, ("cube", "cylinder", "sphere", "capsule"), categorical=True),
    Factor("orientation", 15, values=tuple(-30 + 60 * i / 14 for i in range(15))),
)
SPLITS = {
    "element": "object_hue>=0.8,wall_hue>=0.8,floor_hue>=0.8,scale>=1.1,shape=cylinder,"
    "orientation>20",
    "range": "shape=capsule,object_hue>=0.5",
    "range_floor": "shape=capsule,floor_hue>=0.5",
    "range_hues": "object_hue>=0.8,wall_hue<=0.2",
    "extrapolation": "floor_hue>=0.5",
}
"""What M. Montero et al., ICLR 2021, openreview:qbH974jKUVy, hold out of training."""
RENDERED = (
    "rendered here in the manner of 3D Shapes; for the original images give the file, as "
    "shapes3d:/path/to/3dshapes.h5"
)
SIDE = 64
SCALES, SHAPES, ORIENTATIONS = 8, 4, 15
SMALLEST, LARGEST = 0.75, 1.25
WIDEST_ANGLE = np.radians(30)
FOCAL_LENGTH = 73.5  # pixels
ROOM, WALL = 3.5, 2.33  # half the side of the room, the height of its walls
RADIUS, EYE = 3.0, 1.0  # of the camera's circle; its height
SKY = np.array([153, 226, 249], np.float32) / 255
LIGHT, LIGHT_RADIUS = np.array([-1.5, -1.0, 4.5], np.float32), 0.7
AMBIENT, OVERHEAD, HEADLIGHT, LAMP = 0.12, 0.33, 0.60, 0.40
HIDDEN_SKY = 0.4  # share of the overhead light that is lost where the lamp is not seen
GLOSS, SHININESS = 0.16, 12
FINE = 3  # rays along each side of a pixel
LIGHT_SAMPLES = 32
SHADOW_FROM, SHADOW_TO, SHADOW_CELLS = -1.6, 3.0, 128  # part of the floor that may be in shadow
FLOOR, WALLS, OBJECT, SHINE, BEYOND = range(5)
"""The maps of a picture; shine is white, and beyond the walls is the sky."""


def rooms() -> FunctionPixels:
    """Return all 480,000 images, painted when they are asked for."""
    maps = room_maps()

    def make(rows: np.ndarray, rng: Generator) -> np.ndarray:
        hues, scene = np.divmod(rows, len(maps))
        floor, wall, thing = np.unravel_index(hues, (len(HUES),) * 3)
        return paint(maps[scene], floor, wall, thing)

    return FunctionPixels((3, SIDE, SIDE), grid_size(FACTORS), make)


def room_maps() -> np.ndarray:
    """Return the maps (scale · shape · orientation, map, pixel), made once and kept."""
    shape = (SCALES * SHAPES * ORIENTATIONS, 5, SIDE * SIDE)
    return cached_array(cache_folder() / "shapes3d-v1.npy", shape, np.dtype(np.float32), fill_maps)


def fill_maps(maps: np.ndarray) -> None:
    """Cast the rays of every scene."""
    views = [View(orientation) for orientation in range(ORIENTATIONS)]
    by_scene = maps.reshape(SCALES, SHAPES, ORIENTATIONS, 5, SIDE * SIDE)
    scenes = [(scale, shape) for scale in range(SCALES) for shape in range(SHAPES)]
    for scale, shape in with_progress(scenes, len(scenes), "rendering shapes3d"):
        solid = make_solid(shape, scale)
        shadow = shadow_on_floor(solid)
        for orientation, view in enumerate(views):
            by_scene[scale, shape, orientation] = view.maps(solid, shadow)


def make_solid(shape: int, scale: int) -> Solid:
    """Return the object of a shape and a scale, by their indices."""
    size = SMALLEST + (LARGEST - SMALLEST) * scale / (SCALES - 1)
    if shape == 0:
        return Box(0.47 * size)
    if shape == 1:
        return Cylinder(0.49 * size, 1.02 * size)
    if shape == 2:
        return Sphere((0, 0, 0.6 * size), 0.6 * size)
    return Capsule(0.42 * size, 0.52 * size)


def hue_colors() -> np.ndarray:
    """Return the ten colours of full saturation, (hue, 3)."""
    return np.array([colorsys.hsv_to_rgb(hue, 1, 1) for hue in HUES], np.float32)


def paint(maps: np.ndarray, floor: np.ndarray, wall: np.ndarray, thing: np.ndarray) -> np.ndarray:
    """Color maps (picture, map, pixel) by hues (picture,): float32 (picture, 3, side, side).

    Values are those of bytes, as in the original.
    """
    colors = np.empty((len(maps), 3, 5), np.float32)
    hues = hue_colors()
    for part, chosen in ((FLOOR, floor), (WALLS, wall), (OBJECT, thing)):
        colors[:, :, part] = hues[chosen]
    colors[:, :, SHINE], colors[:, :, BEYOND] = 1, SKY
    pictures: np.ndarray = (255 * colors) @ maps
    np.rint(pictures, out=pictures)
    np.clip(pictures, 0, 255, out=pictures)
    pictures /= 255
    return pictures.reshape(-1, 3, SIDE, SIDE)


def shadow_on_floor(solid: Solid) -> np.ndarray:
    """Return the share of the lamp that each cell (y, x) of the floor sees past the solid."""
    middle = np.linspace(SHADOW_FROM, SHADOW_TO, SHADOW_CELLS)
    y, x = np.meshgrid(middle, middle, indexing="ij")
    cells = np.stack([x, y, np.full_like(x, 1e-4)], axis=-1).reshape(-1, 3).astype(np.float32)
    seen = np.zeros(len(cells), np.float32)
    # Points of the lamp on a sunflower spiral: evenly spread, the same every time.
    turn = np.pi * (3 - np.sqrt(5))
    for i in range(LIGHT_SAMPLES):
        out = LIGHT_RADIUS * np.sqrt((i + 0.5) / LIGHT_SAMPLES)
        point = LIGHT + np.array([out * np.cos(i * turn), out * np.sin(i * turn), 0], np.float32)
        seen += np.isinf(solid.distance(cells, point - cells))
    return (seen / LIGHT_SAMPLES).reshape(SHADOW_CELLS, SHADOW_CELLS)


class View:
    """The rays of one orientation, and where they meet the empty room.

    Rays are (pixel, place in the pixel, 3).
    """

    def __init__(self, orientation: int):
        angle = WIDEST_ANGLE * (2 * orientation / (ORIENTATIONS - 1) - 1)
        sine, cosine = np.sin(angle), np.cos(angle)
        self.eye = np.array([-RADIUS * sine, -RADIUS * cosine, EYE], np.float32)
        self.forward = np.array([sine, cosine, 0], np.float32)
        pixel = np.arange(SIDE) + 0.5 - SIDE / 2
        place = (np.arange(FINE) + 0.5) / FINE - 0.5
        down = (pixel[:, None, None, None] + place[:, None]).repeat(SIDE, 1).repeat(FINE, 3)
        right = (pixel[:, None, None] + place).repeat(FINE, 1)[None].repeat(SIDE, 0)
        self.rays = (
            self.forward
            + right[..., None] / FOCAL_LENGTH * np.array([cosine, -sine, 0])
            - down[..., None] / FOCAL_LENGTH * np.array([0, 0, 1])
        )
        self.rays = self.rays.reshape(SIDE * SIDE, FINE * FINE, 3).astype(np.float32)
        self._meet_room()

    def _meet_room(self) -> None:
        """Find how every ray ends without an object, and what light there is."""
        rays = self.rays.reshape(-1, 3)
        with np.errstate(divide="ignore"):
            to_floor = np.where(rays[:, 2] < 0, -EYE / rays[:, 2], np.inf)
            to_sides = (np.sign(rays[:, :2]) * ROOM - self.eye[:2]) / rays[:, :2]
        side, to_wall = to_sides.argmin(axis=1), to_sides.min(axis=1)
        on_floor = to_floor < to_wall
        distance = np.minimum(to_floor, to_wall).astype(np.float32)
        points = self.eye + distance[:, None] * rays
        on_wall = ~on_floor & (points[:, 2] < WALL)
        normals = np.zeros_like(rays)
        normals[np.arange(len(rays)), side] = -np.sign(rays[np.arange(len(rays)), side])
        normals[on_floor] = (0, 0, 1)
        steady, lamp = self._steady_light(normals), LAMP * _facing(normals, LIGHT - points)
        hidden = OVERHEAD * HIDDEN_SKY
        fine = np.zeros((5, *self.rays.shape[:2]), np.float32)
        fine[FLOOR] = np.where(on_floor, steady - hidden, 0).reshape(fine.shape[1:])
        fine[WALLS] = np.where(on_wall, steady + lamp, 0).reshape(fine.shape[1:])
        fine[BEYOND] = ~(on_floor | on_wall).reshape(fine.shape[1:])
        self.fine, self.coarse = fine, fine.mean(axis=2)
        self.fine_shaded = np.where(on_floor, hidden + lamp, 0).reshape(fine.shape[1:])
        self.coarse_shaded = self.fine_shaded.mean(axis=1)
        self.distance = distance.reshape(fine.shape[1:])
        self.floor_pixels = np.flatnonzero(self.coarse_shaded)
        middles = self.rays[self.floor_pixels].mean(axis=1)
        middles = self.eye - EYE / np.minimum(middles[:, 2:], -1e-3) * middles
        cells = (middles[:, :2] - SHADOW_FROM) / (SHADOW_TO - SHADOW_FROM) * (SHADOW_CELLS - 1)
        self.cells = cells.clip(0, SHADOW_CELLS - 1.001)

    def _steady_light(self, normals: np.ndarray) -> np.ndarray:
        """Return the light that nothing shades: ambient, from the sky, from the camera."""
        from_camera = (-normals @ self.forward).clip(0)
        return AMBIENT + OVERHEAD * normals[:, 2].clip(0) + HEADLIGHT * from_camera

    def maps(self, solid: Solid, shadow: np.ndarray) -> np.ndarray:
        """Return the maps (map, pixel) of the room with a solid in it."""
        seen = np.ones(len(self.rays), np.float32)
        seen[self.floor_pixels] = _between(shadow, self.cells)
        maps = self.coarse.copy()
        maps[FLOOR] += self.coarse_shaded * seen
        near = self._pixels_near(solid)
        rays = self.rays[near].reshape(-1, 3)
        distance = solid.distance(np.broadcast_to(self.eye, rays.shape), rays)
        hit = distance < self.distance[near].reshape(-1)
        fine = self.fine[:, near]
        fine[FLOOR] += self.fine_shaded[near] * seen[near, None]
        fine = fine.reshape(5, -1)
        fine[:, hit] = 0
        fine[OBJECT, hit], fine[SHINE, hit] = self._lit_object(solid, rays[hit], distance[hit])
        maps[:, near] = fine.reshape(5, len(near), -1).mean(axis=2)
        return maps

    def _pixels_near(self, solid: Solid) -> np.ndarray:
        """Return the pixels whose middle, or a neighbour's middle, meets the solid."""
        middles = self.rays.mean(axis=1)
        met = np.isfinite(solid.distance(np.broadcast_to(self.eye, middles.shape), middles))
        around = np.pad(met.reshape(SIDE, SIDE), 1)
        wide = around[:-2] | around[1:-1] | around[2:]
        return np.flatnonzero(wide[:, :-2] | wide[:, 1:-1] | wide[:, 2:])

    def _lit_object(
        self, solid: Solid, rays: np.ndarray, distance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how brightly points of the solid are lit, and how much they shine."""
        points = self.eye + distance[:, None] * rays
        normals = solid.normals(points)
        to_lamp = LIGHT - points
        to_lamp /= np.linalg.norm(to_lamp, axis=1, keepdims=True)
        light = self._steady_light(normals) + LAMP * _facing(normals, to_lamp)
        towards_eye = -rays / np.linalg.norm(rays, axis=1, keepdims=True)
        gloss = _facing(normals, to_lamp + towards_eye) ** SHININESS
        return light, GLOSS * gloss


def _facing(normals: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the cosine between normals and directions, 0 where they look away."""
    length = np.linalg.norm(directions, axis=1)
    cosine: np.ndarray = np.einsum("ij,ij->i", normals, directions) / length
    return cosine.clip(0)


def _between(grid: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Read a grid (y, x) at places (x, y) between its cells."""
    x, y = places[:, 0], places[:, 1]
    left, low = x.astype(np.int64), y.astype(np.int64)
    across, up = x - left, y - low
    below = grid[low, left] * (1 - across) + grid[low, left + 1] * across
    above = grid[low + 1, left] * (1 - across) + grid[low + 1, left + 1] * across
    return below * (1 - up) + above * up
