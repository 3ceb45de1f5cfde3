"""A study as one TOML file, or as `uw.Study(...)`; read and checked for form.

    name = "beta"
    data = "dsprites"
    seeds = 5
    metrics = ["mig", "dci"]

    [budget]
    steps = 20000

    [[methods]]
    name = "beta_vae"
    grid = { beta = [1, 4, 10] }

Whether names and values mean something is checked when it is expanded (`expansion.py`).
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unweave import catalog
from unweave.errors import ConfigError, reason
from unweave.studies.define import entries, papers
from unweave.studies.define.entries import Budget, StudyErrors, Variation

if TYPE_CHECKING:
    from unweave.studies.report.table import StudyTable
    from unweave.studies.run.driver import Outcome

LARGEST_FILE = 1_000_000
"""Bytes; a study of this size was not written by hand."""
DEEPEST_KEY = 20
_TEXTS = re.compile(
    r'"""(?:\\.|[^\\])*?"""' + r"|'''.*?'''" + r'|"(?:\\.|[^"\\\n])*"' + r"|'[^'\n]*'|#[^\n]*",
    re.DOTALL,
)
"""Texts and remarks, whose dots part nothing."""
_BETWEEN_KEYS = re.compile(r"[,=\[\]{}]")


@dataclass(frozen=True, kw_only=True)
class Study:
    """Methods × settings × seeds.

    >>> study = uw.Study(
    ...     name="beta",
    ...     data="dsprites",
    ...     methods=[{"name": "beta_vae", "grid": {"beta": [1, 4, 10]}}],
    ...     budget={"steps": 20_000},
    ... )  # doctest: +SKIP
    """

    name: str
    """Name of the study's folder: letters, digits, - and _."""
    methods: Sequence[Any]
    """Names, methods such as `uw.BetaVAE(beta=4)`, or tables with `name`, and if wanted `label`,
    `settings`, `run`, `grid`, `list` and `random`."""
    data: str | Sequence[str]
    """One data set or several, as in `unweave train --data`."""
    seeds: Any = 5
    """How many seeds from 0, or which."""
    budget: Any = Budget()
    """Steps, batch size, evaluations, minutes per run."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every run by path: architecture, validation, method.latent_dim, …"""
    grid: Mapping[str, Any] = field(default_factory=dict)
    """Settings to vary for every method: each combination of the values."""
    list: Sequence[Mapping[str, Any]] = ()
    """Settings to vary for every method: these points."""
    random: Any = None
    """Settings to vary for every method: points drawn at random."""
    metrics: str | Sequence[str] = "default"
    """What is scored: default, all, or names of metrics; among these names of measures of a whole
    run (`unweave.evaluation.measures`), such as class_error."""
    preset: str = "full"
    """Rows and draws of the metrics: full or fast."""
    protocol: str | Mapping[str, str] | None = None
    """Published protocol of the metrics, or one by metric."""
    keep: Literal["networks", "checkpoints"] = "networks"
    """Whether checkpoints stay once a run is finished; they take three to six times the space."""
    main_metric: str | None = None
    """What the report compares first; by default the first metric."""
    title: str = ""
    notes: str = ""
    """What the study asks, for the report."""
    showed: str = ""
    """What was found, in words, for the report of the runs at the size of the file."""
    full_size: str = ""
    """What the published size needs, for the report."""
    published: Sequence[Any] = ()
    """Numbers of papers to stand beside ours."""
    published_variance: Mapping[str, Any] = field(default_factory=dict)
    """By data set and metric, the shares that a paper found explained: by method, by method and
    setting. Of a study of one data set by metric alone."""
    variance_without: Sequence[str] = ()
    """Methods without which the shares are shown as well, such as one that did not learn."""

    def __post_init__(self) -> None:
        problems: list[str] = []
        unread: list[str] = []
        simple = {f.name: getattr(self, f.name) for f in fields(self) if f.name in _SIMPLE}
        for name, value in simple.items():
            if (problem := _wrong_type(name, value)) is not None:
                problems.append(problem)
                unread.append(name)
        if not problems and not _is_plain_name(self.name):
            problems.append(f"name: expected letters, digits, - and _, found {self.name!r}")
            unread.append("name")
        values: dict[str, Any] = {}
        for name, read in _READERS.items():
            try:
                values[name] = read(getattr(self, name))
            except ConfigError as error:
                several = error.problems if isinstance(error, entries.Mistakes) else [str(error)]
                problems += several
                unread.append(name)
        if problems:
            raise StudyErrors(str(self.name), problems, unread)
        values["methods"] = entries.with_labels(values["methods"])
        labels = [plan.label for plan in values["methods"]]
        if twice := {label for label in labels if labels.count(label) > 1}:
            raise StudyErrors(
                self.name, [f"methods: {sorted(twice)[0]!r} is there twice; give labels"]
            )
        try:
            values["published_variance"] = papers.by_data(
                values["published_variance"], values["data"]
            )
            for name in values["variance_without"]:
                catalog.check_name(name, labels, "method of variance_without")
        except ConfigError as error:
            raise StudyErrors(self.name, [str(error)]) from None
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def variation(self) -> Variation:
        """Return what is varied for every method."""
        return Variation(grid=self.grid, points=tuple(self.list), random=self.random)

    def changed(self, **values: Any) -> "Study":
        """Return the study with some fields replaced, such as fewer seeds or steps."""
        return replace(self, **values)

    def quick(self) -> "Study":
        """Return a study to try it with: a tenth of the steps, three seeds at most.

        What it gives is no evidence: nothing published is judged by it.
        """
        methods = [
            replace(plan, run={**plan.run, "steps": max(plan.run["steps"] // 10, 1)})
            if "steps" in plan.run
            else plan
            for plan in self.methods
        ]
        return self.changed(
            name=f"{self.name}-quick",
            seeds=self.seeds[:3],
            budget=replace(self.budget, steps=max(self.budget.steps // 10, 1)),
            methods=methods,
            preset="fast",
            showed="",
            published=[replace(entry, is_judged=False) for entry in self.published],
        )

    def run(self, root: str | Path = "runs", **how: Any) -> "Outcome":
        """Do what is missing of the study, in folders below `root`; see `run_study`."""
        from unweave.studies.run.driver import run_study

        return run_study(self, root=root, **how)

    def table(self, root: str | Path = "runs") -> "StudyTable":
        """Return one row per run, also of those that are missing."""
        from unweave.studies.define.expansion import expand
        from unweave.studies.report.table import make_table
        from unweave.studies.run.driver import ledger_of

        plan = expand(self)
        return make_table(plan, ledger_of(plan, root))

    def report(self, root: str | Path = "runs", to: str | Path | None = None, **how: Any) -> Path:
        """Write the report as .html or .md and return where it is; see `write_report`."""
        from unweave.studies.define.expansion import expand
        from unweave.studies.report.write import write_report
        from unweave.studies.run.driver import ledger_of

        plan = expand(self)
        return write_report(plan, ledger_of(plan, root), None if to is None else Path(to), **how)


SHIPPED = Path(__file__).parents[1] / "shipped"


def shipped_studies() -> dict[str, Path]:
    """Return the files of the studies that come with the package, by name."""
    return {file.stem: file for file in sorted(SHIPPED.glob("*.toml"))}


def study_file(given: str | Path) -> Path:
    """Return the file of a study: the one given or, for the bare name of one, a shipped one.

    A file or folder of that name in the current folder comes first: it is the user's own.
    """
    path = Path(given)
    shipped = shipped_studies()
    if path.exists():
        return path
    if str(given) in shipped:
        return shipped[str(given)]
    if path.stem in shipped and path.suffix in ("", ".toml"):
        raise ConfigError(f"no file {path}; the study that is shipped is called {path.stem!r}")
    if path.suffix == "":
        raise ConfigError(
            f"no file {path}, and no study of that name is shipped: "
            f"{catalog.suggestion(str(given), list(shipped))}"
        )
    return path


def read_study(path: str | Path) -> Study:
    """Read a study from its TOML file, or a shipped one by its name."""
    path = study_file(path)
    if path.is_dir():
        raise ConfigError(
            f"{path} is a folder; expected the TOML file of a study. If its runs are there, give "
            f"the file, and the folder by --out {path}"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{path} has {len(content):,} bytes; a study has at most {LARGEST_FILE}")
    try:
        text = content.decode("utf-8")
        _refuse_deep_keys(text, path)
        plain = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{path} is not a TOML file: {reason(error)}") from None
    return study_from_plain({"name": path.stem, **plain})


def _refuse_deep_keys(text: str, path: Path) -> None:
    """Refuse keys of many parts, for which a reader of TOML takes the square of their number."""
    for number, line in enumerate(_TEXTS.sub("", text).splitlines(), 1):
        for part in _BETWEEN_KEYS.split(line):
            if (dots := part.count(".")) > DEEPEST_KEY:
                raise ConfigError(
                    f"{path}: a key near line {number} has {dots + 1:,} parts; a setting has at "
                    f"most {DEEPEST_KEY}"
                )


def study_from_plain(plain: Mapping[str, Any]) -> Study:
    """Build a study from a table of plain values."""
    known = {f.name for f in fields(Study)}
    problems = [
        f"no setting {key!r}. {catalog.suggestion(key, sorted(known))}"
        for key in plain
        if key not in known
    ]
    problems += [f"{key} is missing" for key in ("methods", "data") if key not in plain]
    # With something in the place of what is missing, so that the rest is looked at too.
    given = {"methods": ["vae"], "data": "toy_xys"} | _known(plain, known)
    try:
        study = Study(**given)
        if problems:
            _look_at_meaning(study)
    except StudyErrors as error:
        problems += error.problems
        readable = {key: value for key, value in given.items() if key not in error.unread}
        if error.unread and {"methods", "data"} <= set(readable):
            try:
                _look_at_meaning(Study(**({"name": "study"} | readable)))
            except StudyErrors as others:
                problems += others.problems
    if problems:
        raise StudyErrors(str(plain.get("name", "")), problems)
    return study


def _look_at_meaning(study: Study) -> None:
    """Raise what is wrong with the names and values of a study that has the right form."""
    from unweave.studies.define.expansion import expand

    expand(study)


def _known(plain: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if key in names}


_SIMPLE = {
    "name": str,
    "metrics": (str, list, tuple),
    "preset": str,
    "protocol": (str, dict, type(None)),
    "main_metric": (str, type(None)),
    "title": str,
    "notes": str,
    "showed": str,
    "full_size": str,
}


def _wrong_type(name: str, value: Any) -> str | None:
    kind = _SIMPLE[name]
    if not isinstance(value, kind):  # type: ignore[arg-type]
        return f"{name}: found {value!r} ({type(value).__name__})"
    if isinstance(value, (list, tuple)) and not all(isinstance(entry, str) for entry in value):
        return f"{name}: expected names, found {value!r}"
    return None


def _is_plain_name(name: str) -> bool:
    return bool(name) and len(name) <= 80 and all(c.isalnum() or c in "-_" for c in name)


_READERS: dict[str, Any] = {
    "methods": entries.read_methods,
    "data": entries.read_data,
    "seeds": entries.read_seeds,
    "budget": entries.read_budget,
    "settings": entries.read_settings,
    "grid": entries.read_grid,
    "list": entries.read_points,
    "random": entries.read_random,
    "keep": entries.read_keep,
    "published": papers.read_published,
    "published_variance": papers.read_shares,
    "variance_without": papers.read_names,
}
