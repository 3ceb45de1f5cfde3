"""unweave export RUN [--onnx]"""

from dataclasses import dataclass
from pathlib import Path

import tyro

from unweave.cli import _output
from unweave.cli._parse import parse

DESCRIPTION = """Write the encoder and the decoder of a run as ONNX files.

The encoder takes `images` (batch, channel, height, width) from 0 to 1 and gives `codes`; the
decoder takes `codes` and gives `images`. Any program that runs ONNX can use them; here
`unweave evaluate --model encoder.onnx --data NAME` scores one."""


@dataclass(frozen=True)
class Flags:
    folder: tyro.conf.Positional[str]
    """Folder of the run."""
    to: str = ""
    """Folder for the files; by default `onnx` in the run's."""
    onnx: bool = False
    """ONNX, which is the format whether this is said or not."""


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "export", DESCRIPTION)
    from unweave import runs
    from unweave.errors import ConfigError
    from unweave.explorer.onnx_files import decoder_to_onnx, encoder_to_onnx
    from unweave.files.writing import write_atomically

    trained = runs.load(flags.folder)
    contents = {}
    if trained.code.source == "images":
        contents["encoder.onnx"] = encoder_to_onnx(trained, any_batch=True)
    if trained.code.decodes:
        contents["decoder.onnx"] = decoder_to_onnx(trained)
    if not contents:
        raise ConfigError(f"{trained.name} neither encodes nor decodes images: nothing to export")
    folder = Path(flags.to) if flags.to else Path(flags.folder) / "onnx"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomically(folder / name, content)
        _output.say(f"{folder / name} ({len(content) / 1e6:.1f} MB)")
    return 0
