"""F-statistic: dimensions that know of one factor each, on images that were not trained on."""

from functools import cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rules._measures import scatter
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import NETWORK, all_images, judged_on, shuffled, squares, train, untrained
from unweave.data import FactorImages
from unweave.methods.f_statistic import FStatistic
from unweave.metrics import explicitness, modularity
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 1500
SIZE = 9
SETTINGS = {"latent_dim": SIZE, "optimizer": Adam(1e-3)}


@cache
def parts() -> tuple[FactorImages, FactorImages]:
    """Return two thirds of the squares to train on, and the others to judge by."""
    return squares().split(1 / 3)


def of_codes(codes: np.ndarray) -> Finding:
    """Judge codes of the images that were not trained on."""
    factors = parts()[1].factors()
    numbers = {
        "modularity": float(modularity(codes, factors, bins=8).value),
        "explicitness": float(explicitness(codes, factors).value),
    }
    information = [np.abs(np.corrcoef(codes.T, factors[:, k])[-1, :-1]) for k in range(2)]
    return Finding(numbers, scatter(codes, factors[:, 2], *(int(i.argmax()) for i in information)))


def finding(run: Run) -> Finding:
    held_out = parts()[1]
    return of_codes(judged_on(run, held_out).encode(all_images(held_out)))


def trained(seed: int, data: FactorImages | None = None, **changes: object) -> Finding:
    data = parts()[0] if data is None else data
    method = FStatistic(**SETTINGS | changes)
    return finding(train(method, data=data, seed=seed, steps=STEPS))


def classified(seed: int) -> Finding:
    """Train an encoder of the same size with a linear classifier of each factor behind it."""
    data, held_out = parts()
    images = torch.from_numpy(all_images(data))
    wanted = torch.from_numpy(data.factors()).long()
    sizes = data.factor_sizes

    def loss(logits: Tensor, classes: Tensor) -> Tensor:
        parts = zip(logits.split(list(sizes), dim=1), classes.T, strict=True)
        return torch.stack([cross_entropy(part, of) for part, of in parts]).sum()

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder, head = NETWORK.encoder(data.image_shape, SIZE), nn.Linear(SIZE, sum(sizes))
        optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 1e-3)
        for _ in range(STEPS):
            chosen = torch.randperm(len(images))[:60]
            optimizer.zero_grad()
            loss(head(encoder(images[chosen])), wanted[chosen]).backward()
            optimizer.step()
        with torch.no_grad():
            return of_codes(encoder(torch.from_numpy(all_images(held_out))).numpy())


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    rival = others["a classifier of all factors"]["modularity"]
    return {
        "modularity > 0.9": bool(own["modularity"].min() > 0.9),
        "explicitness > 0.9": bool(own["explicitness"].min() > 0.9),
        "modularity > that of a classifier": bool((own["modularity"] > rival).all()),
    }


SABOTEURS: dict[str, Measure] = {
    "every dimension pushed": lambda seed: trained(seed, separating=SIZE),
    "labels shuffled": lambda seed: trained(seed, shuffled(parts()[0], seed)),
    "labels of the side alone": lambda seed: trained(seed, factors=("side",)),
    "untrained": lambda seed: finding(
        untrained(FStatistic(**SETTINGS), data=parts()[0], seed=seed)
    ),
}
RULE = Rule(
    covers=("f_statistic",),
    claim="9 dimensions and the labels of two thirds of the images; on the others each seed has a "
    "modularity > 0.9, above that of what a classifier of all factors has in its last layer of as "
    "many units, and an explicitness > 0.9",
    method=trained,
    saboteurs=SABOTEURS,
    references={"a classifier of all factors": classified},
    checks=checks,
    picture="Images that were not trained on: the dimensions that know most of x and of y. The "
    "colour is the side.",
)
