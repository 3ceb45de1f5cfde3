"""Image files: opened safely, brought to one size and colour."""

import io
import logging
import warnings
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from unweave.errors import DataError, reason

# What Pillow says of a spoilt file is said by our own error, once; a user's handlers still hear it.
logging.getLogger("PIL").addHandler(logging.NullHandler())
# Pillow only warns between 89 and 179 megapixels; a small file can unpack to
# gigabytes, so we refuse earlier and before anything is decoded.
LARGEST = 64_000_000
# Pictures of pixels only: others (EPS, for one) may start programs to be read.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
FILTER = Image.Resampling.LANCZOS  # widened by Pillow when it scales down, so antialiased
GREY_MODES = ("1", "L", "LA", "La", "I;16", "I;16B", "I;16L", "I")


def open_image(
    path: Path, file: IO[bytes] | None = None, *, at_least: int | None = None
) -> Image.Image:
    """Open and decode an image file, refusing what is not an image or too large.

    With `file` the bytes come from there and `path` is only its name. A JPEG
    much larger than `at_least` pixels a side is decoded at half its size or
    less. Rotation notes of cameras are followed.
    """
    try:
        if file is None:
            with open(path, "rb") as opened:
                return _decoded(path, opened, at_least)
        return _decoded(path, file, at_least)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"no such image file: {path}") from None
    except UnidentifiedImageError:
        raise DataError(f"{path} is not a readable image: of no known format") from None
    # Decoders meet damaged bytes with errors of every kind; all mean the same to the user.
    except Exception as error:
        raise DataError(f"{path} is not a readable image: {reason(error)}") from error


def _decoded(path: Path, file: IO[bytes], at_least: int | None) -> Image.Image:
    with warnings.catch_warnings():
        # Pillow warns of large images, which we refuse, and of odd notes in good ones.
        warnings.simplefilter("ignore")
        image = Image.open(file, formats=FORMATS)
        width, height = image.size
        if width * height > LARGEST:
            raise DataError(
                f"{path} claims {width} × {height} pixels; the limit is {LARGEST:,}. "
                f"Scale it down first."
            )
        if at_least:
            image.draft(None, (2 * at_least, 2 * at_least))
        return ImageOps.exif_transpose(image)


def image_from_bytes(content: bytes, image_shape: tuple[int, int, int]) -> np.ndarray:
    """Read one image file and bring it to a shape: float32 (channel, height, width) in [0, 1].

    The largest part of that form is cut out of the middle; transparent parts become white.
    """
    channels, height, width = image_shape
    if channels not in (1, 3):
        raise DataError(f"image files have 1 or 3 channels; images of {channels} were expected")
    image = open_image(Path("the given file"), io.BytesIO(content))
    image = _opaque(_eight_bit(image)).convert("RGB" if channels == 3 else "L")
    pixels = np.asarray(ImageOps.fit(image, (width, height), FILTER), dtype=np.float32) / 255
    return pixels[None] if channels == 1 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def fitted(
    image: Image.Image, size: int, *, color: bool, crop: tuple[int, int] | None = None
) -> np.ndarray:
    """Cut the middle out of an image and resize it: uint8 (size, size[, 3]).

    The middle is the largest square, or `crop` (width, height) pixels.
    Transparent parts become white.
    """
    image = _opaque(_eight_bit(image)).convert("RGB" if color else "L")
    return np.asarray(_middle(image, crop).resize((size, size), FILTER))


def is_grey(image: Image.Image) -> bool:
    """Whether an image has no colour in any pixel."""
    if image.mode in GREY_MODES:
        return True
    pixels = np.asarray(image.convert("RGB"))
    return bool((pixels == pixels[..., :1]).all())


def resized_planes(planes: np.ndarray, size: int) -> np.ndarray:
    """Resize the middle square of (channel, height, width) uint8 or float32 values."""
    images = [Image.fromarray(np.ascontiguousarray(plane)) for plane in planes]
    return np.stack([np.asarray(_middle(image).resize((size, size), FILTER)) for image in images])


def _middle(image: Image.Image, crop: tuple[int, int] | None = None) -> Image.Image:
    """Cut out the largest square in the middle, or `crop` (width, height) pixels."""
    width, height = crop or (min(image.size), min(image.size))
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def _eight_bit(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey to 8 bits; Pillow by itself would clip it."""
    if image.mode == "F":
        raise DataError("images of real numbers are not supported as files; save them as .npy")
    if not image.mode.startswith("I"):
        return image
    values = np.asarray(image).astype(np.int64)
    if values.min() < 0 or values.max() > 65535:
        raise DataError(
            f"grey values must lie in 0 to 65535, found {values.min()} … {values.max()}"
        )
    return Image.fromarray(((values + 128) // 257).astype(np.uint8))


def _opaque(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, image)
