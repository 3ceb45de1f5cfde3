"""Arrays of images as one picture, with labels."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

GAP = 2
BACKGROUND, INK = (255, 255, 255), (40, 40, 40)


def tile(
    images: np.ndarray,
    *,
    row_labels: list[str] | None = None,
    column_labels: list[str] | None = None,
    title: str = "",
    least_side: int = 64,
) -> Image.Image:
    """Lay images (line, column, channel, height, width) in [0, 1] out as a grid."""
    lines, columns, _, height, width = images.shape
    zoom = max(1, -(-least_side // max(height, width)))
    height, width = height * zoom, width * zoom
    font = ImageFont.load_default(size=13)
    left = 12 + max((int(font.getlength(text)) for text in row_labels or []), default=-6)
    top = 6 + (22 if title else 0) + (18 if column_labels else 0)
    page = Image.new(
        "RGB",
        (left + columns * (width + GAP) + 6, top + lines * (height + GAP) + 6),
        BACKGROUND,
    )
    draw = ImageDraw.Draw(page)
    if title:
        draw.text((6, 4), title, fill=INK, font=font)
    for column, text in enumerate(column_labels or []):
        x = left + column * (width + GAP) + width / 2 - font.getlength(text) / 2
        draw.text((x, top - 18), text, fill=INK, font=font)
    for line in range(lines):
        y = top + line * (height + GAP)
        if row_labels:
            draw.text((6, y + height / 2 - 8), row_labels[line], fill=INK, font=font)
        for column in range(columns):
            page.paste(_picture(images[line, column], zoom), (left + column * (width + GAP), y))
    return page


def _picture(image: np.ndarray, zoom: int) -> Image.Image:
    """Turn one image (channel, height, width) into a picture."""
    pixels = np.round(np.clip(image, 0, 1) * 255).astype(np.uint8)
    if len(pixels) == 3:
        picture = Image.fromarray(pixels.transpose(1, 2, 0))
    else:  # grey; of other channel counts the first is shown
        picture = Image.fromarray(pixels[0])
    return picture.convert("RGB").resize(
        (picture.width * zoom, picture.height * zoom), Image.Resampling.NEAREST
    )
