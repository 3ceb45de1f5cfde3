"""Images to codes and back, and images changed through their codes."""

from unweave.editing.code_files import (
    EncodedImages,
    decode_to_array,
    decode_to_folder,
    encode_images,
    read_codes_of,
    save_picture,
    table_suffix,
)
from unweave.editing.sources import NamedImages, images_of_data, open_images, read_image

__all__ = [
    "EncodedImages",
    "NamedImages",
    "decode_to_array",
    "decode_to_folder",
    "encode_images",
    "images_of_data",
    "open_images",
    "read_codes_of",
    "read_image",
    "save_picture",
    "table_suffix",
]
