"""The rule of methods that tell what a group shares from what it does not."""

import numpy as np

from rules._measures import swaps
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, judged_on, shuffled, squares, train, untrained
from unweave.evaluation.probes import accuracy_of_evidence, leakage
from unweave.methods import Method
from unweave.methods._content_style import ContentStyleVAE
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 2000
# A style with room for x and y and nothing else; groups of 5 images of one side.
SETTINGS = {"latent_dim": 2, "content_dim": 2, "group": "side", "optimizer": Adam(1e-3)}
CHANCE = 0.25


def wrong_pixels(run: Run, count: int = 500) -> tuple[float, float]:
    """Return how many pixels are wrong after a swap, and if nothing had been swapped."""
    data = squares()
    images, factors = all_images(data), data.factors()
    place, donor = np.random.default_rng(0).integers(len(data), size=(2, count))
    truth = data.rows_of(np.column_stack([factors[place, :2], factors[donor, 2]]))
    swapped = run.swap(images[donor], images[place])
    wrong = np.abs(swapped - images[truth]).sum((1, 2, 3)).mean()
    return float(wrong), float(np.abs(images[place] - images[truth]).sum((1, 2, 3)).mean())


def finding(run: Run) -> Finding:
    run = judged_on(run, squares())
    found = leakage(run, "side")
    wrong, unswapped = wrong_pixels(run)
    numbers = {
        "side from content": found.accuracy["content"],
        "side from style as drawn": found.drawn["style"],
        "side from means of style": found.accuracy["style"],
        "side from style, linear": found.linear["style"],
        "side from 1 image": accuracy_of_evidence(run, 1, "side"),
        "side from 5 images": accuracy_of_evidence(run, 5, "side"),
        "pixels wrong after a swap": wrong,
        "pixels wrong without it": unswapped,
    }
    return Finding(numbers, swaps(run))


def checks(own: Columns, others: object) -> Checks:
    drawn, linear = own["side from style as drawn"], own["side from style, linear"]
    return {
        "content > 0.9": bool(own["side from content"].min() > 0.9),
        "style as drawn ≤ chance + 0.15": bool(max(drawn.max(), linear.max()) <= CHANCE + 0.15),
        "means of style ≤ chance + 0.2": bool(
            own["side from means of style"].max() <= CHANCE + 0.2
        ),
        "5 images ≥ 1 image": bool(
            (own["side from 5 images"] >= own["side from 1 image"] - 0.01).all()
        ),
        "a swap halves the wrong pixels": bool(
            (own["pixels wrong after a swap"] < own["pixels wrong without it"] / 2).all()
        ),
    }


def of_groups(name: str, kind: type[ContentStyleVAE]) -> Rule:
    """Return the rule of one way to pool."""
    method: Method = kind(**SETTINGS)

    def trained(seed: int) -> Finding:
        return finding(train(method, seed=seed, steps=STEPS))

    def on_strangers(seed: int) -> Finding:
        strangers = shuffled(squares(), seed)
        return finding(train(method, data=strangers, seed=seed, steps=STEPS))

    def single(seed: int) -> Finding:
        alone = kind(**SETTINGS | {"group_size": 1})
        return finding(train(alone, seed=seed, steps=STEPS))

    saboteurs: dict[str, Measure] = {
        "groups that share nothing": on_strangers,
        "groups of one image": single,
        "untrained": lambda seed: finding(untrained(method, seed=seed)),
    }
    return Rule(
        covers=(name,),
        claim="groups of one side, chance 0.25, each seed: a forest names the side from content "
        "in > 90 %, from style as drawn in at most 40 % (as does a linear probe of its means), "
        "from its means in at most 45 %; 5 images together name it as often as one, or more, to "
        "within a point; the side of one image with the place of another leaves fewer than half "
        "of the pixels wrong that no swap would",
        method=trained,
        saboteurs=saboteurs,
        checks=checks,
        picture="Swaps: the content of the image above with the style of the image on the left.",
    )
