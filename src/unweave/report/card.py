"""The card of a run: README.md of its folder, as model cards of the Hub are written.

It says what the run is, what it was trained on, what it scored and by which protocol, shows the
pictures there are, and how to repeat and to use it.
"""

import json
from pathlib import Path
from typing import Any

from unweave.errors import printable
from unweave.files.writing import write_atomically
from unweave.methods import summary_of
from unweave.report.command import training_command
from unweave.runs.config import named
from unweave.runs.folder import RunFolder, versions
from unweave.runs.run import Run
from unweave.settings.plain import changed_from_default, flat

NAME = "README.md"
PICTURES = {
    "traversals.png": "Each line varies one latent, of those that carry something.",
    "reconstructions.png": "Images and what the decoder makes of their codes.",
    "prior_samples.png": "Images of codes drawn from the prior.",
}


def write_card(run: Run) -> Path:
    """Write the card of a run into its folder, in the place of an older one."""
    path = run.path / NAME
    write_atomically(path, card(run))
    return path


def card(run: Run) -> str:
    """Return the card as Markdown, with what the Hub reads of it at the top."""
    folder = run.folder
    scores = {name: entry for name, entry in run.scores.items() if entry.get("value") is not None}
    parts = [
        _for_the_hub(run, scores),
        f"# {run.name}",
        _intro(run),
        _settings(run),
        _scores(scores, run),
        _pictures(run.path) if folder is not None else "",
        _use(run),
        _repeat(run, folder),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _for_the_hub(run: Run, scores: dict[str, Any]) -> str:
    """Return the head in YAML; what JSON writes of a text or a number is YAML too."""

    def text(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    tags = ["unweave", "disentanglement", "representation-learning", run.kind]
    lines = ["---", "library_name: unweave", "tags:", *(f"  - {text(tag)}" for tag in tags)]
    if scores:
        lines += [
            "model-index:",
            f"  - name: {text(run.name)}",
            "    results:",
            "      - task:",
            "          type: representation-learning",
            "        dataset:",
            f"          name: {text(run.config.data)}",
            f"          type: {text(run.config.data)}",
            "        metrics:",
        ]
        for name, entry in scores.items():
            lines += [
                f"          - type: {text(name)}",
                f"            name: {text(name + ', ' + str(entry.get('protocol', '')))}",
                f"            value: {entry['value']:.6g}",
            ]
    return "\n".join([*lines, "---"])


def _intro(run: Run) -> str:
    channels, height, width = run.image_shape
    data = _cell(run.config.data)
    code = f"{run.latent_dim} latents" if run.code.source != "nowhere" else "a generator"
    state = "" if run.step >= run.config.steps else f" So far {run.step:,} of them are made."
    steps = (
        f"{run.config.steps:,} steps of {run.config.batch_size} images.{state}"
        if run.config.method.players
        else "Fitted at once, without steps."
    )
    return (
        f"**{summary_of(run.config.method)}**\n\n"
        f"Trained with unweave on {data} "
        f"({run.summary.rows:,} images of {channels}×{height}×{width}); {code}, seed "
        f"{run.config.seed}. {steps}"
    )


def _settings(run: Run) -> str:
    """Return the settings of the method that are not its usual ones."""
    changed = flat(changed_from_default(run.config.method))
    knob = run.config.method.main_knob
    if knob and knob not in changed:
        changed = {knob: named(run.config.method).get(knob)} | changed
    if not changed:
        return ""
    rows = [f"| `{name}` | `{_cell(value)}` |" for name, value in changed.items()]
    return "\n".join(["| setting | value |", "|---|---|", *rows])


def _scores(scores: dict[str, Any], run: Run) -> str:
    from unweave.metrics import protocol_words

    if not scores:
        return "## Scores\n\nNot scored yet: `unweave evaluate` of this folder does so."
    rows = []
    for name, entry in scores.items():
        older = "" if entry.get("step", run.step) == run.step else f"; at step {entry['step']:,}"
        better = "higher" if entry.get("higher_is_better", True) else "lower"
        how = _cell(protocol_words(entry) + older)
        rows.append(f"| `{name}` | {entry['value']:.4f} | {better} | {how} |")
    head = ["| metric | score | better is | protocol |", "|---|---|---|---|"]
    told: dict[str, list[str]] = {}
    for name, entry in scores.items():
        for note in entry.get("notes") or ():
            told.setdefault(note, []).append(f"`{name}`")
    notes = [f"- {', '.join(names)}: {_cell(note)}" for note, names in told.items()]
    return "\n".join(["## Scores", "", *head, *rows, *([""] if notes else []), *notes])


def _pictures(folder: Path) -> str:
    there = {
        name: words for name, words in PICTURES.items() if (folder / "figures" / name).exists()
    }
    shown = [f"![{words}](figures/{name})\n\n*{words}*" for name, words in there.items()]
    return "\n\n".join(["## Pictures", *shown]) if shown else ""


def _use(run: Run) -> str:
    lines = ["import unweave as uw", "", 'run = uw.load("path/to/this/folder")']
    if run.code.source == "images":
        lines.append("codes = run.encode(images)  # (row, channel, height, width) from 0 to 1")
    if run.code.decodes:
        lines.append("images = run.decode(codes)")
    return "\n".join(["## Use", "", "```python", *lines, "```"])


def _repeat(run: Run, folder: RunFolder | None) -> str:
    command = training_command(run.config, folder.machine() if folder else {})
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    return (
        f"## Repeat\n\n```\n{printable(command)}\n```\n\n"
        f"The same versions on the same machine give the same bits: {used}."
    )


def _cell(value: Any) -> str:
    return printable(str(value)).replace("|", "\\|").replace("`", "'")
