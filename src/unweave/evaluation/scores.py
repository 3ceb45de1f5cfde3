"""Scores by metric as one table: printed, as rows, a frame, Markdown, LaTeX or JSON."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unweave.errors import ConfigError
from unweave.metrics import Made, Score, headline, null_words, protocol_words, shared_notes
from unweave.pages.latex import latex_table, latex_text

NULLS = ("rotated", "shuffled")
"""Nulls that have columns in a frame."""

NUMBERS = (
    *("value", "low", "high", "chance"),
    *(f"null_{null}{of}" for null in NULLS for of in ("", "_deviation")),
)
"""Columns of a frame that hold numbers or nothing."""


class Scores(dict[str, Score]):
    """Scores by metric, and the reasons why metrics are missing."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: dict[str, str] = {}
        self.kept: list[str] = []
        """Metrics whose full score a run's folder keeps instead of a fast one from here."""
        self.notes: list[str] = []
        """What a reader of all these scores must know: factors that depend on each other. It is
        among the notes of each score that it is about as well."""

    def __str__(self) -> str:
        width = max([len(name) for name in [*self, *self.reasons]], default=0)
        shared = self._shared()
        lines = []
        for name, result in self.items():
            line = f"{name:{width}}  {result.value:7.4f}"
            if "interval" in result.details:
                low, high = result.details["interval"]
                line += f"  [{low:.4f}, {high:.4f}]"
            own = headline(result.to_json())
            line += f" {own}" if own else ""
            if others := [f"{part} {v:.4f}" for part, v in result.parts.items() if part != own]:
                line += "  " + ", ".join(others)
            if result.nulls:
                line += f"  ({null_words(result.to_json())})"
            lines.append(f"{line}  {protocol_words(result.to_json())}")
            lines += [f"{'':{width}}  note: {n}" for n in result.remarks if n not in shared]
        lines += [f"{name:{width}}  not scored: {why}" for name, why in self.reasons.items()]
        lines += [f"note: {note}" for note in shared]
        return "\n".join(lines)

    def rows(self) -> list[dict[str, Any]]:
        """Return a line for each score and each of its parts (D, C and I of DCI), then those
        that could not be made, with the reason.

        The part that is the score itself (D) has no line of its own: `value_of` names it.
        """
        lines: list[dict[str, Any]] = []
        for name, result in self.items():
            low, high = result.details.get("interval", (None, None))
            own = headline(result.to_json())
            shared = {
                "better": "higher" if result.higher_is_better else "lower",
                "protocol": protocol_words(result.to_json()),
                **_made_columns(result.made),
            }
            lines.append(
                {"metric": name, "part": "", "value_of": own, "value": result.value}
                | {"low": low, "high": high, "chance": result.chance, **_null_columns(result)}
                | shared
                | {"notes": "; ".join(result.remarks)}
            )
            lines += [
                {"metric": name, "part": part, "value_of": part, "value": value}
                | {"low": None, "high": None, "chance": None, **_null_columns(None)}
                | {**shared, "notes": ""}
                for part, value in result.parts.items()
                if part != own
            ]
        for name, why in self.reasons.items():
            empty: dict[str, Any] = dict.fromkeys(("value", "low", "high", "chance"))
            told = {"better": "", "protocol": "", **_made_columns(None)}
            lines.append(
                {"metric": name, "part": "", "value_of": ""}
                | empty
                | _null_columns(None)
                | told
                | {"notes": f"not scored: {why}"}
            )
        return lines

    def to_frame(self) -> Any:
        """Return a pandas frame, a row for each score and each of its parts.

        Beside the value stand its interval, its nulls, and how it was made: rows, codes, seed,
        preset, whether codes were standardised, the version.
        """
        try:
            import pandas
        except ImportError as error:
            raise ConfigError(
                "to_frame needs pandas: pip install pandas; rows() gives the same as dictionaries"
            ) from error
        frame = pandas.DataFrame(self.rows())
        return frame.astype(dict.fromkeys([n for n in NUMBERS if n in frame], float))

    def to_markdown(self) -> str:
        """Return a table for a README or an issue; below it how the scores were made."""
        lines = ["| metric | score | better is | protocol | notes |", "|---|---|---|---|---|"]
        shared = self._shared()
        for row in self.rows():
            notes = "; ".join(n for n in self._notes_of(row) if n not in shared)
            cells = [_name(row), _number(row), row["better"], row["protocol"], notes]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        below = [f"Note on {', '.join(names)}: {note}." for note, names in shared.items()]
        below += [f"{', '.join(names)}: made of {made}." for made, names in self._made().items()]
        return "\n".join([*lines, *(line for text in below for line in ("", text))])

    def to_latex(self) -> str:
        """Return a table for a paper, ruled by the package booktabs.

        Its last line says of how many rows and by which version the scores were made; comments
        below it hold the notes, and how each score was made.
        """
        lines, told, shared = [], [], self._shared()
        for row in self.rows():
            arrow = {"higher": " ↑", "lower": " ↓"}.get(row["better"], "")
            cells = (f"{_name(row)}{arrow}", row["protocol"], _number(row))
            lines.append([latex_text(cell) for cell in cells])
            told += [f"% {_name(row)}: {n}" for n in self._notes_of(row) if n not in shared]
        told += [f"% {', '.join(names)}: {note}" for note, names in shared.items()]
        told += [f"% {', '.join(names)}: made of {made}" for made, names in self._made().items()]
        found = _in_short([r.made for r in self.values() if r.made is not None])
        note = latex_text(f"Made of {found}.") if found else ""
        table = latex_table(["metric", "protocol", "score"], lines, "llr", note)
        return "\n".join([table, *(line.replace("\n", " ") for line in told)])

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, lists and words."""
        return {
            "scores": {name: result.to_json() for name, result in self.items()},
            "not_scored": dict(self.reasons),
            "notes": list(self.notes),
        }

    def _shared(self) -> dict[str, list[str]]:
        """Return the notes that stand once below a table, and what each of them is about."""
        return shared_notes({name: result.remarks for name, result in self.items()})

    def _notes_of(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """Return nulls and notes of a line; those of a score stand with its value alone."""
        if row["metric"] not in self:
            return (row["notes"],)
        if row["part"]:
            return ()
        result = self[row["metric"]]
        nulls = null_words(result.to_json())
        return (*([f"nulls: {nulls}"] if nulls else []), *result.remarks)

    def _made(self) -> dict[str, list[str]]:
        """Return in which ways scores were made, and which scores were made so."""
        found: dict[str, list[str]] = {}
        for name, result in self.items():
            if result.made is not None:
                found.setdefault(str(result.made), []).append(name)
        return found


def _made_columns(made: Made | None) -> dict[str, Any]:
    """Return how a score was made, as columns that may be compared."""
    if made is None:
        names = ("rows", "codes", "preset", "seed", "seeds", "standardized", "bins", "concepts")
        return dict.fromkeys((*names, "left_out", "version"))
    left_out = [*(f"code {code}" for code in made.dropped_codes), *made.dropped_factors]
    return {
        "rows": made.rows,
        "codes": made.codes,
        "preset": made.preset,
        "seed": made.seed,
        "seeds": made.seeds,
        "standardized": made.standardized,
        "bins": made.bins,
        "concepts": made.concepts or None,
        "left_out": ", ".join(left_out),
        "version": made.version,
    }


def _null_columns(result: Score | None) -> dict[str, Any]:
    """Return mean and deviation of a score's nulls."""
    found: dict[str, Any] = {}
    for null in NULLS:
        draws = () if result is None else result.nulls.get(null, ())
        found[f"null_{null}"] = float(np.mean(draws)) if draws else None
        several = len(draws) > 1
        found[f"null_{null}_deviation"] = float(np.std(draws, ddof=1)) if several else None
    return found


def _name(row: Mapping[str, Any]) -> str:
    """Return what a line is called: `dci (D)` for a score that is one of its parts, `dci C`."""
    if row["part"]:
        return f"{row['metric']} {row['part']}"
    return f"{row['metric']} ({row['value_of']})" if row["value_of"] else str(row["metric"])


def _in_short(made: Sequence[Made]) -> str:
    """Say in one line how several scores were made: what they have in common, or from to."""
    if not made:
        return ""
    rows, codes = ({getattr(one, of) for one in made} for of in ("rows", "codes"))
    words = [f"{_span(rows)} rows × {_span(codes)} codes"]
    presets = sorted({one.preset for one in made if one.preset})
    words += [f"preset {' and '.join(presets)}"] if presets else []
    seeds = {(one.seed, one.seeds) for one in made}
    if len(seeds) == 1:
        seed, count = next(iter(seeds))
        words.append(f"seed {seed}" if count == 1 else f"{count} seeds")
    words.append(f"unweave {', '.join(sorted({one.version for one in made}))}")
    return ", ".join(words)


def _span(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _number(row: Mapping[str, Any]) -> str:
    if row["value"] is None or math.isnan(row["value"]):
        return "–"
    interval = "" if row["low"] is None else f" [{row['low']:.4f}, {row['high']:.4f}]"
    return f"{row['value']:.4f}{interval}"
