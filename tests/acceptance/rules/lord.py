"""LORD: contents without the class, encoders that find them, swaps that go well.

The class is the column that a square is in: of four sides, with contents of four dimensions,
contents had no reason to keep the class, regularised or not. Here, on seeds 0 and 1, a forest named
it from contents in 22 % and 21 %, without noise and decay in 38 % and 33 %, and a swap left 20 and
16 pixels wrong, without them 37 and 40.

The bounds chosen by these two were too narrow: on seeds 21 to 23 the method came to 32 % and to 32
pixels, so that the rule is not met. Without noise and decay it came to more of both on each seed.
"""

import numpy as np

from rules._measures import swaps
from rules._rule import FRESH_SEEDS, Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, judged_on, shuffled, squares, train, untrained
from unweave.data import FactorImages
from unweave.evaluation.probes import accuracy
from unweave.methods.lord import LORD
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

# Contents begin near 0 and can be told apart once they outgrow their noise. This short run takes
# tables ten times faster than the paper's; with half of the paper's batch, a row is visited too
# seldom and contents of some seeds keep the class.
STEPS = 1200
RATE = Adam(1e-3, betas=(0.5, 0.999))
SETTINGS = {
    "latent_dim": 32,
    "class_column": "x",
    "distance": "absolute",
    "channels": 16,
    "table_speed": 100,
    "first_stage_steps": 900,
    "optimizer": RATE,
    "encoder_optimizer": RATE,
}


def r2(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the share of the variance that is found."""
    return float(1 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean(0)) ** 2).sum())


def wrong_pixels(run: Run, count: int = 500) -> tuple[float, float]:
    """Return how many pixels are wrong after a swap of x, and if nothing had been swapped."""
    data = squares()
    images, factors = all_images(data), data.factors()
    other, donor = np.random.default_rng(0).integers(len(data), size=(2, count))
    truth = data.rows_of(np.column_stack([factors[donor, 0], factors[other, 1:]]))
    swapped = run.swap(images[donor], images[other])
    wrong = np.abs(swapped - images[truth]).sum((1, 2, 3)).mean()
    return float(wrong), float(np.abs(images[other] - images[truth]).sum((1, 2, 3)).mean())


def finding(run: Run) -> Finding:
    data = squares()
    factors, codes = data.factors(), run.encode(all_images(data))
    x, alike = factors[:, 0], factors[:, 1] * 16 + factors[:, 2]  # same rest, other class
    contents = run.nets.contents.weight.detach().numpy()
    found, found_class = codes[:, : contents.shape[1]], codes[:, contents.shape[1] :]
    wrong, unswapped = wrong_pixels(run)
    numbers = {
        "x from c": accuracy(contents, x, alike),
        "x from E_c(x)": accuracy(found, x, alike),
        "x from E_y(x)": accuracy(found_class, x, alike),
        "R² of contents": r2(found, contents),
        "pixels wrong after a swap": wrong,
        "pixels wrong without it": unswapped,
    }
    return Finding(numbers, swaps(run, column=0))


def trained(seed: int, data: FactorImages | None = None, **changes: float) -> Finding:
    data = squares() if data is None else data
    run = train(LORD(**SETTINGS | changes), data=data, seed=seed, steps=STEPS, batch_size=128)
    return finding(judged_on(run, squares()))


def checks(own: Columns, others: object) -> Checks:
    return {
        "x from c ≤ 0.3": bool(own["x from c"].max() <= 0.3),
        "x from E_y(x) > 0.9": bool(own["x from E_y(x)"].min() > 0.9),
        "R² of contents > 0.8": bool(own["R² of contents"].min() > 0.8),
        "a swap leaves a third of the wrong pixels": bool(
            (own["pixels wrong after a swap"] < own["pixels wrong without it"] / 3).all()
        ),
    }


SABOTEURS: dict[str, Measure] = {
    "no noise, no decay": lambda seed: trained(seed, noise=0, content_decay=0),
    "classes shuffled": lambda seed: trained(seed, shuffled(squares(), seed)),
    "untrained": lambda seed: finding(untrained(LORD(**SETTINGS), seed=seed)),
}
RULE = Rule(
    covers=("lord",),
    claim="the class is x, each seed: a forest names it (chance 0.06) from contents in at most "
    "30 %, from what the class encoder finds in over 90 %; the encoder finds contents with "
    "R² > 0.8; x of one image with the rest of another leaves fewer than a third of the pixels "
    "wrong that no swap would",
    method=trained,
    saboteurs=SABOTEURS,
    checks=checks,
    picture="Swaps: the class of the image above with the content of the image on the left.",
    reformed="Without noise and decay, the method passed on seeds 11 to 13, where the class was "
    "the side and contents had four dimensions, and that saboteur was left out. With x for the "
    "class and 32 dimensions it is back.",
    seeds=FRESH_SEEDS,
)
