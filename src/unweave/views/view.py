"""What every view is: named arrays that JSON can hold."""

import base64
import dataclasses
import io
import math
from typing import Any

import numpy as np
from PIL import Image

PICTURES = {"pictures": True}
"""Metadata of a field that holds images (…, channel, height, width) in [0, 1]."""


@dataclasses.dataclass(frozen=True)
class View:
    """Named arrays and words; nothing in it refers to networks."""

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, words, lists; images as PNG in data URLs."""
        content = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            is_picture = "pictures" in field.metadata and value is not None
            content[field.name] = pictures_to_urls(value) if is_picture else plain(value)
        return content


def plain(value: Any) -> Any:
    """Turn arrays, tuples and nested views into what JSON can hold; what is not finite is null."""
    if isinstance(value, View):
        return value.to_json()
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def pictures_to_urls(images: np.ndarray) -> Any:
    """Return nested lists of PNG data URLs, one per image."""
    if images.ndim > 3:
        return [pictures_to_urls(part) for part in images]
    return to_url(to_picture(images))


def to_picture(image: np.ndarray) -> Image.Image:
    """Turn one image (channel, height, width) in [0, 1] into a picture.

    Of channel counts other than 1 and 3 the first channel is shown.
    """
    pixels = np.round(np.clip(image, 0, 1) * 255).astype(np.uint8)
    if len(pixels) == 3:
        return Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    return Image.fromarray(pixels[0])


def to_url(picture: Image.Image) -> str:
    """Return a picture as a PNG that a page can hold in itself."""
    content = io.BytesIO()
    picture.save(content, "PNG")
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
