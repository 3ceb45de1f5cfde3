"""The settings of one training run, as JSON both ways, and the name they give a run."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unweave import catalog
from unweave.data import DataOptions, set_name
from unweave.errors import ConfigError
from unweave.methods import Method, method_named
from unweave.networks import Architecture, architecture_named
from unweave.settings.machine import Machine as Machine
from unweave.settings.machine import Training as Training
from unweave.settings.plain import changed_from_default, from_plain, to_plain

BEFORE: Mapping[str, Mapping[str, Any]] = {"factor_vae": {"scaled_codes": False}}
"""Settings by method that came after the first run folders and whose default is not what runs had
before: what a folder means that does not name them."""


@dataclass(frozen=True, kw_only=True)
class Train(Training):
    """Everything that decides what a training run computes."""

    method: Method
    """What is trained."""
    data_options: DataOptions = DataOptions()
    """How own images are read."""
    architecture: Architecture | None = None
    """Encoder and decoder; by default the usual one for the size of the images."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_kind(self.method, Method, "method", "BetaVAE(beta=4)")
        if self.architecture is not None:
            _check_kind(self.architecture, Architecture, "architecture", "Conv64()")
        for part in (self.method, self.architecture):
            if part is not None:
                catalog.plugins.know(type(part))  # so that its name leads back to it
        _check_kind(self.data_options, DataOptions, "data_options", "DataOptions(image_size=64)")

    @property
    def data_key(self) -> str:
        """Return what tells its data from other data: the source and how it is read."""
        return data_key(self.data, to_plain(self.data_options))

    @property
    def run_name(self) -> str:
        """Return a readable name that no other settings share.

        Only what differs from the defaults counts, so that a setting which a later
        version adds does not rename the runs there are.
        """
        plain = json.dumps(_identity(self), sort_keys=True)
        digest = hashlib.sha256(plain.encode()).hexdigest()
        data = "".join(c if c.isalnum() or c in "_-" else "-" for c in self.data.split("/")[-1])
        return f"{catalog.name_of(self.method)}-{data[:40]}-{digest[:8]}-s{self.seed}"


def data_key(source: str, options: Mapping[str, Any]) -> str:
    """Return the name of a source, with the options that are not the default ones."""
    default = to_plain(DataOptions())
    changed = {name: value for name, value in options.items() if value != default[name]}
    return f"{source} {json.dumps(changed, sort_keys=True)}" if changed else source


def _check_kind(value: Any, kind: type, name: str, example: str) -> None:
    """Refuse an object of another kind; a class is most often an instance without brackets."""
    if isinstance(value, kind):
        return
    found = f"{value!r:.80} ({type(value).__name__})"
    if isinstance(value, type) and issubclass(value, kind):
        found = f"the class itself; write {value.__name__}()"
    raise ConfigError(f"{name}: expected settings such as {example}, found {found}")


def to_json(config: Train) -> dict[str, Any]:
    """Turn settings into what a JSON file can hold."""
    plain: dict[str, Any] = to_plain(config)
    plain["method"] = named(config.method)
    if config.architecture is not None:
        plain["architecture"] = named(config.architecture)
    return plain


def _identity(config: Train) -> dict[str, Any]:
    """Return what tells a run from others: the settings that are not the default ones."""
    plain = changed_from_default(config)
    for part in ("method", "architecture"):
        settings = getattr(config, part)
        if settings is not None:
            plain[part] = {"name": catalog.name_of(settings), **changed_from_default(settings)}
    return plain | _plugin_code(config)


def _plugin_code(config: Train) -> dict[str, Any]:
    """Return what tells the files of plugins from other contents of them; mostly nothing.

    Of an installed plugin, as of unweave itself, any version gives the same name; a script
    that defines a class is no file of a plugin, and changes with every use.
    """
    parts = [("unweave.methods", part) for part in catalog.name_of(config.method).split("+")]
    parts += [("unweave.data", set_name(config.data))]
    if config.architecture is not None:
        parts.append(("unweave.networks", catalog.name_of(config.architecture)))
    found = [catalog.origin(package, name) for package, name in parts if name]
    codes = sorted({o.sha256 for o in found if o and not o.object.startswith("__main__")} - {""})
    return {"plugins": codes} if codes else {}


def from_json(plain: Any) -> Train:
    """Read settings back; every message names the setting by its path."""
    if not isinstance(plain, dict):
        raise ConfigError(f"expected a table of settings, found {plain!r}")
    values = {**plain, "method": from_named(plain.get("method"), "method", method_named)}
    if plain.get("architecture") is not None:
        values["architecture"] = from_named(
            plain["architecture"], "architecture", architecture_named
        )
    return from_plain(Train, values, "config")


def from_folder(plain: Any) -> Train:
    """Read the settings of a run folder, also of a version that had fewer of them."""
    method = plain.get("method") if isinstance(plain, dict) else None
    if isinstance(method, dict) and isinstance(method.get("name"), str):
        plain = {**plain, "method": {**_before(method["name"]), **method}}
    return from_json(plain)


def _before(name: str) -> dict[str, Any]:
    """Return the settings of a method that run folders may lack, as their runs had them.

    `semi_supervised+factor_vae` has those of both.
    """
    return {k: v for part in name.split("+") for k, v in BEFORE.get(part, {}).items()}


def named(settings: Any) -> dict[str, Any]:
    """Return the settings of a catalog entry together with its name."""
    return {"name": catalog.name_of(settings), **to_plain(settings)}


def from_named(plain: Any, path: str, find: Any) -> Any:
    """Build the settings of the catalog entry that `plain` names."""
    if not isinstance(plain, dict) or not isinstance(plain.get("name"), str):
        raise ConfigError(f"{path}: expected a table with a name, found {plain!r}")
    return from_plain(find(plain["name"]), {k: v for k, v in plain.items() if k != "name"}, path)
