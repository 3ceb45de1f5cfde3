"""unweave evaluate RUN | --codes FILE --factors FILE | --model MODULE:NAME --data DATA"""

import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from unweave import catalog
from unweave.cli import _output
from unweave.cli._parse import parse
from unweave.data import DataOptions, load_data
from unweave.errors import ConfigError, listed
from unweave.files.writing import write_atomically

DESCRIPTION = """Score a representation: a run, tables of codes and factors, or a model of yours.

  unweave evaluate runs/my-run
  unweave evaluate --codes codes.npy --factors factors.csv
  unweave evaluate --model my_module:encode --data dsprites

  unweave evaluate --model my_module:MyEncoder --checkpoint weights.pt --data dsprites
  unweave evaluate --model encoder.onnx --data dsprites

  unweave evaluate runs/my-run --probe labels=100
  unweave evaluate runs/my-run --probe view=azimuth,column=shape

A model takes images (row, channel, height, width) in [0, 1] and returns codes (row, code), or
(mean, logvar), which is a posterior."""


@dataclass(frozen=True)
class Flags:
    run: tyro.conf.Positional[str | None] = None
    """Folder of a run."""
    codes: str | None = None
    """Table of codes, one row per image: .npy, .npz, .csv or .parquet."""
    logvar: str | None = None
    """Table of log-variances, if the codes are means of a Gaussian encoder."""
    model: str | None = None
    """MODULE:NAME, importable from here: a network of torch, a function from images to codes, a
    class without arguments, a scikit-learn transformer; or a FILE.onnx."""
    checkpoint: str | None = None
    """Weights of that network: .safetensors, or what torch.save wrote of a state_dict."""
    takes: Literal["arrays", "tensors"] | None = None
    """What the function takes, where calling it with both cannot tell."""
    data: str | None = None
    """Data set the model is scored on."""
    metrics: str = "default"
    """Names with commas between them, default, or all."""
    protocol: str | None = None
    """Published protocol, for the metrics that know it; METRIC=NAME,… sets it one by one."""
    continuous: str | None = None
    """Factors that are amounts, by name, with commas between them: degrees, say, which are whole
    numbers and would be taken for classes."""
    groups: str | None = None
    """Codes that form one concept: so many side by side (4), or the concept of each code with
    commas between them (0,0,1,1,1). Only metrics that know of concepts are made."""
    components: int | None = None
    """Principal components that each of these groups is reduced to."""
    seeds: int = 1
    """Score with so many seeds, and give mean and 95 % interval."""
    nulls: int = 0
    """Score so many random rotations of the codes too, and as many shuffles of the factors, and
    say which scores are better."""
    preset: Literal["full", "fast"] = "full"
    """Rows and draws: the study's sizes, or a fifth of them."""
    sampler: Literal["table", "paper"] = "table"
    """Where scores defined by drawing images (β-VAE, FactorVAE, R-FactorVAE, flatness, factored
    components, unfairness) take them from, for a model or a run: the encoded rows, or the full
    grid as in their papers (slower)."""
    part: Literal["all", "train", "held_out", "correlated", "inverse"] = "all"
    """Part of the data that is scored, where it was split (train, held_out) or correlated
    (correlated, inverse; all is uncorrelated)."""
    probe: str | None = None
    """labels=100[,column=shape][,draws=5]: instead of scores, train classifiers on the codes of
    so many labelled images and name the others (M1), and an M2 on the codes of all (M1+M2);
    classifiers of pixels beside them.
    view=azimuth[,column=shape][,views=4]: train them on images of one view, by that factor, and
    name those of the others."""
    out: str | None = None
    """Where scores.json goes; by default the run's folder, else this one."""
    options: Annotated[DataOptions, tyro.conf.arg(name="")] = DataOptions()


def run(words: list[str]) -> int:
    flags = parse(Flags, words, "evaluate", DESCRIPTION)
    given = [flags.run is not None, flags.codes is not None, flags.model is not None]
    if sum(given) != 1:
        raise ConfigError(
            "score what? Give a run folder, or --codes FILE --factors FILE, "
            "or --model MODULE:NAME --data DATA"
        )
    if flags.probe is not None:
        return _probe(flags)
    from unweave import workflows

    how: dict[str, Any] = {
        "metrics": flags.metrics,
        "protocol": protocols(flags.protocol),
        "seeds": flags.seeds,
        "preset": flags.preset,
        "nulls": flags.nulls,
        "continuous": names_in(flags.continuous),
        "missing": flags.options.missing,
        "groups": groups_in(flags.groups),
        "components": flags.components,
    }
    path, stays_apart = _place(flags)
    if stays_apart and flags.preset == "fast":
        refuse_to_replace(path)
    if flags.run is not None:
        scores = _of_run(flags, how)
    elif flags.codes is not None:
        scores = workflows.evaluate_tables(flags.codes, flags.options.factors, flags.logvar, **how)
    else:
        assert flags.model is not None
        model = find_object(flags.model)
        if flags.data is None:
            raise ConfigError("which images does the model encode? Add --data DATA")
        data = load_data(flags.data, flags.options).part(flags.part)
        from unweave.runs.wrapped import wrap_object

        wrapped = wrap_object(
            model, data, flags.model, takes=flags.takes, checkpoint=flags.checkpoint
        )
        _output.say(f"{flags.model}: codes of {wrapped.latent_dim}, {wrapped.taken}")
        scores = workflows.evaluate_model(wrapped, data, sampler=flags.sampler, **how)
    content = workflows.scores_to_json(scores)
    if stays_apart:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(content, indent=1) + "\n")
    _output.say_scores(content)
    if scores.kept:
        _output.say(f"{path} keeps its full scores of {', '.join(scores.kept)}")
    _output.say(f"scores: {path}")
    return 0


def _place(flags: Flags) -> tuple[Path, bool]:
    """Return where scores are kept, and whether that is a file which we write here."""
    stays_apart = flags.run is None or flags.out is not None
    folder = Path(flags.out or flags.run or ".")
    # Files of their own, so that a part or a quick look never takes the place of full scores.
    part = "" if flags.part == "all" else f".{flags.part}"
    fast = ".fast" if flags.preset == "fast" and stays_apart else ""
    path = folder if folder.suffix == ".json" else folder / f"scores{part}{fast}.json"
    return path, stays_apart


def refuse_to_replace(path: Path) -> None:
    """Refuse a file of full scores, whose place fast ones would take."""
    from unweave.metrics import is_preliminary

    if not path.is_file():
        return
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return  # not ours, or spoilt: nothing that is lost
    entries = content.items() if isinstance(content, dict) else ()
    full = [
        name
        for name, entry in entries
        if isinstance(entry, dict) and entry.get("made") and not is_preliminary(entry)
    ]
    if full:
        raise ConfigError(
            f"{path} holds full scores of {listed(full)}, which fast ones would replace; name "
            "another file with --out"
        )


def _probe(flags: Flags) -> int:
    """Show and keep what classifiers make of a few labels, or of one view."""
    from unweave import runs
    from unweave.evaluation.cross_view import CrossViewProbe, probe_views
    from unweave.evaluation.few_labels import FewLabelProbe
    from unweave.evaluation.stacked import probe_with_stack

    if flags.run is None or flags.probe is None:
        raise ConfigError("--probe is of a run: unweave evaluate RUN --probe labels=100")
    settings = probe_settings(flags.probe)
    run = runs.load(flags.run)
    found: FewLabelProbe | CrossViewProbe
    if "view" in settings:
        found = probe_views(run, **settings)
        name = f"probe.{found.view}_views.json"
        _output.say_view_probe(found)
    else:
        found = probe_with_stack(run, **settings)
        name = f"probe.{found.labels}_labels.json"
        _output.say_probe(found)
    folder = Path(flags.out) if flags.out else Path(flags.run)
    path = folder if folder.suffix == ".json" else folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(found.to_json(), indent=1) + "\n")
    _output.say(f"probe: {path}")
    return 0


OF_LABELS = ("labels", "column", "draws", "seed")
OF_VIEWS = ("view", "column", "views", "seed")
WORDS = ("column", "view")


def probe_settings(text: str) -> dict[str, Any]:
    """Read `labels=100,column=shape,draws=5`, or `view=azimuth,column=shape,views=4`."""
    pairs = [[word.strip() for word in part.partition("=")] for part in text.split(",")]
    known = OF_VIEWS if any(name == "view" for name, _, _ in pairs) else OF_LABELS
    settings: dict[str, Any] = {}
    for name, _, value in pairs:
        catalog.check_name(name, known, "setting of --probe")
        if name not in WORDS and not value.isdecimal():
            raise ConfigError(f"--probe {name} expects a whole number, found {value!r}")
        settings[name] = value if name in WORDS else int(value)
    return settings


def _of_run(flags: Flags, how: dict[str, Any]) -> Any:
    from unweave import workflows

    assert flags.run is not None
    if flags.part == "all":
        return workflows.evaluate(flags.run, sampler=flags.sampler, **how)
    if flags.sampler == "paper":
        raise ConfigError("the papers draw from the full grid; leave --part or --sampler out")
    return workflows.evaluate_part(flags.run, flags.part, **how)


def protocols(text: str | None) -> str | dict[str, str] | None:
    """Read `locatello2019`, or `mig=chen2018,dci=eastwood2018`."""
    if text is None or "=" not in text:
        return text
    pairs = [part.partition("=") for part in text.split(",")]
    return {metric.strip(): name.strip() for metric, _, name in pairs}


def names_in(text: str | None) -> list[str] | None:
    """Read names with commas between them."""
    return None if text is None else [name.strip() for name in text.split(",")]


def groups_in(text: str | None) -> int | list[str] | None:
    """Read how many codes form a concept, or the concept of each."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if len(words) > 1:
        return words
    if not text.strip().isdecimal():
        raise ConfigError(
            f"--groups expects a number of codes, such as 4, or the concept of each code, such as "
            f"0,0,1,1; found {text!r}"
        )
    return int(text)


def find_object(place: str) -> Any:
    """Import MODULE:NAME, looking in the current folder first; an .onnx file is its path."""
    if place.lower().endswith(".onnx"):
        return Path(place)
    module_name, _, name = place.partition(":")
    if not module_name or not name:
        raise ConfigError(
            f"--model expects MODULE:NAME such as my_module:encode, or FILE.onnx, found {place}"
        )
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.partition(".")[0] and error.name != module_name:
            raise  # the module is there; something it imports is not
        raise ConfigError(f"--model: no module named {module_name!r} here or installed") from None
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"--model: {module_name} has no {name!r}")
        found = getattr(found, part)
    return found
