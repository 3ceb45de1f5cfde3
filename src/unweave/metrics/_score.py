"""What a metric returns: a number, what it was made of, and under which protocol."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from unweave.errors import DataError


@cache
def unweave_version() -> str:
    """Return the version of unweave that is installed."""
    try:
        return version("unweave")
    except PackageNotFoundError:
        return "not installed"


@dataclass(frozen=True)
class Made:
    """How a score was made: enough to make it again from the same tables."""

    rows: int
    """Rows that were looked at."""
    codes: int
    seed: int
    sizes: dict[str, int] = field(default_factory=dict)
    """Rows fitted and tested on, votes cast, latents drawn: by the metric's name for them."""
    bins: int | None = None
    """Bins that codes or continuous factors were cut into, if they were."""
    standardized: bool = False
    """Whether codes were scaled to deviation 1 first."""
    dropped_codes: tuple[int, ...] = ()
    """Codes that had no part in the score."""
    dropped_factors: tuple[str, ...] = ()
    """Factors with a single value, hence no part in the score."""
    preset: str = ""
    """Sizes that `score` asked for, "full" or "fast"; empty for a metric that was called itself."""
    seeds: int = 1
    """Seeds that the value is a mean over, counted from `seed`."""
    wanted_rows: int = 0
    """Rows that the preset takes of a table that has them; 0 where all are taken, or none asked."""
    continuous_factors: tuple[str, ...] = ()
    """Factors that were taken as amounts."""
    masked: bool = False
    """Whether values of factors were missing, and each factor scored where it is known."""
    concepts: int = 0
    """Groups that the codes formed; 0 where each code stood for itself."""
    components: int | None = None
    """Principal components that each group was reduced to, if it was."""
    version: str = field(default_factory=unweave_version)

    def __str__(self) -> str:
        parts = [f"{self.rows:,} rows × {self.codes:,} codes"]
        if self.concepts:
            several = "s" if self.components != 1 else ""
            of = f" of {self.components} principal component{several}" if self.components else ""
            parts.append(f"{self.concepts} concepts{of}")
        parts += [f"{size:,} {name.replace('_', ' ')}" for name, size in self.sizes.items()]
        if self.bins is not None:
            parts.append(f"{self.bins} bins")
        if self.standardized:
            parts.append("codes standardised")
        if self.continuous_factors:
            parts.append(f"amounts {_few(self.continuous_factors)}")
        if self.masked:
            parts.append("missing values masked")
        if self.dropped_codes:
            parts.append(f"without codes {_few(self.dropped_codes)}")
        if self.dropped_factors:
            parts.append(f"without factors {_few(self.dropped_factors)}")
        if self.preset:
            parts.append(f"preset {self.preset}")
        parts.append(f"seed {self.seed}" if self.seeds == 1 else f"{self.seeds} seeds")
        return ", ".join([*parts, f"unweave {self.version}"])


@dataclass(frozen=True)
class Score:
    """One metric's result. `details` holds named arrays and numbers, all finite."""

    metric: str
    value: float
    protocol: str
    details: dict[str, Any] = field(default_factory=dict)
    higher_is_better: bool = True
    made: Made | None = None
    parts: dict[str, float] = field(default_factory=dict)
    """Numbers that belong beside the value, by the name that a paper prints them under."""
    chance: float | None = None
    """What codes without information score, where that is known."""
    nulls: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """The same score of codes that were turned at random ("rotated"), or whose rows were given
    factors of other rows ("shuffled"), once for each draw."""
    notes: tuple[str, ...] = ()
    """What else a reader of the value must know."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        if not math.isfinite(self.value):
            raise DataError(f"{self.metric} is {self.value} for these tables, so it has no score.")
        for name, detail in self.details.items():
            if isinstance(detail, float | np.ndarray) and not _all_finite(detail):
                raise DataError(f"{self.metric}: {name} is not finite for these tables.")

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what must be said with the value: below chance, codes left out, the notes."""
        notes = []
        worse = self.chance is not None and (
            self.value < self.chance if self.higher_is_better else self.value > self.chance
        )
        if worse:
            notes.append(f"worse than chance, {self.chance:.3f}")
        notes += [self._beside(null) for null in self.nulls if not self.above(null)]
        dropped = () if self.made is None else self.made.dropped_codes
        if self.made is not None and dropped:
            notes.append(f"{len(dropped)} of {self.made.codes} codes left out: {_few(dropped)}")
        return tuple(dict.fromkeys([*notes, *self.notes]))

    def above(self, null: str) -> bool:
        """Say whether the value is better than every draw of a null and two deviations off."""
        return _is_above(self.value, self.nulls[null], self.higher_is_better)

    def _beside(self, null: str) -> str:
        """Say where the value stands to a null that it is not above."""
        draws = self.nulls[null]
        span = f"{NULLS[null]}, {min(draws):.3f} to {max(draws):.3f}"
        beyond = self.value > max(draws) if self.higher_is_better else self.value < min(draws)
        if beyond:
            return f"hardly better than {span}: by less than two of their deviations"
        return f"no better than {span}"

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        direction = "" if self.higher_is_better else ", lower is better"
        lines = [f"{self.metric} {self.value:.4f} (protocol {self.protocol}{direction})"]
        if self.parts:
            lines.append(
                "  " + ", ".join(f"{name} {part:.4f}" for name, part in self.parts.items())
            )
        if self.nulls:
            lines.append(f"  nulls: {null_words(self.to_json())}")
        lines += [f"  note: {note}" for note in self.remarks]
        if self.made is not None:
            lines.append(f"  made of: {self.made}")
        for name, detail in self.details.items():
            lines.append(f"  {name}: {_in_words(detail)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary of plain numbers, lists and words."""
        return {
            "metric": self.metric,
            "value": self.value,
            "protocol": self.protocol,
            "higher_is_better": self.higher_is_better,
            "parts": _plain(self.parts),
            "chance": self.chance,
            "nulls": _plain(self.nulls),
            "notes": list(self.remarks),
            "made": None if self.made is None else _plain(asdict(self.made)),
            "details": {name: _plain(detail) for name, detail in self.details.items()},
        }


NULLS = {
    "rotated": "random rotations of the same codes",
    "shuffled": "the same codes with shuffled factors",
}


def _is_above(value: float, draws: Sequence[float], higher_is_better: bool) -> bool:
    """Compare a value with a null's draws; a few of them are easily beaten by chance alone."""
    sign = 1 if higher_is_better else -1
    signed = [sign * draw for draw in draws]
    margin = 2 * float(np.std(signed, ddof=1)) if len(signed) > 1 else 0.0
    return sign * value > max(*signed, float(np.mean(signed)) + margin)


def null_words(entry: Mapping[str, Any]) -> str:
    """Return the nulls of a stored score, as tables show them; nothing if it has none."""
    words = []
    for null, draws in (entry.get("nulls") or {}).items():
        deviation = f" ± {np.std(draws, ddof=1):.3f}" if len(draws) > 1 else ""
        words.append(f"{null} {np.mean(draws):.3f}{deviation}")
    return ", ".join(words)


def is_above_nulls(entry: Mapping[str, Any]) -> bool | None:
    """Say whether a stored score is better than all its nulls; None if it has none."""
    nulls, value = entry.get("nulls") or {}, entry.get("value")
    if not nulls or value is None:
        return None
    higher = bool(entry.get("higher_is_better", True))
    return all(_is_above(value, draws, higher) for draws in nulls.values())


def protocol_words(entry: Mapping[str, Any]) -> str:
    """Return how a stored score was made, as tables show it: its protocol, and what is unusual.

    That is a fast preset, fewer rows than the preset takes, and groups of codes. `entry` is a
    score's JSON; one from before scores said how they were made has a protocol only.
    """
    made = entry.get("made") or {}
    words = [str(entry.get("protocol", ""))]
    rows, wanted = made.get("rows", 0), made.get("wanted_rows", 0)
    if made.get("preset") == "fast":
        words.append(f"fast: {rows:,} rows")
    elif rows < wanted:
        words.append(f"{rows:,} of {wanted:,} rows")
    if made.get("concepts"):
        words.append(f"{made['concepts']} concepts")
    return ", ".join(words)


def headline(entry: Mapping[str, Any]) -> str:
    """Return the part of a stored score that is its value, D of DCI for instance; "" if none is.

    It is the first part, if any.
    """
    for name, part in (entry.get("parts") or {}).items():
        return str(name) if math.isclose(part, entry["value"], rel_tol=1e-12) else ""
    return ""


def shared_notes(notes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the notes that several scores have, each with their names.

    Below a table they need be said only once.
    """
    about: dict[str, list[str]] = {}
    for name, told in notes.items():
        for note in told:
            about.setdefault(note, []).append(name)
    return {note: names for note, names in about.items() if len(names) > 1}


def is_preliminary(entry: Mapping[str, Any]) -> bool:
    """Say whether a stored score was made with the fast preset."""
    return (entry.get("made") or {}).get("preset") == "fast"


def _few(entries: tuple[Any, ...]) -> str:
    """List entries, the first of them only where there are many."""
    words = ", ".join(str(entry) for entry in entries[:8])
    return words if len(entries) <= 8 else f"{words}, … ({len(entries)})"


def _all_finite(detail: Any) -> bool:
    array = np.asarray(detail)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def _plain(detail: Any) -> Any:
    if isinstance(detail, np.ndarray | np.generic):
        return detail.tolist()
    if isinstance(detail, dict):
        return {str(name): _plain(value) for name, value in detail.items()}
    if isinstance(detail, list | tuple):
        return [_plain(value) for value in detail]
    return detail


def _in_words(detail: Any) -> str:
    if isinstance(detail, float | np.floating):
        return f"{detail:.4f}"
    if isinstance(detail, np.ndarray):
        if detail.ndim == 1 and detail.size <= 12:
            return np.array2string(detail, precision=3, suppress_small=True)
        return "array " + " × ".join(str(size) for size in detail.shape)
    if isinstance(detail, tuple):
        return ", ".join(str(entry) for entry in detail)
    return str(detail)
