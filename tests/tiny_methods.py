"""Every method of the catalog, and one of none, small enough to train in a moment."""

import dataclasses

from plain_gan import PlainGAN
from unweave import catalog
from unweave.methods import Method, method_named
from unweave.networks.conv_any import ConvAny
from unweave.runs.config import Train

TWINS = ["semi_supervised+factor_vae", "semi_supervised+aae"]  # bare, it is that of beta_vae
CLASSES = {name: method_named(name) for name in [*catalog.names("unweave.methods"), *TWINS]}
CLASSES["plain_gan"] = PlainGAN  # of no catalog: a generator without an encoder
METHODS = list(CLASSES)
STEPS = 3
NARROW = {
    "discriminator_width": 32,
    "width": 8,
    "layers_at_size": (1, 2, 0),
    "channels": 16,
    "first_stage_steps": 2,
    "head_images": 64,
    "kl_weight": "9:1:4:geometric",
    "stagger": 0.5,
    "capacity": "0:5:2",
    "contrast_weight": "0:2:0:2",
    "draws": 3,
}


def small(name: str) -> Method:
    """Return the method with a short code and narrow networks of its own, quick to store."""
    method = CLASSES[name]
    fields = {field.name for field in dataclasses.fields(method)}
    return method(latent_dim=4, **{k: v for k, v in NARROW.items() if k in fields})


def config_for(name: str, **changes: object) -> Train:
    """Return the settings of a short run on toy_xys."""
    values = {
        "method": small(name),
        "data": "toy_xys",
        "architecture": ConvAny(channels=(8, 16), hidden=32),
        "steps": STEPS,
        "batch_size": 16,
    }
    return Train(**(values | changes))
