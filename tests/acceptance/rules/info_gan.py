"""InfoGAN: what generator and code head agree on is on realistic images, for others to see."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, shapes, train, untrained
from unweave.batches import Batch
from unweave.methods import Loss, Turn
from unweave.methods.info_gan import InfoGAN
from unweave.networks import Networks
from unweave.networks.conv_any import ConvAny
from unweave.runs.run import Run

STEPS = 1500
NETWORK = ConvAny(channels=(16, 32, 32), hidden=128)


@dataclass(frozen=True, kw_only=True)
class Unjudged(InfoGAN):
    """Its generator is not asked to fool anybody."""

    def turns(self, nets: Networks, batch: Batch, step: int) -> Iterator[Turn]:
        for turn in super().turns(nets, batch, step):
            loss = turn.loss
            if turn.player == "generator":
                loss = Loss(loss.total - loss.terms["fooling"], **loss.terms)
            yield Turn(turn.player, loss)


def read_by_another(images: np.ndarray, category: np.ndarray) -> float:
    """Return how often a linear classifier, trained on half of the images, reads the category."""
    from sklearn.linear_model import LogisticRegression

    half, flat = len(images) // 2, images.reshape(len(images), -1)
    model = LogisticRegression(max_iter=200, C=0.1).fit(flat[:half], category[:half])
    return float(model.score(flat[half:], category[half:]))


def nearest_wrong(images: np.ndarray, real: np.ndarray) -> float:
    """Return how many pixels an image differs in, on average, from the nearest real one."""
    flat = torch.from_numpy(images.reshape(len(images), -1))
    return float(torch.cdist(flat, torch.from_numpy(real), p=1).min(1).values.mean())


def finding(run: Run) -> Finding:
    from sklearn.metrics import normalized_mutual_info_score

    data = shapes()
    images, factors = all_images(data), data.factors()
    codes = run.prior_codes(2000)
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(0)
        run.nets.eval()
        made = run.config.method.draw_images(run.nets, torch.from_numpy(codes)).numpy()
    category = codes[:, :3].argmax(1)
    read = run.encode(images)[:, :3].argmax(1)
    numbers = {
        "category by another reader": read_by_another(made, category),
        "category by its own head": run.terms(images)["code_0_accuracy"],
        "pixels to the nearest image": nearest_wrong(made[:500], images.reshape(len(images), -1)),
    }
    for name, values in zip(data.factor_names, factors.T, strict=True):
        numbers[f"NMI with {name}"] = float(normalized_mutual_info_score(values, read))
    lines = [made[category == k][:8, 0] for k in range(3)]
    return Finding(numbers, {"images": np.stack(lines)})


def trained(method: InfoGAN) -> Measure:
    options = {"data": shapes(), "network": NETWORK, "steps": STEPS}
    return lambda seed: finding(train(method, seed=seed, **options))


def checks(own: Columns, others: object) -> Checks:
    return {
        "another reader > 0.8": bool(own["category by another reader"].min() > 0.8),
        "own head > 0.95": bool(own["category by its own head"].min() > 0.95),
        "pixels to the nearest image < 60": bool(own["pixels to the nearest image"].max() < 60),
    }


SETTINGS = {"categories": (3,)}
RULE = Rule(
    covers=("info_gan",),
    claim="each seed: a linear classifier trained on generated images reads the category of 3 in "
    "over 80 % of others, its own head in over 95 %; generated images differ from the nearest "
    "real one in fewer than 60 pixels",
    method=trained(InfoGAN(**SETTINGS)),
    saboteurs={
        "generator without its adversary": trained(Unjudged(**SETTINGS)),
        "no information (λ = 0)": trained(InfoGAN(information_weight=0, **SETTINGS)),
        "untrained": lambda seed: finding(
            untrained(InfoGAN(**SETTINGS), data=shapes(), network=NETWORK, seed=seed)
        ),
    },
    checks=checks,
    picture="Generated images, one line for each category.",
)
