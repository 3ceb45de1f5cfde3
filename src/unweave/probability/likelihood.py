"""Likelihoods of images given the decoder's output: negative log, summed over pixels.

The reduction is the field's: summed over channels and pixels, averaged over the
batch, so that a paper's β means here what it means there.
"""

import math
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from unweave.tensors import Images, Scalar

Likelihood = Literal["auto", "bernoulli", "gaussian", "laplace", "calibrated"]
"""`auto` is what the images ask for; where nothing has been decided it is bernoulli."""

LEAST_DEVIATION = 1 / 512
"""Of a calibrated pixel: half a step of 8 bits, below which there is nothing to learn."""


def negative_log_likelihood(
    likelihood: Likelihood, output: Tensor, images: Images, scale: float
) -> Scalar:
    """Return −log p(x|z), summed over pixels and averaged over the batch, in nats.

    Bernoulli reads `output` as logits and takes grey values as probabilities, so
    that its least value is the entropy of the image, not 0. The others take
    sigmoid(output) as the mean, and `scale` as standard deviation (Gaussian) or
    mean absolute deviation (Laplace); their constants are included. Calibrated is a
    Gaussian with the deviation that fits these images best, which the scale learnt
    with the weights would be (O. Rybkin et al., ICML 2021, arXiv:2006.13202).
    """
    output = output.float()  # thousands of pixels do not add up in half precision
    if likelihood in ("auto", "bernoulli"):
        return binary_cross_entropy_with_logits(output, images, reduction="sum") / len(images)
    error = images - torch.sigmoid(output)
    pixels = images[0].numel()
    if likelihood == "calibrated":
        variance = error.square().mean().clamp(min=LEAST_DEVIATION**2)
        constant = 0.5 * pixels * math.log(2 * math.pi)
        return (
            0.5 * error.square().sum() / (variance.detach() * len(images))
            + 0.5 * pixels * variance.detach().log()
            + constant
        )
    if likelihood == "gaussian":
        constant = pixels * (math.log(scale) + 0.5 * math.log(2 * math.pi))
        return 0.5 * (error / scale).square().sum() / len(images) + constant
    constant = pixels * math.log(2 * scale)
    return (error / scale).abs().sum() / len(images) + constant


def negative_log_likelihoods(
    likelihood: Likelihood, output: Tensor, images: Images, scale: float
) -> Tensor:
    """Return −log p(x|z) of each image, (image,): what `negative_log_likelihood` averages.

    Slower than the average, which it need not be taken through.
    """
    output = output.float()
    if likelihood in ("auto", "bernoulli"):
        terms = binary_cross_entropy_with_logits(output, images, reduction="none")
    elif likelihood == "calibrated":
        error = images - torch.sigmoid(output)
        variance = error.square().mean().clamp(min=LEAST_DEVIATION**2).detach()
        terms = 0.5 * (error.square() / variance + variance.log() + math.log(2 * math.pi))
    elif likelihood == "gaussian":
        error = (images - torch.sigmoid(output)) / scale
        terms = 0.5 * error.square() + (math.log(scale) + 0.5 * math.log(2 * math.pi))
    else:
        error = (images - torch.sigmoid(output)) / scale
        terms = error.abs() + math.log(2 * scale)
    return terms.flatten(1).sum(1)
