"""Arrays of images as one picture, with labels: pixels as they are, or vector around them."""

import io
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from unweave.figures.formats import format_of
from unweave.files.writing import write_atomically
from unweave.views import to_picture

if TYPE_CHECKING:
    from unweave.figures.style import Drawing

GAP = 2
HEADER_GAP = 10
MARGIN = 6
FONT_SIZE = 13
BACKGROUND, INK, MARK = (255, 255, 255), (40, 40, 40), (213, 94, 0)
RASTER, VECTOR = ("png", "webp", "gif"), ("svg", "pdf")


@dataclass(frozen=True)
class ImageGrid:
    """Images (line, column, channel, height, width) in [0, 1] in a grid with labels."""

    images: np.ndarray
    row_labels: list[str] = field(default_factory=list)
    column_labels: list[str] = field(default_factory=list)
    title: str = ""
    marks: list[tuple[int, int]] = field(default_factory=list)
    """Cells (line, column) with a frame around them."""
    header: bool = False
    """Whether the first line and column stand apart."""
    least_side: int = 64

    @cached_property
    def zoom(self) -> int:
        """How many pixels of the picture a pixel of an image has along a side."""
        return max(1, -(-self.least_side // max(self.images.shape[3:])))

    @cached_property
    def cell(self) -> tuple[int, int]:
        """Height and width of an image in the picture."""
        height, width = self.images.shape[3:]
        return height * self.zoom, width * self.zoom

    @cached_property
    def corner(self) -> tuple[int, int]:
        """Left and top of the first image."""
        font = _font()
        widths = [int(font.getlength(text)) for text in self.row_labels]
        left = 2 * MARGIN + max(widths) if widths else MARGIN
        top = MARGIN + (22 if self.title else 0) + (18 if self.column_labels else 0)
        return left, top

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return left and top of an image."""
        (left, top), (height, width) = self.corner, self.cell
        extra = HEADER_GAP if self.header else 0
        return (
            left + column * (width + GAP) + (extra if column else 0),
            top + line * (height + GAP) + (extra if line else 0),
        )

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        lines, columns = self.images.shape[:2]
        right, bottom = self.place(lines - 1, columns - 1)
        height, width = self.cell
        least = int(_font().getlength(self.title)) + 2 * MARGIN
        return max(right + width + GAP + MARGIN, least), bottom + height + GAP + MARGIN

    @property
    def width(self) -> int:
        return self.size[0]

    @property
    def height(self) -> int:
        return self.size[1]

    @cached_property
    def picture(self) -> Image.Image:
        """The whole as pixels."""
        page = self._images_alone()
        draw, font = ImageDraw.Draw(page), _font()
        if self.title:
            draw.text((MARGIN, 4), self.title, fill=INK, font=font)
        for x, y, text in self._placed_labels():
            draw.text((x, y), text, fill=INK, font=font)
        return page

    @cached_property
    def drawing(self) -> "Drawing":
        """The whole with letters as letters, for SVG and PDF."""
        from unweave.figures.style import Drawing

        width, height = self.size
        drawing = Drawing(figsize=(width / 100, height / 100), dpi=100)
        axes = drawing.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.imshow(
            np.asarray(self._images_alone()),
            extent=(0, width, height, 0),
            interpolation="none",
            aspect="auto",
        )
        points = FONT_SIZE * 0.72
        if self.title:
            axes.text(MARGIN, 4, self.title, fontsize=points, va="top")
        for x, y, text in self._placed_labels():
            axes.text(x, y, text, fontsize=points, va="top")
        return drawing

    def save(self, path: str | Path) -> None:
        """Write the picture; the suffix decides the format."""
        path = Path(path)
        suffix = format_of(path, RASTER + VECTOR, "pictures")
        if suffix in VECTOR:
            self.drawing.save(path)
            return
        content = io.BytesIO()
        options: dict[str, Any] = {"lossless": True} if suffix == "webp" else {}
        self.picture.save(content, suffix, **options)
        write_atomically(path, content.getvalue())

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.picture.save(content, "PNG")
        return content.getvalue()

    def _images_alone(self) -> Image.Image:
        page = Image.new("RGB", self.size, BACKGROUND)
        for line, images in enumerate(self.images):
            for column, image in enumerate(images):
                page.paste(_picture(image, self.zoom), self.place(line, column))
        draw = ImageDraw.Draw(page)
        height, width = self.cell
        for line, column in self.marks:
            x, y = self.place(line, column)
            # Around the image, in the gap: no pixel of it is covered.
            box = (x - GAP, y - GAP, x + width + GAP - 1, y + height + GAP - 1)
            draw.rectangle(box, outline=MARK, width=GAP)
        return page

    def _placed_labels(self) -> list[tuple[float, float, str]]:
        font, (height, width) = _font(), self.cell
        placed = []
        for column, text in enumerate(self.column_labels):
            x, y = self.place(0, column)
            placed.append((x + width / 2 - font.getlength(text) / 2, y - 18.0, text))
        for line, text in enumerate(self.row_labels):
            _, y = self.place(line, 0)
            placed.append((float(MARGIN), y + height / 2 - 8, text))
        return placed


def tile(images: np.ndarray, **options: Any) -> Image.Image:
    """Lay images (line, column, channel, height, width) in [0, 1] out as a grid."""
    return ImageGrid(images, **options).picture


@cache
def _font() -> Any:
    """Return the letters of matplotlib's figures: Pillow's own have no Greek and no dashes."""
    from matplotlib import get_data_path  # not before a picture is drawn

    file = Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    return ImageFont.truetype(str(file), FONT_SIZE)  # Pillow 10 takes no path here


def _picture(image: np.ndarray, zoom: int) -> Image.Image:
    """Turn one image (channel, height, width) into a picture."""
    picture = to_picture(image)
    return picture.convert("RGB").resize(
        (picture.width * zoom, picture.height * zoom), Image.Resampling.NEAREST
    )
