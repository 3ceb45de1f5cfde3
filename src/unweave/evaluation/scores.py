"""Scores by metric as one table: printed, as rows, a frame, Markdown, LaTeX or JSON."""

from typing import Any

from unweave.errors import ConfigError
from unweave.metrics import Score, null_words, protocol_words
from unweave.pages.latex import latex_table, latex_text


class Scores(dict[str, Score]):
    """Scores by metric, and the reasons why metrics are missing."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: dict[str, str] = {}
        self.kept: list[str] = []
        """Metrics whose full score a run's folder keeps instead of a fast one from here."""
        self.notes: list[str] = []
        """What a reader of all these scores must know: factors that depend on each other."""

    def __str__(self) -> str:
        width = max([len(name) for name in [*self, *self.reasons]], default=0)
        lines = []
        for name, result in self.items():
            line = f"{name:{width}}  {result.value:7.4f}"
            if "interval" in result.details:
                low, high = result.details["interval"]
                line += f"  [{low:.4f}, {high:.4f}]"
            if result.parts:
                line += "  " + ", ".join(f"{part} {v:.4f}" for part, v in result.parts.items())
            if result.nulls:
                line += f"  ({null_words(result.to_json())})"
            lines.append(f"{line}  {protocol_words(result.to_json())}")
            lines += [f"{'':{width}}  note: {note}" for note in result.remarks]
        lines += [f"{name:{width}}  not scored: {why}" for name, why in self.reasons.items()]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def rows(self) -> list[dict[str, Any]]:
        """Return a line for each score and each of its parts (D, C and I of DCI), then those
        that could not be made, with the reason."""
        lines: list[dict[str, Any]] = []
        for name, result in self.items():
            low, high = result.details.get("interval", (None, None))
            shared = {
                "better": "higher" if result.higher_is_better else "lower",
                "protocol": protocol_words(result.to_json()),
                "notes": "; ".join(result.remarks),
            }
            lines.append(
                {"metric": name, "part": "", "value": result.value, "low": low, "high": high}
                | shared
            )
            lines += [
                {"metric": name, "part": part, "value": value, "low": None, "high": None}
                | {**shared, "notes": ""}
                for part, value in result.parts.items()
            ]
        for name, why in self.reasons.items():
            empty = {"part": "", "value": None, "low": None, "high": None}
            told = {"better": "", "protocol": "", "notes": f"not scored: {why}"}
            lines.append({"metric": name} | empty | told)
        return lines

    def to_frame(self) -> Any:
        """Return a pandas frame, a row for each score and each of its parts."""
        try:
            import pandas
        except ImportError as error:
            raise ConfigError(
                "to_frame needs pandas: pip install pandas; rows() gives the same as dictionaries"
            ) from error
        frame = pandas.DataFrame(self.rows())
        numbers = ["value", "low", "high"]
        return frame.astype(dict.fromkeys([n for n in numbers if n in frame], float))

    def to_markdown(self) -> str:
        """Return a table for a README or an issue."""
        lines = ["| metric | score | better is | protocol | notes |", "|---|---|---|---|---|"]
        for row in self.rows():
            cells = [
                f"{row['metric']} {row['part']}".strip(),
                _number(row),
                row["better"],
                row["protocol"],
                row["notes"],
            ]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return "\n".join(lines)

    def to_latex(self) -> str:
        """Return a table for a paper, ruled by the package booktabs; notes are comments below."""
        lines, told = [], []
        for row in self.rows():
            name = f"{row['metric']} {row['part']}".strip()
            arrow = {"higher": " ↑", "lower": " ↓"}.get(row["better"], "")
            cells = (f"{name}{arrow}", row["protocol"], _number(row))
            lines.append([latex_text(cell) for cell in cells])
            if row["notes"]:
                told.append(f"% {name}: {row['notes']}".replace("\n", " "))
        return "\n".join([latex_table(["metric", "protocol", "score"], lines, "llr"), *told])

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, lists and words."""
        return {
            "scores": {name: result.to_json() for name, result in self.items()},
            "not_scored": dict(self.reasons),
            "notes": list(self.notes),
        }


def _number(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "–"
    interval = "" if row["low"] is None else f" [{row['low']:.4f}, {row['high']:.4f}]"
    return f"{row['value']:.4f}{interval}"
