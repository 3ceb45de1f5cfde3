"""The rule of methods whose controller holds the KL at a set point."""

from typing import Any

import torch

from rules._measures import evidence, reconstructions
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import FAST, train
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.networks import Networks
from unweave.tensors import Images, Latents, Scalar

SET_POINTS = (3, 8)
STEPS = 2000


def at_set_points(kind: type[Any], **settings: Any) -> Measure:
    """Measure a method at each of the set points, to which it rises in half of the run."""

    def measure(seed: int) -> Finding:
        numbers, look = {}, {}
        for capacity in SET_POINTS:
            method = kind(capacity=f"0:{capacity}:{STEPS // 2}", **FAST, **settings)
            run = train(method, seed=seed, steps=STEPS)
            numbers |= {f"{name} C={capacity}": value for name, value in evidence(run).items()}
            look = reconstructions(run)
        return Finding(numbers, look)

    return measure


def held(kind: type[Any], name: str) -> Rule:
    """Return the rule of a method with a controller."""

    class Estranged(kind):  # type: ignore[misc]
        """Decodes each image from the code of another."""

        def reconstruction(self, nets: Networks, z: Latents, images: Images) -> Scalar:
            return super().reconstruction(nets, torch.roll(z, 1, dims=0), images)

    class Reversed(kind):  # type: ignore[misc]
        """Raises β when the KL is too low."""

        def controller(self) -> torch.nn.Module:
            controller = super().controller()
            controller.integral_gain = -controller.integral_gain
            return controller

    def checks(own: Columns, others: dict[str, Columns]) -> Checks:
        near = [(abs(own[f"KL C={c}"] - c) < 0.5).all() for c in SET_POINTS]
        annealed = others["AnnealedVAE"]
        as_good = [(own[f"R C={c}"] < 1.1 * annealed[f"R C={c}"]).all() for c in SET_POINTS]
        return {
            "KL within 0.5 of C": bool(all(near)),
            "R at most a tenth above AnnealedVAE's": bool(all(as_good)),
        }

    return Rule(
        covers=(name,),
        claim="C = 3 and 8 nats, each seed: KL within 0.5 nats of C; R at most a tenth above that "
        "of AnnealedVAE (γ = 100) with the same C",
        method=at_set_points(kind, integral=GAIN),
        saboteurs={
            "a controller without memory (K_i = 0)": at_set_points(kind, integral=0.0),
            "a controller with the wrong sign": at_set_points(Reversed, integral=GAIN),
            "decoder given the codes of other images": at_set_points(Estranged, integral=GAIN),
        },
        references={"AnnealedVAE": at_set_points(AnnealedVAE, gamma=100)},
        checks=checks,
        picture="Images and, below them, what is decoded of them at C = 8.",
    )


GAIN = 0.05
"""K_i of both; the papers' are for runs that are hundreds of times longer."""
