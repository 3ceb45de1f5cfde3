"""Small trained models that come with the package, to look at before anything is trained.

`benchmarks/examples.py` makes them. They are run folders, named `example:NAME` wherever a run is
asked for.
"""

import shutil
from pathlib import Path

from unweave import catalog
from unweave.errors import ConfigError, DataError
from unweave.files.cache import cache_folder
from unweave.files.locks import held

PREFIX = "example:"
SHIPPED = Path(__file__).parent


def names() -> list[str]:
    """List the examples there are."""
    return sorted(file.parent.name for file in SHIPPED.glob("*/config.json"))


def is_example(text: object) -> bool:
    """Whether a run is given as an example, not by its folder."""
    return isinstance(text, str) and text.startswith(PREFIX)


def folder_of(text: str) -> Path:
    """Return the run folder of `example:NAME`, which may be written to: a copy in the cache.

    Looking at a run adds figures, scores and codes to its folder, and the package's own may not
    be ours to change.
    """
    name = text.removeprefix(PREFIX)
    catalog.check_name(name, names(), "example")
    target = all_folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with held(target.parent / f".{name}.lock", waits=True):
            if not _is_same(SHIPPED / name, target):
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(SHIPPED / name, target)
    except OSError as error:
        raise DataError(f"cannot copy the example to {target}: {error.strerror}") from error
    return target


def all_folder() -> Path:
    """Return the folder in which copies of the examples stand beside each other."""
    return cache_folder() / "examples"


def unpack_all() -> Path:
    """Copy every example, and return the folder they are in."""
    if not names():
        raise ConfigError("no example models came with this installation")
    for name in names():
        folder_of(PREFIX + name)
    return all_folder()


def _is_same(shipped: Path, copy: Path) -> bool:
    """Whether a copy has the networks and settings of the version that is installed."""
    return all(
        (copy / file).is_file() and (copy / file).read_bytes() == (shipped / file).read_bytes()
        for file in ("config.json", "networks.safetensors")
    )
