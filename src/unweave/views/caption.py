"""A model in one sentence: which latent is which factor, which mix, and what to call them."""

from dataclasses import dataclass

import numpy as np

from unweave.errors import DataError
from unweave.runs.model import Model
from unweave.views.code_sample import CodeSample, sample_codes
from unweave.views.latents import HeatMap, active_latents, heat_map_of_scores
from unweave.views.view import View
from unweave.views.warning_signs import CLOSE, KNOWN

MOST = 10
"""Latents that are told one by one, those that carry most; a hierarchy has a hundred."""


@dataclass(frozen=True)
class Caption(View):
    """What latents are, in words."""

    text: str
    names: dict[int, str]
    """What latents without a name could be called: the factor that each alone follows."""
    rows: int
    """Images it was found on; 0 where the score it is by does not say."""


def caption(model: Model, codes: CodeSample | None = None) -> Caption:
    """Say which latent is which factor, by the same numbers as the heat map.

    A latent is a factor if it knows a tenth of its entropy or more, and of no other factor
    half as much: the rule by which warnings say that a latent mixes factors.
    """
    codes = codes or sample_codes(model)
    active = active_latents(codes)
    if not active.any():
        return Caption("No latent carries anything.", {}, len(codes.rows))
    try:
        known = heat_map_of_scores(model, "mi", codes)
    except DataError as error:
        count = int(active.sum())
        are = "1 latent carries" if count == 1 else f"{count} latents carry"
        return Caption(f"{are} something; it cannot be said what: {error}.", {}, 0)
    parts, names, silent = [], {}, []
    kl = codes.kl()
    weight = codes.codes.var(axis=0) if kl is None else kl
    labels = [f"z{latent}" for latent in range(model.latent_dim)]
    for latent in np.argsort(-weight, kind="stable"):
        if not active[latent]:
            continue
        order = np.argsort(-known.values[:, latent], kind="stable")
        said = [f for f in order if known.values[f, latent] >= KNOWN]
        if not said:
            silent.append(labels[latent])
            continue
        most = known.values[said[0], latent]
        mixed = [f for f in said if known.values[f, latent] >= CLOSE * most]
        words = [known.factors[f].replace("_", " ") for f in mixed]
        if len(mixed) > 1:
            parts.append(f"{labels[latent]} mixes {_list(words)}")
            continue
        parts.append(f"{labels[latent]} is {words[0]}{_part(known, mixed[0], int(latent))}")
        names[int(latent)] = words[0]
    missing = [
        factor.replace("_", " ")
        for factor, line in zip(known.factors, known.values, strict=True)
        if line[active].max() < KNOWN
    ]
    if len(parts) > MOST:
        parts = [*parts[:MOST], f"{len(parts) - MOST} further latents know factors too"]
    if silent:
        them = _list(silent) if len(silent) <= MOST else f"{len(silent)} latents"
        parts.append(f"{them} {'follows' if len(silent) == 1 else 'follow'} no factor")
    if missing:
        parts.append(f"no latent knows {_list(missing)}")
    given = model.latent_names
    unnamed = {latent: name for latent, name in names.items() if latent not in given}
    return Caption("; ".join(parts) + ".", _told_apart(unnamed), known.rows)


def _part(known: HeatMap, factor: int, latent: int) -> str:
    """Say so where another latent knows more of the factor."""
    return "" if known.values[factor].argmax() == latent else " in part"


def _told_apart(names: dict[int, str]) -> dict[int, str]:
    """Number names that several latents would have."""
    found: dict[int, str] = {}
    for latent, name in names.items():
        times = list(names.values()).count(name)
        taken = [one for one in found.values() if one == name or one.startswith(f"{name} ")]
        found[latent] = name if times == 1 else f"{name} {len(taken) + 1}"
    return found


def _list(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
