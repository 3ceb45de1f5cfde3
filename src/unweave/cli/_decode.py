"""unweave decode RUN CODES --to FOLDER"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from unweave.cli import _output
from unweave.cli._figures import load_model
from unweave.cli._parse import parse
from unweave.data import DataOptions

DESCRIPTION = """Make images of a table of codes, as `unweave encode` writes it: one PNG for each
row, called as the row is.

  unweave decode runs/my-run codes.csv --to pictures/
  unweave decode runs/my-run codes.parquet --to images.npz
  unweave decode --model my_module:model --data dsprites codes.csv --to pictures/

Codes are in columns z0, z1, …; other columns may be there. No file that is there is replaced."""


@dataclass(frozen=True)
class Flags:
    to: str
    """Folder of the pictures, or one file that ends in .npz."""
    run: tyro.conf.Positional[str | None] = None
    """Folder of the run."""
    codes: tyro.conf.Positional[str | None] = None
    """The table: .csv, .parquet, .npz or .npy."""
    model: str | None = None
    """MODULE:NAME of a model of yours instead of a run, with encode and decode."""
    data: str | None = None
    """Data set of that model, which says what images it makes."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "decode", DESCRIPTION)
    from unweave import editing
    from unweave.errors import ConfigError

    folder, codes = flags.run, flags.codes
    if flags.model is not None and codes is None:
        folder, codes = None, flags.run  # the only word beside a model is the table
    if codes is None:
        raise ConfigError("decode what? Give a table of codes: unweave decode RUN codes.csv --to …")
    model = load_model(folder, flags.model, flags.data, flags.options)
    model.code.require_decoder(model.kind)
    table = editing.read_codes_of(codes, model.latent_dim)
    if Path(flags.to).suffix.lower() == ".npz":
        editing.decode_to_array(model, table, flags.to)
        _output.say(f"{flags.to}: {len(table.names):,} images")
    else:
        places = editing.decode_to_folder(model, table, flags.to)
        _output.say(f"{flags.to}: {len(places):,} images")
    return 0
