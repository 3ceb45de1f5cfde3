"""What fairness found, told: tables, a paragraph, what not to conclude, and a figure."""

from typing import Any

import numpy as np

from unweave.applications._applied import ResultTable, mean_and_deviation
from unweave.figures.style import PALETTE, QUIET, Drawing, styled
from unweave.runs.model import Model

LEFT_OVER = 0.6  # area under the curve at which nothing of note is left of the sensitive factor
AS_DRAWN = ", as drawn"


def tables(numbers: dict[str, Any]) -> tuple[ResultTable, ...]:
    """Return classifiers, flip rates and unfairness."""
    header = ("given", "accuracy", "on biased decisions", "parity gap", "odds gap", "AUC of a")
    order = ("accuracy", "biased_accuracy", "parity_gap", "odds_gap", "sensitive_auc")
    lines = tuple(
        (name, *(mean_and_deviation(by[column]) for column in order))
        for name, by in numbers["classifiers"].items()
    )
    title = f"Decisions whether {numbers['target']}, sensitive to whether {numbers['sensitive']}"
    null, flips = numbers["unfairness_of_shuffled_codes"], numbers["flips"]
    unfair = tuple(
        (name, value, null[name]) for name, value in numbers["unfairness"]["aggregates"].items()
    )
    words = {
        "codes": "latents that tell a exchanged, classifier of codes",
        "codes_all_exchanged": "all latents exchanged, classifier of codes",
        "decoded": "latents that tell a exchanged, classifier of decoded images",
        "decoded_unchanged": "decoded without any change, classifier of images",
        "true": "a alone exchanged in the true images, classifier of images",
        "not_as_true": "decided otherwise about the decoded image than about that true one",
    }
    return (
        ResultTable(title, header, lines),
        ResultTable(
            "Flip rates: decisions that change",
            ("what is done", "share"),
            tuple((words[name], flips[name]) for name in words),
        ),
        ResultTable("Unfairness", ("aggregate", "this code", "codes shuffled"), unfair),
    )


def paragraph(model: Model, numbers: dict[str, Any], bias: float) -> str:
    """Say in words what was found."""
    by = {name: {k: np.mean(v) for k, v in x.items()} for name, x in numbers["classifiers"].items()}
    labels = model.latent_labels()
    named = ", ".join(labels[i] for i in numbers["latents_that_tell_it"])
    whole, without = by["the whole code"], by[f"without {named}"]
    how = "labels hold them to it" if numbers["held_by_labels"] else "they tell it best"
    unfair = numbers["unfairness"]["aggregates"]["mean_fairness:mean_pred:mean_sens"]
    null = numbers["unfairness_of_shuffled_codes"]["mean_fairness:mean_pred:mean_sens"]
    noisy = ""
    if f"without {named}{AS_DRAWN}" in by:
        drawn = by[f"without {named}{AS_DRAWN}"]
        noisy = (
            f" Of codes as drawn, with the noise that decoders see, the gap that is left is "
            f"{drawn['parity_gap']:.3f} and the AUC {drawn['sensitive_auc']:.3f}."
        )
    told = (
        f"Classifiers learn whether {numbers['target']} from decisions that wrongly refuse "
        f"{bias:.0%} where {numbers['sensitive']}. With the whole code of "
        f"{model.name} they treat the two groups differently by {whole['parity_gap']:.3f} "
        f"(demographic parity) and are right in {whole['accuracy']:.3f}; without {named} ({how}), "
        f"by {without['parity_gap']:.3f} and in {without['accuracy']:.3f}. What is left tells the "
        f"sensitive factor with an AUC of {without['sensitive_auc']:.3f}; 0.5 is chance.{noisy} "
        f"Over all pairs of factors, unfairness is {unfair:.3f}, and {null:.3f} for shuffled "
        f"codes. Exchanging {named} between images changes {numbers['flips']['codes']:.3f} of the "
        f"decisions"
    )
    decoded = numbers["flips"]["decoded"]
    if decoded is not None:
        told += f", and {decoded:.3f} of those about the decoded images"
    true = numbers["flips"]["true"]
    if true is not None:
        told += (
            f"; with the sensitive factor alone exchanged in the true images it is {true:.3f}, and "
            f"{numbers['flips']['not_as_true']:.3f} of the decoded ones are decided otherwise than "
            "the true ones"
        )
    return told + "."


def caveats_of(model: Model) -> tuple[str, ...]:
    """Say what not to conclude."""
    told = [
        "The decisions are biased on purpose, by drawing; no real decisions are judged here, and a "
        "gap of 0 in one measure is no proof of fairness in another.",
        f"An AUC above {LEFT_OVER} after latents were taken away means that others tell the "
        "sensitive factor too: the code is not cut along it, and a stronger classifier may find "
        "more than these forests do.",
        "Disentanglement is correlated with fairness in the cited study; that it causes it is not "
        "shown, here or there.",
    ]
    told.append(
        "A flip rate tells how unfair the classifier is only as far as the exchange changes the "
        "sensitive factor and nothing else; one below that of true counterfactuals may mean that "
        "it hardly changed anything."
    )
    if not model.code.decodes:
        told.append(f"{model.name} has no decoder: counterfactual images could not be judged.")
    return tuple(told)


@styled
def figure_of(numbers: dict[str, Any]) -> Drawing:
    """Draw accuracy against the gap, and flip rates."""
    drawing = Drawing(figsize=(9.0, 4.0), layout="constrained")
    gaps, flips = drawing.subplots(1, 2, width_ratios=(3, 2))
    for place, (name, by) in enumerate(numbers["classifiers"].items()):
        beyond = place - len(PALETTE)
        color, marker = (QUIET, "s^vD"[beyond % 4]) if beyond >= 0 else (PALETTE[place], "o")
        gaps.errorbar(
            np.mean(by["parity_gap"]),
            np.mean(by["accuracy"]),
            xerr=np.std(by["parity_gap"]),
            yerr=np.std(by["accuracy"]),
            marker=marker,
            color=color,
            linestyle="none",
            label=name,
        )
    gaps.set_xlabel("gap of demographic parity (fair: 0)")
    gaps.set_ylabel("accuracy on the true target")
    gaps.set_title("what fairness costs")
    gaps.legend(fontsize=7)
    shown = {name: value for name, value in numbers["flips"].items() if value is not None}
    flips.barh(list(shown), list(shown.values()), color=PALETTE[0])
    flips.set_yticks(range(len(shown)), [name.replace("_", " ") for name in shown])
    flips.invert_yaxis()
    flips.set_xlim(0, 1)
    flips.set_xlabel("share of decisions that change")
    flips.set_title("flip rates")
    return drawing
