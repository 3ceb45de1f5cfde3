"""Runs in the layout of the Hugging Face Hub: written, read, pushed and pulled.

What is shared is what a run is used and judged by: settings, networks, scores, names of latents,
the record, pictures and the card. No checkpoint, and no file of a plugin. What is pulled is a run
of somebody else: nothing in it is ever run, and data that it names is opened only where you allow
it.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from unweave import runs
from unweave.errors import ConfigError, DataError, reason
from unweave.report.card import write_card
from unweave.runs.folder import RunFolder
from unweave.runs.run import Run

WEIGHTS = "model.safetensors"
"""What the Hub calls the networks of a run."""
SHARED = (
    "config.json",
    "README.md",
    "scores.json",
    "status.json",
    "machine.json",
    "silenced.json",
    "latent_names.json",
    "record.jsonl",
)
PICTURES = "figures/*.png"


def save_pretrained(run: Run | str | Path, folder: str | Path) -> Path:
    """Write a trained run into a folder as the Hub lays models out."""
    loaded = run if isinstance(run, Run) else runs.load(run)
    source, target = loaded.path, Path(folder)
    networks = RunFolder(source).networks_file
    if not networks.is_file():
        raise ConfigError(f"{source} is not finished: train it to its end before it is shared")
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target} is a file; expected a folder, or one to be made")
    write_card(loaded)
    (target / "figures").mkdir(parents=True, exist_ok=True)
    for name in SHARED:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)
    for picture in source.glob(PICTURES):
        shutil.copyfile(picture, target / "figures" / picture.name)
    shutil.copyfile(networks, target / WEIGHTS)
    return target


def from_pretrained(
    name: str | Path, to: str | Path | None = None, *, revision: str | None = None
) -> Run:
    """Return a run of the Hub by its name, USER/NAME, or of a folder laid out so.

    It becomes a run folder, `to`, by default below runs/ by its name.
    """
    place = Path(name)
    source = place if place.is_dir() else Path(_download(str(name), revision))
    target = Path(to) if to is not None else Path("runs") / place.resolve().name
    weights = source / WEIGHTS
    if not weights.is_file() or not (source / "config.json").is_file():
        raise DataError(f"{name} holds no run of unweave: expected config.json and {WEIGHTS}")
    if target.exists() and any(target.iterdir()):
        raise ConfigError(f"{target} exists and is not empty; name another folder")
    (target / "figures").mkdir(parents=True, exist_ok=True)
    for file in SHARED:
        if (source / file).is_file():
            shutil.copyfile(source / file, target / file)
    for picture in source.glob(PICTURES):
        shutil.copyfile(picture, target / "figures" / picture.name)
    shutil.copyfile(weights, target / RunFolder(target).networks_file.name)
    return runs.load(target)


def push(run: Run | str | Path, name: str, *, private: bool = False) -> str:
    """Upload a run to the Hub as USER/NAME, and return its address there."""
    if name.count("/") != 1 or not all(name.split("/")):
        raise ConfigError(f"expected USER/NAME, found {name!r}; a folder here is ./{name}")
    hub = _client()
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(run, folder)
        try:
            api = hub.HfApi()
            address = api.create_repo(name, private=private, exist_ok=True)
            api.upload_folder(repo_id=name, folder_path=folder, commit_message="Add a run")
        except (OSError, ValueError) as error:  # what the Hub refuses, and no network
            raise DataError(f"cannot push to {name}: {reason(error)}") from error
    return str(address)


def _download(name: str, revision: str | None) -> str:
    if name.count("/") != 1 or not all(name.split("/")):
        raise ConfigError(f"no folder {name}; a name of the Hub is USER/NAME")
    hub = _client()
    try:
        found: str = hub.snapshot_download(
            name, revision=revision, allow_patterns=[*SHARED, WEIGHTS, PICTURES]
        )
    except (OSError, ValueError) as error:
        raise DataError(f"cannot pull {name}: {reason(error)}") from error
    return found


def _client() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise ConfigError("the Hub needs huggingface_hub: pip install 'unweave[hub]'") from None
    return huggingface_hub
