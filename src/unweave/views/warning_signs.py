"""What should worry whoever looks at a model: dead latents, shared factors, KL at a limit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unweave.correlation import correlations
from unweave.probability.gaussian import LOWEST_LOGVAR
from unweave.runs.earlier import EarlierRun
from unweave.runs.model import Model
from unweave.runs.run import Run
from unweave.views.code_sample import CodeSample, sample_codes
from unweave.views.latents import CARRIES, active_latents, heat_map_of_scores
from unweave.views.view import View

KNOWN = 0.1  # share of a factor's entropy from which a latent counts as knowing it
CLOSE = 0.5  # the second latent of a factor knows this share of what the first knows
CORRELATED = 0.5  # rank correlation of two latents
STILL = 0.01  # variance of means below which a latent says nothing (Burda et al. 1509.00519)
AT_LIMIT = 0.05  # relative distance of the KL to its limit


MANY = {
    "entangled_factors": "latents mix factors",
    "entangled_latents": "factors are split between latents",
    "correlated": "pairs of latents move together",
    "idle": "latents have a KL though their means do not vary with the image",
    "kl_limit": "limits of the KL are reached",
}
"""What several warnings of one kind have in common; kinds that matter more come first."""


@dataclass(frozen=True)
class Warned(View):
    """One thing to worry about."""

    kind: str
    """unfinished, collapsed, idle, entangled_latents, entangled_factors, correlated, kl_limit."""
    message: str
    latents: list[int]
    factors: list[str]
    weight: float = 0.0
    """How much it matters among those of its kind."""


@dataclass(frozen=True)
class Warnings(View):
    """Everything to worry about; empty if nothing."""

    warnings: list[Warned]
    in_short: list[str]
    """A line for each kind, those that matter most first; of many the worst is told."""

    def of_kind(self, kind: str) -> list[Warned]:
        """Return the warnings of one kind."""
        return [warned for warned in self.warnings if warned.kind == kind]


def warnings(model: Model, codes: CodeSample | None = None) -> Warnings:
    """Look for collapsed latents, entangled pairs and a KL at its limit.

    What latents know of factors is that of the score which the run keeps, if it keeps one.
    """
    codes = codes or sample_codes(model)
    found = [
        *_unfinished(model),
        *_collapsed(model, codes),
        *_idle(model, codes),
        *_entangled(model, codes),
        *_at_limit(model, codes),
    ]
    return Warnings(found, list(_in_short(found, model.latent_dim)))


def _in_short(found: list[Warned], latents: int) -> Iterator[str]:
    """Yield a line for each kind of warning."""
    collapsed = [warned for warned in found if warned.kind == "collapsed"]
    whole = [warned for warned in collapsed if len(warned.latents) == latents]
    yield from (warned.message for warned in found if warned.kind == "unfinished")
    yield from (warned.message for warned in whole)
    for kind, several in MANY.items():
        of_kind = [warned for warned in found if warned.kind == kind]
        if of_kind:
            worst = max(of_kind, key=lambda warned: warned.weight).message
            yield worst if len(of_kind) == 1 else f"{len(of_kind)} {several}; above all, {worst}"
    yield from (warned.message for warned in collapsed if warned not in whole)


def _unfinished(model: Model) -> list[Warned]:
    if not isinstance(model, Run) or model.step >= model.config.steps:
        return []
    what = "weights on the way" if isinstance(model, EarlierRun) else "the run is not finished"
    message = f"{what}: step {model.step:,} of {model.config.steps:,}"
    return [Warned("unfinished", message, [], [])]


def _collapsed(model: Model, codes: CodeSample) -> list[Warned]:
    dead = np.flatnonzero(~active_latents(codes))
    if len(dead) == 0:
        return []
    labels = model.latent_labels()
    named = ", ".join(labels[latent] for latent in dead)
    measure = f"less than {CARRIES} nats" if codes.posterior is not None else "almost no variance"
    if len(dead) == model.latent_dim:
        message = f"the whole code has collapsed: every latent has {measure}"
    else:
        message = f"{len(dead)} of {model.latent_dim} latents carry nothing ({measure}): {named}"
    return [Warned("collapsed", message, [int(latent) for latent in dead], [])]


def _idle(model: Model, codes: CodeSample) -> list[Warned]:
    """Name latents that pay for a posterior unlike the prior, though it is the same for all."""
    kl = codes.kl()
    if kl is None or codes.posterior is None:
        return []
    still = codes.posterior[0].var(axis=0) < STILL
    labels = model.latent_labels()
    return [
        Warned(
            "idle",
            f"{labels[latent]} has a KL of {kl[latent]:.2f} nats, but its mean does not vary "
            f"with the image (variance below {STILL})",
            [int(latent)],
            [],
            float(kl[latent]),
        )
        for latent in np.flatnonzero(still & active_latents(codes))
    ]


def _entangled(model: Model, codes: CodeSample) -> list[Warned]:
    """Name pairs of latents that share a factor, latents that mix factors, correlated latents."""
    labels = model.latent_labels()
    active = np.flatnonzero(active_latents(codes))
    found: list[Warned] = []
    varies = any(len(np.unique(column)) > 1 for column in codes.factors.T)
    if varies and model.latent_dim > 1:
        known = heat_map_of_scores(model, "mi", codes)
        for factor, line in zip(known.factors, known.values, strict=True):
            first, second = (int(latent) for latent in np.argsort(-line, kind="stable")[:2])
            if line[first] >= KNOWN and line[second] >= CLOSE * line[first]:
                message = (
                    f"{factor} is split between {labels[first]} ({line[first]:.2f} of its "
                    f"entropy) and {labels[second]} ({line[second]:.2f})"
                )
                share = float(line[second])
                found.append(Warned("entangled_latents", message, [first, second], [factor], share))
        for latent in active:
            found += _mixed(int(latent), labels[latent], known.values[:, latent], known.factors)
    return found + _correlated(codes, active, labels)


def _mixed(latent: int, label: str, column: np.ndarray, factors: list[str]) -> list[Warned]:
    if len(column) < 2:
        return []
    first, second = np.argsort(-column, kind="stable")[:2]
    if column[first] < KNOWN or column[second] < max(KNOWN, CLOSE * column[first]):
        return []
    both = [factors[first], factors[second]]
    message = (
        f"{label} mixes {both[0]} ({column[first]:.2f} of its entropy) "
        f"and {both[1]} ({column[second]:.2f})"
    )
    return [Warned("entangled_factors", message, [latent], both, float(column[second]))]


def _correlated(codes: CodeSample, active: np.ndarray, labels: list[str]) -> list[Warned]:
    if len(active) < 2:
        return []
    moving = codes.codes[:, active]
    correlation = correlations(moving, moving, ranks=True)
    found = []
    for i, j in zip(*np.triu_indices(len(active), 1), strict=True):
        if abs(correlation[i, j]) >= CORRELATED:
            first, second = int(active[i]), int(active[j])
            message = (
                f"{labels[first]} and {labels[second]} move together: "
                f"rank correlation {correlation[i, j]:+.2f}"
            )
            together = abs(float(correlation[i, j]))
            found.append(Warned("correlated", message, [first, second], [], together))
    return found


def _at_limit(model: Model, codes: CodeSample) -> list[Warned]:
    kl = codes.kl()
    if kl is None:
        return []
    found = []
    total, limit = float(kl.sum()), model.kl_limit
    if limit is not None and limit > 0 and total >= (1 - AT_LIMIT) * limit:
        message = f"the KL of {total:.1f} nats is at the limit its loss sets, {limit:.1f} nats"
        found.append(Warned("kl_limit", message, [], []))
    enough = float(np.log(len(model.data)))
    if total > enough:
        message = (
            f"the KL of {total:.1f} nats is more than the {enough:.1f} nats that tell all "
            f"{len(model.data):,} images apart"
        )
        found.append(Warned("kl_limit", message, [], []))
    assert codes.posterior is not None
    lowest = codes.posterior[1].min(axis=0)
    stuck = np.flatnonzero(lowest <= LOWEST_LOGVAR + 1e-3)
    if len(stuck):
        labels = model.latent_labels()
        named = ", ".join(labels[latent] for latent in stuck)
        message = f"the posterior variance is at its floor e^{LOWEST_LOGVAR:.0f} for {named}"
        found.append(Warned("kl_limit", message, [int(latent) for latent in stuck], []))
    return found
