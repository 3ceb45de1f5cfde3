"""unweave report RUN..."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from unweave.cli import _output
from unweave.cli._figures import load_model
from unweave.cli._parse import parse
from unweave.data import DataOptions
from unweave.errors import ConfigError

DESCRIPTION = """Write one HTML file about a run, or about several and how they compare. It opens
from disk and loads nothing.

  unweave report runs/my-run
  unweave report runs/* --out comparison.html
  unweave report runs/my-run --files paper/figures
  unweave report --model my_module:model --data dsprites"""


@dataclass(frozen=True)
class Flags:
    runs: tyro.conf.Positional[tuple[str, ...]] = ()
    """Folders of runs."""
    model: str | None = None
    """MODULE:NAME of a model of yours instead, as for `unweave figures`; it is scored as well."""
    data: str | None = None
    """Data set of that model."""
    out: str | None = None
    """The file; by default report.html in the run's folder, or here."""
    files: str | None = None
    """Folder for the figures (SVG, PDF), tables (CSV, LaTeX) and references (BibTeX) as files of
    their own; the page offers the same."""
    baselines: bool = True
    """Whether pixels, PCA, untrained networks and the truth are scored beside a run, once."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "report", DESCRIPTION)
    from unweave import workflows
    from unweave.runs.wrapped import WrappedModel

    how: dict[str, Any] = {"baselines": flags.baselines, "files": flags.files}
    if flags.model is not None:
        if flags.runs:
            raise ConfigError("a report of runs or of a --model, not of both")
        model = load_model(None, flags.model, flags.data, flags.options)
        assert isinstance(model, WrappedModel)
        workflows.evaluate_model(model, model.data)
        path = workflows.write_report(model, flags.out, **how)
    else:
        path = workflows.write_report([Path(folder) for folder in flags.runs], flags.out, **how)
    _output.say(f"report: {path} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0
