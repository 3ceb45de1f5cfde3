"""Opening image files safely."""

from pathlib import Path

from PIL import Image, UnidentifiedImageError

from unweave.errors import DataError

# Pillow only warns between 89 and 179 megapixels; a small file can unpack to
# gigabytes, so we refuse earlier and before anything is decoded.
LARGEST = 64_000_000


def open_image(path: Path) -> Image.Image:
    """Open an image file, refusing what is not an image or too large."""
    try:
        image = Image.open(path)
        width, height = image.size
        if width * height > LARGEST:
            raise DataError(
                f"{path} claims {width} × {height} pixels; the limit is {LARGEST:,}. "
                f"Scale it down first."
            )
        image.load()
    except FileNotFoundError:
        raise DataError(f"no such image file: {path}") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not a readable image: {error}") from error
    return image
