"""What should worry whoever looks at a model: dead latents, shared factors, KL at a limit."""

from dataclasses import dataclass

import numpy as np

from unweave.correlation import correlations
from unweave.probability.gaussian import LOWEST_LOGVAR
from unweave.runs.model import Model
from unweave.views.code_sample import CodeSample, sample_codes
from unweave.views.latents import active_latents, heat_map
from unweave.views.view import View

KNOWN = 0.1  # share of a factor's entropy from which a latent counts as knowing it
CLOSE = 0.5  # the second latent of a factor knows this share of what the first knows
CORRELATED = 0.5  # rank correlation of two latents
STILL = 0.01  # variance of means below which a latent says nothing (Burda et al. 1509.00519)
AT_LIMIT = 0.05  # relative distance of the KL to its limit


@dataclass(frozen=True)
class Warned(View):
    """One thing to worry about."""

    kind: str
    """collapsed, idle, entangled_latents, entangled_factors, correlated or kl_limit."""
    message: str
    latents: list[int]
    factors: list[str]


@dataclass(frozen=True)
class Warnings(View):
    """Everything to worry about; empty if nothing."""

    warnings: list[Warned]

    def of_kind(self, kind: str) -> list[Warned]:
        """Return the warnings of one kind."""
        return [warned for warned in self.warnings if warned.kind == kind]


def warnings(model: Model, codes: CodeSample | None = None) -> Warnings:
    """Look for collapsed latents, entangled pairs and a KL at its limit."""
    codes = codes or sample_codes(model)
    return Warnings(
        [
            *_collapsed(model, codes),
            *_idle(model, codes),
            *_entangled(model, codes),
            *_at_limit(model, codes),
        ]
    )


def _collapsed(model: Model, codes: CodeSample) -> list[Warned]:
    dead = np.flatnonzero(~active_latents(codes))
    if len(dead) == 0:
        return []
    labels = model.latent_labels()
    named = ", ".join(labels[latent] for latent in dead)
    measure = "KL below 0.01 nats" if codes.posterior is not None else "almost no variance"
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
        )
        for latent in np.flatnonzero(still & codes.prior.is_active(kl))
    ]


def _entangled(model: Model, codes: CodeSample) -> list[Warned]:
    """Name pairs of latents that share a factor, latents that mix factors, correlated latents."""
    labels = model.latent_labels()
    active = np.flatnonzero(active_latents(codes))
    found: list[Warned] = []
    varies = any(len(np.unique(column)) > 1 for column in codes.factors.T)
    if varies and model.latent_dim > 1:
        known = heat_map(model, "mi", codes)
        for factor, line in zip(known.factors, known.values, strict=True):
            first, second = (int(latent) for latent in np.argsort(-line, kind="stable")[:2])
            if line[first] >= KNOWN and line[second] >= CLOSE * line[first]:
                message = (
                    f"{factor} is split between {labels[first]} ({line[first]:.2f} of its "
                    f"entropy) and {labels[second]} ({line[second]:.2f})"
                )
                found.append(Warned("entangled_latents", message, [first, second], [factor]))
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
    return [Warned("entangled_factors", message, [latent], both)]


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
            found.append(Warned("correlated", message, [first, second], []))
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
