"""What any training takes and where it runs, without torch: the flags of commands are these."""

from dataclasses import dataclass, fields
from typing import Literal

from unweave import catalog
from unweave.errors import ConfigError, shown
from unweave.settings.plain import convert_fields

# As in devices.py, which cannot be imported here: help must not wait for torch.
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["float32", "bfloat16"]

LOGGERS = ("tensorboard", "mlflow", "wandb")
MOST_STEPS, LARGEST_BATCH = 10**12, 10**8
"""More were not meant."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """What any training takes, whichever method it trains; the command's flags are these."""

    data: str
    """Name of a data set, NAME:PATH of an original file, a folder of images, or an array file."""
    steps: int = 20_000
    """How many steps to train."""
    batch_size: int = 64
    """Images in a step."""
    seed: int = 0
    """Decides weights, batches and noise; the same seed gives the same numbers."""
    validation: float = 0.0
    """Share of the images that is held out of training and used for the diagnostics."""
    precision: Precision = "float32"
    """Number format of the forward pass."""
    silence: float = 0.0
    """At the end, silence latents whose KL lies less than this many nats above the least
    possible; 0 for none. `unweave silence RUN --undo` takes it back."""

    def __post_init__(self) -> None:
        convert_fields(self, [field.name for field in fields(Training)])
        for name in ("steps", "batch_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"seed must be 0 or more and below 2⁶³, found {shown(self.seed)}")
        for name, most in (("steps", MOST_STEPS), ("batch_size", LARGEST_BATCH)):
            if (found := getattr(self, name)) > most:
                raise ConfigError(f"{name} must be at most {most:,}, found {shown(found)}")
        if not 0 <= self.validation < 1:
            raise ConfigError(f"validation must lie in [0, 1), found {self.validation}")
        if self.silence < 0:
            raise ConfigError(f"silence must be 0 or more nats, found {self.silence}")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where and how a run is executed; not part of what it computes."""

    device: DeviceName = "auto"
    """Where to compute; auto takes a GPU if there is one, and in a run that goes on what it had."""
    threads: int | None = None
    """Threads of the processor; by default as many as it has cores that other work leaves free,
    and in a run that goes on as many as it had."""
    compile: bool = False
    """Whether to compile the networks first (torch.compile): slow start, faster on a GPU. A run
    that was compiled goes on so."""
    checkpoint_seconds: float = 60.0
    """Longest time between two checkpoints; what a crash can cost."""
    evaluations: int = 10
    """How often to pause for diagnostics and pictures."""
    keep_weights: bool = False
    """Whether to keep the networks at each of these pauses, so that the explorer and
    `uw.load(RUN, step=…)` can go back to them."""
    tensorboard: bool = False
    """Whether to write event files for TensorBoard too, as `--log tensorboard` does."""
    log: str = ""
    """Programs that get the curves too, with commas between them: tensorboard, mlflow, wandb
    (each needs the extra of its name)."""
    patience: int = 0
    """Stop once the evidence bound has not risen for so many evaluations; the run then counts as
    one of that many steps. 0 never does."""

    def __post_init__(self) -> None:
        convert_fields(self, [field.name for field in fields(self) if field.name != "device"])
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"threads must be 1 or more, found {self.threads}")
        if self.checkpoint_seconds < 0 or self.evaluations < 0:
            raise ConfigError("checkpoint_seconds and evaluations must be 0 or more")
        if self.keep_weights and not self.evaluations:
            raise ConfigError("keep_weights keeps them at evaluations, of which there are none")
        if self.patience < 0:
            raise ConfigError(f"patience must be 0 or more, found {self.patience}")
        if self.patience and self.evaluations <= self.patience:
            raise ConfigError(
                f"patience of {self.patience} needs more evaluations than that, found "
                f"{self.evaluations}; set --evaluations {10 * self.patience}"
            )
        for name in self.loggers:
            catalog.check_name(name, LOGGERS, "logger")

    @property
    def loggers(self) -> tuple[str, ...]:
        """Return the names of the programs that get the curves."""
        named = [name.strip() for name in self.log.split(",") if name.strip()]
        return tuple(dict.fromkeys([*named, *(["tensorboard"] if self.tensorboard else [])]))
