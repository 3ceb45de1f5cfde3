"""A run is a folder of plain files, each read and written here.

config.json              settings and versions
machine.json             what decides the last bits: threads, device, versions
status.json              running | interrupted | failed | done, with the message
record.jsonl             loss terms by step; diagnostics at evaluations
checkpoint.safetensors   networks, optimizers and step (and .previous)
networks.safetensors     the trained networks
weights/                 networks on the way, by step, where they were asked for
silenced.json            which latents were silenced, and networks.unsilenced.safetensors
scores.json              metrics
scores.PART.json         metrics on a part of the data: train, held_out, correlated, inverse
plugins/                 files of plugins that were given by path, for people to read
latent_names.json        what the user calls latents: {"3": "x position"}
results/                 what studies keep of the run (studies/_ledger.py)
figures/                 pictures
"""

import json
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torch import Tensor

from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError, DataError, shown
from unweave.files import tensor_files
from unweave.files.json_files import read_json, read_json_lines
from unweave.files.locks import sole_owner
from unweave.files.writing import flush_folder, is_unfinished, sweep, write_atomically
from unweave.networks import Networks
from unweave.runs import config as settings_of_run
from unweave.runs import foreign_data, plugins, stored
from unweave.runs.config import Train

FORMAT = 1
NETWORKS, AVERAGES = "networks.", "averages/"
"""How names of weights begin in checkpoints, and those of their running averages anywhere."""
LOCK = ".lock"
LONGEST_NAME = 60  # characters that still fit beside a picture
KEPT_WEIGHTS = re.compile(r"(\d{1,15})\.safetensors")


class RunFolder:
    """Every read and write of a run's files."""

    def __init__(self, path: str | Path, within: str | Path | None = None):
        """Name the folder; `within` is what the user opened, if it is a folder around it."""
        self.path = Path(path)
        self.within = self.path if within is None else Path(within)
        self.config_file = self.path / "config.json"
        self.machine_file = self.path / "machine.json"
        self.status_file = self.path / "status.json"
        self.record_file = self.path / "record.jsonl"
        self.checkpoint_file = self.path / "checkpoint.safetensors"
        self.previous_checkpoint_file = self.path / "checkpoint.previous.safetensors"
        self.next_checkpoint_file = self.path / "checkpoint.next.safetensors"
        self.networks_file = self.path / "networks.safetensors"
        self.silenced_file = self.path / "silenced.json"
        self.unsilenced_file = self.path / "networks.unsilenced.safetensors"
        self.scores_file = self.path / "scores.json"
        self.latent_names_file = self.path / "latent_names.json"
        self.figures = self.path / "figures"
        self.weights = self.path / "weights"

    def exists(self) -> bool:
        return self.config_file.is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, so that nobody else trains in it, and clear what was left unfinished.

        Refuses if another process holds it.
        """
        busy = f"{self.path} is being trained by another process"
        with sole_owner(self.path / LOCK, busy):
            for place in (self.path, self.weights, *self.path.glob(f"{plugins.FOLDER}/*")):
                sweep(place)
            self.next_checkpoint_file.unlink(missing_ok=True)
            yield

    def reserve(self) -> None:
        """Make the folder, unless another run or anything else is there.

        A start that was killed before it wrote its settings leaves nothing that counts.
        """
        if self.exists():
            raise ConfigError(
                f"{self.path} already holds a run ({self.status()['state']}). Continue it with "
                f"`unweave resume {self.path}`, or name another folder with --out."
            )
        if self.path.exists() and not self._is_blank():
            raise ConfigError(f"{self.path} exists and is not empty; name another with --out")
        try:
            self.figures.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot make {self.path}: {error.strerror or error}") from error

    def _is_blank(self) -> bool:
        """Whether nothing is here but what a start leaves that is killed before its settings."""
        if not self.path.is_dir():
            return False
        return all(
            is_unfinished(entry)
            or entry.name == LOCK
            or (entry == self.figures and entry.is_dir() and not any(entry.iterdir()))
            or (entry.name == plugins.FOLDER and (self.path / LOCK).is_file())
            for entry in self.path.iterdir()
        )

    def create(self, config: Train, summary: DataSummary) -> None:
        """Write the settings of a new run; the folder is locked."""
        self.reserve()
        self.write_config(config, summary)

    def write_config(self, config: Train, summary: DataSummary) -> None:
        content = {
            "format": FORMAT,
            "settings": settings_of_run.to_json(config),
            "image_shape": list(summary.image_shape),
            "rows": summary.rows,
            "column_sizes": dict(summary.column_sizes),
            "versions": versions(),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        used = plugins.used_by(config)
        if used:
            content["plugins"] = plugins.to_json(used)
            plugins.keep_files(used, self.path)
        write_atomically(self.config_file, json.dumps(content, indent=2) + "\n")

    def require(self) -> None:
        """Refuse a folder that holds no run."""
        if self.exists():
            return
        why = ""
        if self._is_blank() and any(self.path.iterdir()):
            why = "; its start was killed before it wrote one: begin it again with `unweave train`"
        raise DataError(f"{self.path} is not a run folder: it has no config.json{why}")

    def read_config(self) -> tuple[Train, DataSummary]:
        """Return the settings and the sizes of the data."""
        self.require()
        content = read_json(self.config_file)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            found = content.get("format") if isinstance(content, dict) else content
            raise DataError(f"{self.config_file}: expected format {FORMAT}, found {shown(found)}")
        summary = stored.check_summary(content, self.config_file)
        plugins.check(plugins.from_json(content.get("plugins", []), self.config_file), self.path)
        try:
            return settings_of_run.from_folder(content.get("settings")), summary
        except ConfigError as error:
            raise DataError(f"{self.config_file}: {error}") from error

    def open_data(self, config: Train) -> FactorImages:
        """Open the data set of the run, if that is for it to name: see `foreign_data`.

        If it is a plugin's that is missing, say how to get it.
        """
        foreign_data.check(config, self.path, self.within)
        return plugins.open_data(config, self.used_plugins(), self.path)

    def used_plugins(self) -> list[plugins.Used]:
        """Return the plugins that the run was made with."""
        content = read_json(self.config_file) if self.exists() else {}
        return plugins.from_json(content.get("plugins", []), self.config_file)

    def machine(self) -> dict[str, Any]:
        """Return what decided the last bits so far; nothing of runs that did not note it."""
        if not self.machine_file.is_file():
            return {}
        content = read_json(self.machine_file)
        if not isinstance(content, dict):
            raise DataError(f"{self.machine_file}: expected facts by name, found {shown(content)}")
        return content

    def write_machine(self, facts: Mapping[str, Any]) -> None:
        write_atomically(self.machine_file, json.dumps(dict(facts), indent=1) + "\n")

    def status(self) -> dict[str, Any]:
        """Return the state and what belongs to it."""
        if not self.status_file.is_file():
            return {"state": "new"}
        return stored.check_status(read_json(self.status_file), self.status_file)

    def set_status(self, state: str, **facts: Any) -> None:
        content = {"state": state, "pid": os.getpid(), **facts}
        write_atomically(self.status_file, json.dumps(content) + "\n")

    def record(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the record; a last line cut short by a crash is left out."""
        for number, _, entry in read_json_lines(self.record_file):
            yield stored.check_line(entry, number, self.record_file)

    def scores(self, part: str = "all") -> dict[str, Any]:
        """Return the scores by metric, of all the data or of a part; empty if there are none."""
        file = self.part_scores_file(part)
        return stored.check_scores(read_json(file), file) if file.is_file() else {}

    def add_scores(
        self,
        scores: Mapping[str, Any],
        *,
        step: int,
        preliminary: bool = False,
        part: str = "all",
    ) -> list[str]:
        """Keep scores of the networks at a step beside those that are there, by metric.

        Preliminary ones, of the fast preset, do not take the place of full ones of the same
        step; return the metrics whose full score stays.
        """
        kept = self.scores(part)
        stays = [
            name
            for name, entry in scores.items()
            if preliminary
            and name in kept
            and _is_full(kept[name], step)
            and not _is_of_any_preset(entry)
        ]
        for name, entry in scores.items():
            if name not in stays:
                kept[name] = {**entry, "step": step}
        self.write_scores(kept, part)
        return stays

    def write_scores(self, scores: dict[str, Any], part: str = "all") -> None:
        write_atomically(self.part_scores_file(part), json.dumps(scores, indent=1) + "\n")

    def part_scores_file(self, part: str) -> Path:
        """Return where scores on a part of the data are kept, such as what was held out."""
        return self.scores_file if part == "all" else self.path / f"scores.{part}.json"

    def latent_names(self) -> dict[int, str]:
        """Return the names that latents were given, by index."""
        if not self.latent_names_file.is_file():
            return {}
        content = read_json(self.latent_names_file)
        if not isinstance(content, dict):
            raise DataError(
                f"{self.latent_names_file}: expected names by index, found {shown(content)}"
            )
        names = {}
        for index, name in content.items():
            if not (index.isascii() and index.isdigit() and len(index) < 16):
                raise DataError(
                    f"{self.latent_names_file}: expected the index of a latent, "
                    f"found {shown(index)}"
                )
            try:
                names[int(index)] = checked_latent_name(name)
            except ConfigError as error:
                raise DataError(f"{self.latent_names_file}: {error}") from error
        return names

    def write_latent_names(self, names: Mapping[int, str]) -> None:
        content = {str(index): checked_latent_name(names[index]) for index in sorted(names)}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        write_atomically(self.latent_names_file, text + "\n")

    def save_networks(
        self, nets: Networks, step: int, averages: Mapping[str, Tensor] = MappingProxyType({})
    ) -> None:
        """Write the weights as they were trained, and the running averages there are of them.

        What was silenced in earlier ones is forgotten.
        """
        named = {f"{AVERAGES}{name}": tensor for name, tensor in averages.items()}
        content = tensor_files.to_bytes(nets.state_dict() | named, {"step": step})
        write_atomically(self.networks_file, content)
        self.silenced_file.unlink(missing_ok=True)
        self.unsilenced_file.unlink(missing_ok=True)

    def silenced(self) -> dict[str, Any] | None:
        """Return which latents were silenced and why, or None if nobody asked for it."""
        if not self.silenced_file.is_file():
            return None
        return stored.check_silenced(read_json(self.silenced_file), self.silenced_file)

    def keep_silenced(self, nets: Networks, step: int, facts: dict[str, Any]) -> None:
        """Write networks with silenced latents; those before are kept beside them."""
        content = tensor_files.to_bytes(nets.state_dict(), {"step": step})
        before, _ = tensor_files.read(self.networks_file)
        write_atomically(self.unsilenced_file, tensor_files.to_bytes(before, {"step": step}))
        write_atomically(self.silenced_file, json.dumps(facts) + "\n")
        write_atomically(self.networks_file, content)

    def undo_silenced(self) -> None:
        """Put the networks back that were there before latents were silenced."""
        os.replace(self.unsilenced_file, self.networks_file)
        flush_folder(self.path)
        self.silenced_file.unlink()

    def trained_tensors(self) -> tuple[dict[str, Tensor], int]:
        """Return the newest weights and their step: of the end, or of the last checkpoint.

        Where there is a running average of a weight, it is returned instead.
        """
        if self.networks_file.is_file():
            tensors, facts = _with_step(self.networks_file)
            weights = {k: v for k, v in tensors.items() if not k.startswith(AVERAGES)}
        else:
            tensors, facts = self.read_checkpoint()
            weights = part_of(tensors, NETWORKS)
        return weights | part_of(tensors, AVERAGES), facts["step"]

    def keep_weights(self, nets: Networks, step: int) -> None:
        """Keep the networks as they are at a step on the way."""
        self.weights.mkdir(exist_ok=True)
        content = tensor_files.to_bytes(nets.state_dict(), {"step": step})
        write_atomically(self.weights / f"{step:07d}.safetensors", content)

    def kept_weights(self) -> dict[int, Path]:
        """Return the files of networks on the way, by step; a link is no file of the run's."""
        if self.weights.is_symlink() or not self.weights.is_dir():
            return {}
        named = ((KEPT_WEIGHTS.fullmatch(file.name), file) for file in self.weights.iterdir())
        found = {int(m[1]): file for m, file in named if m and not file.is_symlink()}
        return dict(sorted(found.items()))

    def has_checkpoint(self) -> bool:
        return self.checkpoint_file.is_file() or self.previous_checkpoint_file.is_file()

    def read_checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the newest checkpoint that is whole; say so if it is not the last one."""
        problems = []
        for file in (self.checkpoint_file, self.previous_checkpoint_file):
            if not file.is_file():
                continue
            try:
                tensors, facts = _with_step(file)
            except DataError as error:
                problems.append(str(error))
                continue
            if problems:
                facts["warning"] = f"{problems[0]}; the checkpoint before it is used"
            return tensors, facts
        reason = "; ".join(problems) if problems else "it has no checkpoint"
        raise DataError(f"{self.path} has no networks to load: {reason}")


def _with_step(file: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and facts of a file that must say of which step they are."""
    tensors, facts = tensor_files.read(file)
    step = facts.get("step")
    if type(step) is not int or step < 0:
        raise DataError(f"{file} is damaged: expected a step of 0 or more, found {step!r:.80}")
    return tensors, {"step": step}


def part_of(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin so, by the rest of their names."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _is_full(entry: Mapping[str, Any], step: int) -> bool:
    """Say whether a stored score is of the full preset and of this step.

    Scores from before presets and steps were kept count as both.
    """
    from unweave.metrics import is_preliminary  # on first use: it takes longer than all the rest

    return (
        entry.get("value") is not None
        and not is_preliminary(entry)
        and entry.get("step", step) == step
    )


def _is_of_any_preset(entry: Mapping[str, Any]) -> bool:
    """Say whether a score is the same by every preset, as a method's own figures are."""
    return entry.get("value") is not None and not entry.get("made")


def checked_latent_name(name: Any) -> str:
    """Return a name without spaces around it, or say why it cannot be one."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ConfigError(f"the name of a latent must be one line of text, found {shown(name)}")
    if len(name.strip()) > LONGEST_NAME:
        raise ConfigError(
            f"the name of a latent may have {LONGEST_NAME} characters, found {len(name.strip())}"
        )
    return name.strip()


def versions() -> dict[str, str]:
    """Return the versions that a reproduction needs."""
    found = {"python": platform.python_version()}
    for package in ("unweave", "torch", "numpy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
