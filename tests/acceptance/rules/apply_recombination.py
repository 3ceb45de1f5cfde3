"""Recombination: the further from what was trained on, the worse what was held out is decoded."""

from rules._applied import PLAIN, look, trained
from rules._rule import Checks, Columns, Finding, Measure, Rule
from unweave.applications import recombination

SPLITS = {
    "element": "x>0.7,y>0.7,side=14",
    "range": "x>0.5,side=14",
    "extrapolation": "x>0.5",
}
SETTINGS = recombination.Settings(rows=200)


def of_splits(*, held_out: bool) -> Measure:
    """Measure the splits one after the other, trained without what is held out or with all."""

    def measure(seed: int) -> Finding:
        numbers: dict[str, float] = {}
        for name, split in SPLITS.items():
            run = trained(PLAIN, seed, split=split)
            if not held_out:
                whole = trained(PLAIN, seed)
                run = type(run)(
                    whole.config, run.summary, whole.nets, step=whole.step, data=run.data
                )
            found = recombination.apply(run, SETTINGS).numbers
            numbers |= {
                f"NLL ratio, {name}": found["nll_ratio"],
                f"error, {name}": found["squared_error"]["held out"],
                f"error of the nearest, {name}": found["squared_error_of_nearest"]["held out"],
            }
        return Finding(numbers, look(run))

    return measure


def checks(own: Columns, others: object) -> Checks:
    element, between, beyond = (own[f"NLL ratio, {name}"] for name in SPLITS)
    return {
        "element below 2": bool(element.max() < 2),
        "extrapolation above 3": bool(beyond.min() > 3),
        "in this order": bool(((element < between) & (between < beyond)).all()),
        "element better than the nearest image": bool(
            (own["error, element"] < own["error of the nearest, element"]).all()
        ),
    }


RULE = Rule(
    covers=(),
    claim="a VAE on squares, each seed: −log p(x|z) of what was held out over that of the rest "
    "is below 2 for single combinations (element), above 3 for a half of the places "
    "(extrapolation), and between the two for sides in a range of places (range); of the first, "
    "decoding is nearer to the image than the nearest image that was trained on",
    method=of_splits(held_out=True),
    saboteurs={"nothing held out in training": of_splits(held_out=False)},
    checks=checks,
    picture="Traversals of the model that saw no square on the right, one line for each latent.",
)
