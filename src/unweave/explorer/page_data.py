"""What each page shows, as plain data: the `.json` twins and the page itself read these."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from unweave import catalog, views
from unweave.correlation import correlations
from unweave.data import FactorImages, image_from_bytes
from unweave.editing.sources import in_words
from unweave.errors import ConfigError, DataError, UnweaveError
from unweave.explorer.open_runs import Library, OpenRun, folder_of
from unweave.explorer.run_list import in_short, progress, short_scores
from unweave.files.json_files import read_json
from unweave.methods import Unit, summary_of
from unweave.metrics import protocol_words
from unweave.runs import foreign_data
from unweave.runs.config import to_json
from unweave.runs.folder import RunFolder
from unweave.runs.foreign_data import ForeignData
from unweave.runs.run import Run
from unweave.settings.plain import differing, flat

STEPS = 9  # images in a line of traversals
PRIOR_DRAWS = 2_000
QUANTILES = (0.005, 0.995)  # of codes and prior, between which a slider runs
STARTS = 24  # data images and prior codes that an exported page can start from
MOST_COMPARED = 8
SCATTER_POINTS = 1_000


def run_facts(library: Library, name: str) -> dict[str, Any]:
    """Return what a run is: settings, progress, scores. Quick: nothing is computed."""
    folder = library.folder(name)
    config, summary = folder.read_config()
    stored = read_json(folder.config_file)
    method = config.method
    return {
        "name": name,
        "place": library.place(name),
        **in_short(config),
        **progress(folder),
        "method_summary": summary_of(method),
        "created": stored.get("created"),
        "versions": stored.get("versions", {}),
        "settings": to_json(config),
        "scores": folder.scores(),
        "protocols": {name: protocol_words(entry) for name, entry in folder.scores().items()},
        "meanings": {name: _meaning(name) for name in folder.scores()},
        "image_shape": list(summary.image_shape),
        "rows": summary.rows,
        "decodes": method.decodes,
        "codes_from": method.codes_from,
    }


def _meaning(metric: str) -> str:
    """Return what a metric measures in a sentence; nothing of one that is not ours."""
    if metric not in catalog.names("unweave.metrics"):
        return ""
    return catalog.summary(catalog.load("unweave.metrics", metric, "metric"))


def latents(opened: OpenRun, *, quick: bool = False) -> dict[str, Any]:
    """Return what each latent is called and carries, and between which values it is slid.

    If it is to be `quick` and no codes are kept, what the record says of latents is told
    instead of what some thousand images would: `is_quick` says so.
    """
    run = opened.run
    if quick and (known := _recorded_latents(opened)) is not None:
        return known
    names = views.latent_names(run)
    units, tables = run.code.units, []
    found: dict[str, Any] = {"step": run.step, "names": names.names, "problem": None, "asks": []}
    found |= {"is_quick": False, "sampled": 0}
    try:
        if run.code.source == "nowhere":  # no row of the data has a code to start from
            found |= _uncounted(run, names.labels) | {"factors": [], "rows": 0}
        else:
            found |= views.kl_per_dimension(run, opened.codes).to_json()
            found |= {"factors": list(run.data.factor_names), "rows": len(run.data)}
            found["sampled"] = len(opened.codes.rows)
            units = views.units_by_weight(run, opened.codes)
            tables = [opened.codes.drawn()]
    except UnweaveError as error:  # the data is not here any more; the prior still is
        found |= _uncounted(run, names.labels)
        found |= {"factors": [], "rows": 0, "problem": str(error)}
        if isinstance(error, ForeignData):
            found["asks"] = list(error.places)
    low, high = _slider_ends(run, tables)
    return {**found, "units": _shown_units(units), "low": low.tolist(), "high": high.tolist()}


def _recorded_latents(opened: OpenRun) -> dict[str, Any] | None:
    """Return what the record says of the KL at these weights, or last before them.

    None where codes are there, which say more, and where it says nothing.
    """
    run = opened.run
    folder = folder_of(run)
    if opened.has_codes or folder is None or not run.code.decodes:
        return None
    if run.code.source != "images":
        return None
    try:
        over_time = views.kl_over_time(list(folder.record()))
        factors, rows = list(run.data.factor_names), len(run.data)
    except UnweaveError:  # a bad record is told with the curves, missing data by the whole answer
        return None
    told = over_time.kl[over_time.steps <= run.step]
    if not len(told) or told.shape[1] != run.latent_dim:
        return None
    kl = np.asarray(told[-1], dtype=np.float64)
    names = views.latent_names(run)
    units = sorted(run.code.units, key=lambda unit: -float(kl[list(unit.dimensions)].sum()))
    low, high = _slider_ends(run, [])
    return {
        "step": run.step,
        "names": names.names,
        "labels": names.labels,
        "problem": None,
        "asks": [],
        "is_quick": True,
        "sampled": 0,
        "order": np.argsort(-kl, kind="stable").tolist(),
        "kl": kl.tolist(),
        "variance": None,
        "active": (kl > run.code_prior.least_kl + views.CARRIES).tolist(),
        "factors": factors,
        "rows": rows,
        "units": _shown_units(units),
        "low": low.tolist(),
        "high": high.tolist(),
    }


def _shown_units(units: Iterable[Unit]) -> list[dict[str, Any]]:
    return [
        {
            "first": unit.dimensions[0],
            "size": len(unit.dimensions),
            "kind": unit.kind,
            "role": unit.role,
            "factor": unit.factor,
            "label": unit.label,
        }
        for unit in units
    ]


def _uncounted(run: Run, labels: list[str]) -> dict[str, Any]:
    """Return what is said of latents where no codes tell how much each carries."""
    every = list(range(run.latent_dim))
    active = [True for _ in every]
    return {"labels": labels, "order": every, "kl": None, "variance": None, "active": active}


def _slider_ends(run: Run, tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value of each slider: where data and prior lie."""
    if run.code.decodes:
        tables = [*tables, run.prior_codes(PRIOR_DRAWS)]
    ends = np.stack([np.quantile(table, QUANTILES, axis=0) for table in tables])
    low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    room = np.where(high - low < 1e-6, 1.0, 0.0)  # a slider needs some way to go
    return low - room, high + room


def start_from_row(opened: OpenRun, row: int) -> dict[str, Any]:
    """Return an image of the data set and its code."""
    run = opened.run
    data = run.data
    if not 0 <= row < len(data):
        raise ConfigError(f"{data.name} has rows 0 to {len(data) - 1}, found {row}")
    image = data.images([row])
    with opened.lock:
        code = run.encode_rows(np.array([row]))
    return {
        "row": row,
        "factors": factors_of(data, row),
        "code": code[0].tolist(),
        "picture": views.pictures_to_urls(image[0]),
    }


def factors_of(data: FactorImages, row: int) -> dict[str, Any]:
    """Return the factors of a row as their values are called, where they have names or measures."""
    values = data.factors([row])
    named = {
        factor.name: in_words(factor, values[:, column])[0]
        for column, factor in enumerate(data.factor_list)
    }
    return {
        name: f"{value:.3g}" if isinstance(value, float) else views.plain(value)
        for name, value in named.items()
    }


def start_from_upload(opened: OpenRun, content: bytes) -> dict[str, Any]:
    """Return an uploaded image as the model sees it, and its code."""
    run = opened.run
    run.code.require_codes_of_images(run.kind)
    image = image_from_bytes(content, run.image_shape)
    with opened.lock:
        code = run.encode(image[None])[0]
    return {"code": code.tolist(), "picture": views.pictures_to_urls(image)}


def start_from_prior(opened: OpenRun, seed: int) -> dict[str, Any]:
    """Return a code drawn from the prior."""
    opened.run.code.require_decoder(opened.run.kind)
    return {"seed": seed, "code": opened.run.prior_codes(1, seed)[0].tolist()}


def decoded(opened: OpenRun, code: Iterable[float]) -> dict[str, Any]:
    """Return the image of a code, computed here rather than in the browser."""
    with opened.lock:
        start = views.start_code(opened.run, np.array(list(code)))
        image = opened.run.decode(start[None])[0]
    return {"code": start.tolist(), "picture": views.pictures_to_urls(image)}


def traversals(opened: OpenRun, code: Iterable[float] | None) -> dict[str, Any]:
    """Return the images of every latent varied between the ends of its slider."""
    run = opened.run
    with opened.lock:
        start = views.start_code(run, None if code is None else np.array(list(code)))
        known = latents(opened)
        lines = []
        for shown in known["units"]:
            unit = run.code.unit_of(shown["first"])
            ends = known["low"][shown["first"]], known["high"][shown["first"]]
            values = views.values_of(unit, np.linspace(*ends, max(STEPS, shown["size"])))
            values = values[np.isfinite(values)]
            images = views.pictures_to_urls(run.decode(views.turned(start, unit, values)))
            lines.append(
                {"latent": shown["first"], **shown, "values": values.tolist(), "pictures": images}
            )
    return {"code": start.tolist(), "lines": lines}


def heat_map(opened: OpenRun, kind: str) -> dict[str, Any]:
    """Return how much each latent says about each factor."""
    if kind not in views.KINDS:
        raise ConfigError(f"expected kind {' or '.join(views.KINDS)}, found {kind!r}")
    with opened.lock:
        known = views.heat_map_of_scores(opened.run, kind, opened.codes)  # type: ignore[arg-type]
        return known.to_json()


def alignment(opened: OpenRun) -> dict[str, Any]:
    """Return which latent carries each factor, and whether it rises or falls with it.

    Runs are laid beside each other by this: none of them knows what its latents are called.
    """
    run = opened.run
    with opened.lock:
        sample = opened.codes
        known = views.heat_map_of_scores(run, "mi", sample)
    found = []
    for factor, line in zip(known.factors, known.values, strict=True):
        latent = int(line.argmax())
        if line[latent] < views.KNOWN:
            continue
        column = sample.factors[:, run.data.factor_names.index(factor)]
        turn = correlations(sample.codes[:, [latent]], column[:, None], ranks=True)[0, 0]
        found.append(
            {
                "factor": factor,
                "latent": run.code.unit_of(latent).dimensions[0],
                "share": float(line[latent]),
                "sign": -1 if turn < 0 else 1,
            }
        )
    return {"factors": found}


def scatter(
    opened: OpenRun, latent: int, factor: str, points: int = SCATTER_POINTS
) -> dict[str, Any]:
    """Return one latent against one factor."""
    return views.scatter(opened.run, latent, factor, opened.codes, points).to_json()


def response(opened: OpenRun) -> dict[str, Any]:
    """Return each latent's mean against every ordered factor."""
    with opened.lock:
        return views.latent_response(opened.run, opened.codes).to_json()


def caption(opened: OpenRun) -> dict[str, Any]:
    """Return what the latents are in words, and what they could be called."""
    with opened.lock:
        return views.caption(opened.run, opened.codes).to_json()


def warnings(opened: OpenRun) -> dict[str, Any]:
    """Return what should worry whoever looks."""
    with opened.lock:
        return views.warnings(opened.run, opened.codes).to_json()


def curves(folder: RunFolder) -> dict[str, Any]:
    """Return the training curves, and the KL of each latent by step."""
    record = list(folder.record())
    return {**views.curves(record).to_json(), "kl": views.kl_over_time(record).to_json()}


def name_latent(opened: OpenRun, latent: Any, name: Any) -> dict[str, Any]:
    """Give a latent a name that is kept in the run folder."""
    if type(latent) is not int or not isinstance(name, str):
        raise ConfigError("expected a latent's number and a name")
    with opened.lock:
        opened.run.name_latent(latent, name)
    return views.latent_names(opened.run).to_json()


def allow_data(opened: OpenRun, places: Any) -> dict[str, Any]:
    """Open the data of a run that was asked for, by its places as the page showed them."""
    if not isinstance(places, list) or not all(isinstance(place, str) for place in places):
        raise ConfigError("expected the places of the data")
    run = opened.run
    assert run.folder is not None
    foreign_data.allow(run.config, run.folder.within, places)
    return {"places": places}


def comparison(library: Library, names: list[str]) -> dict[str, Any]:
    """Return several runs side by side: scores, settings that differ, spread over seeds."""
    if not 1 <= len(names) <= MOST_COMPARED or len(set(names)) < len(names):
        raise ConfigError(
            f"compare 1 to {MOST_COMPARED} different runs (?run=NAME&run=NAME), found {len(names)}"
        )
    facts = [run_facts(library, name) for name in names]
    settings = {fact["name"]: flat(fact["settings"]) for fact in facts}
    unlike = {
        path: {name: settings[name].get(path) for name in names}
        for path in sorted(differing(list(settings.values())))
    }
    scores = {fact["name"]: short_scores(fact["scores"]) for fact in facts}
    trained = [library.open(fact["name"]).run for fact in facts if fact["weights_version"]]
    seeds = views.compare(trained).to_json() if trained else None
    return {"runs": facts, "settings": unlike, "scores": scores, "comparison": seeds}


def starts(opened: OpenRun, count: int = STARTS) -> dict[str, Any]:
    """Return data images with their codes and codes of the prior, for a page without a server."""
    run: Run = opened.run
    found: dict[str, Any] = {"images": [], "prior": run.prior_codes(count).tolist()}
    if run.code.source == "nowhere":
        return found
    try:
        rows = np.random.default_rng(0).choice(len(run.data), min(count, len(run.data)), False)
    except DataError:  # the data set is not here any more; the prior is
        return found
    found["images"] = [start_from_row(opened, int(row)) for row in np.sort(rows)]
    return found
