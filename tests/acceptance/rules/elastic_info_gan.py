"""Elastic-InfoGAN: where classes are not equally common, categories are not either.

In some seeds two categories come to be squares and none discs. How the squares' share is divided
between the two is then left open, and the learnt prior may end further from the truth than equal
shares are. A judge whose slope at real images is held down (R1) makes that rarer: on seeds 31 to 33
the prior was nearer to the truth each time. There InfoGAN, stopped after 700 steps, named shapes as
well as this method did.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from rules._generators import BATCH, NETWORK, settled
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, shapes, train, untrained
from unweave.data import FactorImages
from unweave.evaluation.generated import Reader, agreement, average_entropy
from unweave.methods.elastic_info_gan import ElasticInfoGAN
from unweave.methods.info_gan import InfoGAN
from unweave.runs.run import Run
from unweave.settings.schedules import Schedule

COMMON = np.array([0.7, 0.2, 0.1])
UNIFORM = float(np.log(3) + (COMMON * np.log(COMMON)).sum())  # KL(true || uniform), 0.297 nats
STEPS = 2000
SHORT = 700
"""Steps of InfoGAN, which is compared after as many steps too. After 2,000 its NMI was 0.005, 0.63
and 0.12 on seeds 0 to 2, after 700 it was 0.67 on seed 0."""
SHARED = vars(
    settled("shapes", information_weight=2.0, input_noise=Schedule(0.3, 0.1, 1500, wait=500))
)
SHORTLY = SHARED | {"input_noise": Schedule(0.3, 0.1, 750, wait=500)}
# Views change place and size alone, which is all that images of a shape differ by here. Continuous
# codes would name just these, from features that the contrast wants to ignore them: they weigh
# nothing, as the paper has none. InfoGAN keeps them: without them its NMI was 0.13 and 0.39 on
# seeds 0 and 1, after 1,500 steps. Most of this was changed at once, so what each is worth is not
# known. On seeds 0 to 2, 20 and 21 NMI was 0.85, 0.67, 1, 1 and 1, KL 0.136, 0.277, 0.097, 0.065
# and 0.078. Without R1 KL was 0.171, 0.009, 0.037, 0.296 and 0.009 there, 0.356 on seed 12. With
# R1 and a weight of 20 for views NMI was 0.61 and 0.73, KL 0.245 and 0.165 on seeds 0 and 1; with a
# prior that learns twice as fast for half as many steps more it ends at one category.
ELASTIC = {
    "continuous_weight": 0.0,
    "gradient_penalty": 1.0,
    "rotation": 0.0,
    "elastic": 0.0,
    "zoom": 0.12,
    "shift": 0.08,
    "view_weight": 10.0,
    "contrast_temperature": 0.5,
    "contrast_reaches_trunk": True,
    "gumbel_temperature": 0.5,
    "prior_rate": 5e-3,
}


@cache
def imbalanced() -> FactorImages:
    """Return large squares, discs and crosses in the middle, 70, 20 and 10 % of them."""
    data = shapes()
    factors = data.factors()
    inside = (abs(factors[:, 2:] - 6) <= 1).all(1) & (factors[:, 1] >= 3)
    rows = [np.flatnonzero(inside & (factors[:, 0] == shape)) for shape in range(3)]
    # Of each shape every image equally often, as often as its share says.
    repeats = (COMMON * 10).round().astype(int)
    return data.subset(np.concatenate([np.tile(r, n) for r, n in zip(rows, repeats, strict=True)]))


def finding(run: Run) -> Finding:
    data, method = imbalanced(), run.config.method
    assert isinstance(method, InfoGAN | ElasticInfoGAN)
    reader = Reader(all_images(data), data.factors())
    codes = run.prior_codes(3 * 400)
    # Every category equally often, as the authors have it.
    category = np.repeat(np.arange(3), 400)
    codes[:, :3] = np.eye(3, dtype=np.float32)[category]
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(0)
        run.nets.eval()
        made = method.draw_images(run.nets, torch.from_numpy(codes)).numpy()
    shown = reader.read(made)[:, 0]
    numbers = {
        "NMI of samples with shape": agreement(category, shown),
        "average entropy": average_entropy(category, shown),
        "NMI of real images": agreement(
            run.encode(reader.known)[:, :3].argmax(1), data.factors()[:, 0]
        ),
        "KL(true || learnt)": divergence(run, category, shown),
    }
    lines = [made[category == k][:8, 0] for k in range(3)]
    return Finding(numbers, {"images": np.stack(lines)})


def divergence(run: Run, category: np.ndarray, shown: np.ndarray) -> float:
    """Return KL(true || learnt) in nats, each category standing for the shape it shows most."""
    from scipy.optimize import linear_sum_assignment

    prior = getattr(run.nets, "class_prior", None)
    if prior is None:
        return UNIFORM
    counts = np.zeros((3, 3))
    np.add.at(counts, (shown, category), 1)
    chances = prior.chances.detach().numpy().astype(np.float64)
    chances = chances[linear_sum_assignment(-counts)[1]]
    return float((COMMON * np.log(COMMON / chances)).sum())


@dataclass(frozen=True, kw_only=True)
class Named(ElasticInfoGAN):
    """Its generator gets categories that are drawn hard, which pass nothing on to the prior."""

    def drawn(self, nets, batch):  # type: ignore[no-untyped-def]
        noise, codes = super().drawn(nets, batch)
        return noise, codes.detach()


def trained(method: InfoGAN | ElasticInfoGAN, steps: int = STEPS) -> Measure:
    options = {"data": imbalanced(), "network": NETWORK, "steps": steps, "batch_size": BATCH}
    return lambda seed: finding(train(method, seed=seed, **options))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    name = "NMI of samples with shape"
    best = max(np.median(uniform[name]) for uniform in others.values())
    return {
        "median NMI over InfoGAN's by 0.1": bool(np.median(own[name]) >= best + 0.1),
        "prior nearer to the truth than equal shares": bool(
            (own["KL(true || learnt)"] < UNIFORM - 0.01).all()
        ),
    }


RULE = Rule(
    covers=("elastic_info_gan",),
    claim="on squares, discs and crosses of 70, 20 and 10 %: in each seed the learnt prior is "
    "nearer to the shares of shapes than equal shares are, KL under 0.287 nats (theirs "
    "0.297); the median NMI of category and shape of generated images, by the nearest real image, "
    "is over that of InfoGAN with equally common categories, trained as long or as long as is best "
    "for it, by at least 0.1",
    method=trained(ElasticInfoGAN(**SHARED | ELASTIC)),
    saboteurs={
        "prior cannot be reached": trained(Named(**SHARED | ELASTIC)),
        "no information (λ = 0)": trained(
            ElasticInfoGAN(**SHARED | ELASTIC | {"information_weight": 0})
        ),
        "untrained": lambda seed: finding(
            untrained(
                ElasticInfoGAN(**SHARED | ELASTIC),
                data=imbalanced(),
                network=NETWORK,
                seed=seed,
            )
        ),
    },
    references={
        "InfoGAN, equally common categories": trained(InfoGAN(**SHORTLY), SHORT),
        "InfoGAN, trained as long": trained(InfoGAN(**SHARED)),
    },
    checks=checks,
    picture="Generated images, one line for each category.",
    reformed="On seed 12 the prior ended further from the truth than equal shares are (KL 0.356); "
    "the judge has R1 since, chosen on seeds 0 to 2, 20 and 21.",
    seeds=(31, 32, 33),
)
