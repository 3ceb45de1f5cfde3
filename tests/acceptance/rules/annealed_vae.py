"""AnnealedVAE: the KL is held at the capacity, and is spent on the image."""

from dataclasses import dataclass

import torch

from rules._measures import evidence, reconstructions
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import train
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.networks import Networks
from unweave.settings.optimizers import Adam
from unweave.tensors import Images, Latents, Scalar

CAPACITIES = (2, 5, 10)
STEPS, RAMP = 1500, 900
# At a rate that stays, the KL of the last step lies up to half a nat from C by chance.
SETTINGS = {"latent_dim": 6, "optimizer": Adam(1e-3, decay_steps=STEPS, decay_after=RAMP)}


@dataclass(frozen=True, kw_only=True)
class Estranged(AnnealedVAE):
    """Decodes each image from the code of another."""

    def reconstruction(self, nets: Networks, z: Latents, images: Images) -> Scalar:
        return super().reconstruction(nets, torch.roll(z, 1, dims=0), images)


def over_capacities(
    kind: type[AnnealedVAE] = AnnealedVAE, gamma: float = 100, ramp: int = RAMP
) -> Measure:
    def measure(seed: int) -> Finding:
        numbers, look = {}, {}
        for capacity in CAPACITIES:
            if gamma or not numbers:  # without a penalty the capacity changes nothing
                method = kind(gamma=gamma, capacity=f"0:{capacity}:{ramp}", **SETTINGS)
                run = train(method, seed=seed, steps=STEPS)
            numbers |= {f"{name} C={capacity}": value for name, value in evidence(run).items()}
            look = reconstructions(run)
        return Finding(numbers, look)

    return measure


def checks(own: Columns, others: object) -> Checks:
    held = [(abs(own[f"KL C={c}"] - c) < 0.5).all() for c in CAPACITIES]
    return {
        "KL within 0.5 of C": bool(all(held)),
        "R falls by a third, twice": bool(
            (own["R C=5"] < own["R C=2"] * 2 / 3).all()
            and (own["R C=10"] < own["R C=5"] * 2 / 3).all()
        ),
    }


RULE = Rule(
    covers=("annealed_vae",),
    claim="γ = 100, C = 2, 5 and 10 nats, each seed: KL within 0.5 nats of C; R falls by a third "
    "or more from one C to the next",
    method=over_capacities(),
    saboteurs={
        "no penalty (γ = 0)": over_capacities(gamma=0),
        "a ramp that never ends": over_capacities(ramp=100_000),
        "decoder given the codes of other images": over_capacities(Estranged),
    },
    checks=checks,
    picture="Images and, below them, what is decoded of them at C = 10.",
)
