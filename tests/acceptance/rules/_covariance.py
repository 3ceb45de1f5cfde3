"""The rule of DIP-VAE: each form is held to the covariance that it constrains."""

from typing import Literal

import numpy as np

from rules._measures import scatter, squared_error
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, all_images, squares, train, untrained
from unweave.methods import Method
from unweave.methods.dip_vae import DIPVAE
from unweave.methods.vae import VAE
from unweave.runs.run import Run

ERROR = 8  # a tenth of what the mean image of toy_xys leaves
# Pixels outweigh the VAE's KL by far, so that its q(z) is far from the prior.
NARROW = {"likelihood": "gaussian", "pixel_scale": 0.05, **FAST}


def finding(run: Run, form: str) -> Finding:
    found = run.posterior(all_images(run.data))
    assert found is not None
    mean, variance = found[0], np.exp(found[1])
    covariance = np.cov(mean.T) + (np.diag(variance.mean(0)) if form == "II" else 0)
    deviations = np.sqrt(covariance.diagonal())
    correlation = covariance / (deviations[:, None] * deviations)
    size = len(correlation)
    numbers = {
        "correlation²": (np.square(correlation).sum() - size) / (size * (size - 1)),
        "least variance": covariance.diagonal().min(),
        "largest variance": covariance.diagonal().max(),
        "squared error": squared_error(run),
    }
    off_diagonal = np.abs(correlation - np.eye(size))
    first, second = np.unravel_index(off_diagonal.argmax(), off_diagonal.shape)
    return Finding(numbers, scatter(mean, squares().factors()[:, 2], first, second))


def of_form(form: Literal["I", "II"], weight: float, steps: int) -> Rule:
    """Return the rule of one form."""

    def trained(method: Method) -> Measure:
        return lambda seed: finding(train(method, seed=seed, steps=steps), form)

    def checks(own: Columns, others: dict[str, Columns]) -> Checks:
        vae = others["VAE"]
        return {
            "correlation² < 1/5 of the VAE's": bool(
                (own["correlation²"] < vae["correlation²"] / 5).all()
            ),
            "variances in [0.75, 1.25]": bool(
                own["least variance"].min() > 0.75 and own["largest variance"].max() < 1.25
            ),
            f"squared error < {ERROR}": bool((own["squared error"] < ERROR).all()),
        }

    settings = {"form": form, "lambda_od": weight, **NARROW}
    return Rule(
        covers=("dip_vae",),
        claim=f"form {form}, of {'means' if form == 'I' else 'q(z)'}, each seed: mean squared "
        "correlation below a fifth of the VAE's, every variance in [0.75, 1.25], squared error "
        f"of reconstructions below {ERROR}, where the mean image has 79",
        method=trained(DIPVAE(**settings)),
        saboteurs={
            "VAE": trained(VAE(**NARROW)),
            "untrained": lambda seed: finding(untrained(DIPVAE(**settings), seed=seed), form),
        },
        references={"VAE": trained(VAE(**NARROW))},
        checks=checks,
        picture="Means of all images in the two dimensions that are most correlated; the colour "
        "is the side of the square.",
    )
