"""Images to codes and back, and images changed through their codes."""

from unweave.editing.changes import Change, read_change, taken_from
from unweave.editing.code_files import (
    EncodedImages,
    decode_to_array,
    decode_to_folder,
    encode_images,
    read_codes_of,
    save_picture,
    save_pictures,
    table_suffix,
)
from unweave.editing.edits import (
    ROLES,
    Edited,
    FactorChange,
    Varied,
    edit,
    morph,
    reader_for,
    swap,
    vary,
    what_moved,
)
from unweave.editing.factor_reader import FactorReader, Reading, fit_reader
from unweave.editing.sources import NamedImages, images_of_data, open_images, read_image
from unweave.editing.targets import Finder, Target

__all__ = [
    "ROLES",
    "Change",
    "Edited",
    "EncodedImages",
    "FactorChange",
    "FactorReader",
    "Finder",
    "NamedImages",
    "Reading",
    "Target",
    "Varied",
    "decode_to_array",
    "decode_to_folder",
    "edit",
    "encode_images",
    "fit_reader",
    "images_of_data",
    "morph",
    "open_images",
    "read_change",
    "read_codes_of",
    "read_image",
    "reader_for",
    "save_picture",
    "save_pictures",
    "swap",
    "table_suffix",
    "taken_from",
    "vary",
    "what_moved",
]
