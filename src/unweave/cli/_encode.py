"""unweave encode RUN [IMAGES] --to FILE"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from unweave.cli import _output
from unweave.cli._figures import load_model
from unweave.cli._parse import parse
from unweave.data import DataOptions

DESCRIPTION = """Write the codes of images as a table: a row for each image, with its name, the
factors that are known of it, and z0, z1, …

  unweave encode runs/my-run --to codes.csv
  unweave encode runs/my-run photos/ --to codes.parquet
  unweave encode runs/my-run photos/ --factors labels.csv --to codes.npz
  unweave encode --model my_module:encode --data dsprites --to codes.csv

IMAGES is a picture, a folder of them, an array file or the name of a data set; without it, the
data of the run. Pictures are brought to the size that the model takes. `unweave decode` goes
back."""


@dataclass(frozen=True)
class Flags:
    to: str
    """The table: a file that ends in .csv, .parquet or .npz."""
    run: tyro.conf.Positional[str | None] = None
    """Folder of the run."""
    images: tyro.conf.Positional[str | None] = None
    """What to encode; by default the data of the run."""
    model: str | None = None
    """MODULE:NAME of a model of yours instead of a run, or a FILE.onnx."""
    data: str | None = None
    """Data set of that model, which says what images it takes."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "encode", DESCRIPTION)
    from unweave import editing

    editing.table_suffix(Path(flags.to))
    folder, images = flags.run, flags.images
    if flags.model is not None and images is None:
        folder, images = None, flags.run  # the only word beside a model is what to encode
    model = load_model(folder, flags.model, flags.data or images, flags.options)
    table = editing.encode_images(model, editing.open_images(images, model, flags.options))
    table.save(flags.to)
    known = f", {len(table.columns)} factors" if table.columns else ""
    _output.say(f"{flags.to}: {len(table.names):,} images, codes of {table.codes.shape[1]}{known}")
    return 0
