"""Tripod: a decoder that uses latents one by one, and codes that are as modular as QLAE's."""

import numpy as np
import torch

from rules import qlae
from rules._measures import of_the_factors, scatter, squared_error
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import all_images, squares, train, untrained
from unweave.methods.tripod import LEAST_DEVIATION, Tripod, hessian_ratio
from unweave.metrics import infomec
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam

STEPS = 600
SETTINGS = {
    "latent_dim": 6,
    # From the start it would keep the decoder from learning anything.
    "lambda_hessian": "0:0.015:300",
    "lambda_information": 1e-4,
    "optimizer": Adam(1e-3, clip_value=1.0),
}
PLAIN = "latents used together"


def finding(run: Run) -> Finding:
    codes, factors = run.encode(all_images(run.data)), squares().factors()
    method = run.config.method
    z = torch.from_numpy(codes)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        steps = method.step * z.std(0).clamp_min(LEAST_DEVIATION)
        ratio = hessian_ratio(run.nets.decoder, z, steps, 8)
    few = np.rint((codes + 1) * (method.values - 1) / 2).astype(np.int64)
    details = infomec(few, factors, protocol="hsu2023_discrete").details
    numbers = {
        "share of the Hessian off its diagonal": float(ratio),
        "InfoM": float(details["modularity"]),
        "R² of x, y, side": float(np.mean(of_the_factors(codes, factors))),
        "squared error": squared_error(run),
    }
    return Finding(numbers, scatter(codes, factors[:, 0]))


def trained(**changes: float) -> Measure:
    method = Tripod(**SETTINGS | changes)
    return lambda seed: finding(train(method, seed=seed, steps=STEPS))


def checks(own: Columns, others: dict[str, Columns]) -> Checks:
    name = "share of the Hessian off its diagonal"
    return {
        "half of the Hessian's share, median": bool(
            np.median(own[name]) <= np.median(others[PLAIN][name]) / 2
        ),
        "InfoM ≥ QLAE's, median": bool(
            np.median(own["InfoM"]) >= np.median(others["QLAE"]["InfoM"])
        ),
        "R² > 0.8": bool(own["R² of x, y, side"].min() > 0.8),
    }


RULE = Rule(
    covers=("tripod",),
    claim="each seed: a forest finds x, y and side in the code with a mean R² above 0.8; over "
    "seeds, by medians: of the Hessian of the decoder's layers at most half the share is off the "
    "diagonal that is there without its term, and InfoM is not below QLAE's",
    method=trained(),
    saboteurs={
        PLAIN: trained(lambda_hessian=0),
        "untrained": lambda seed: finding(untrained(Tripod(**SETTINGS), seed=seed)),
    },
    references={PLAIN: trained(lambda_hessian=0), "QLAE": qlae.RULE.method},
    checks=checks,
    picture="Codes of all images, first two dimensions; the colour is x.",
)
