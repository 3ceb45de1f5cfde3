"""Draw a contact sheet of every world that docs/data.md shows: python docs/make_data_sheets.py"""

from pathlib import Path

import numpy as np
from PIL import Image

from unweave.data import FactorImages, load_data
from unweave.figures import data_overview
from unweave.figures.pictures import tile

PICTURES = Path(__file__).parent / "pictures" / "data"
WORLDS = ("shapes3d", "pendulum", "moving_sprites", "moving_shapes3d", "faces", "glyphs")
INTERVENTIONS = (
    "pendulum",
    "pendulum:do(shadow_length=9)",
    "pendulum:do(shadow_position=5)",
    "pendulum:do(shadow_length=random,shadow_position=random)",
    "pendulum:do(light_angle=60)",
)


def interventions() -> Image.Image:
    """Show the same rows as they were observed and under interventions."""
    rows = np.random.default_rng(1).integers(len(load_data("pendulum")), size=8)
    sets: list[FactorImages] = [load_data(name) for name in INTERVENTIONS]
    labels = ["observed", *(name.partition(":")[2] for name in INTERVENTIONS[1:])]
    return tile(
        np.stack([data.images(rows) for data in sets]),
        row_labels=labels,
        title="pendulum: what was observed, and the same under interventions",
    )


def save(picture: Image.Image, name: str) -> None:
    path = PICTURES / f"{name}.png"
    picture.convert("RGB").save(path, optimize=True)
    print(f"{path.relative_to(PICTURES.parents[2])}  {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for world in WORLDS:
        save(data_overview(load_data(world), count=16), world)
    save(interventions(), "interventions")
