"""DynamicVAE: the controller holds the KL at its set point and spends it on the image."""

from rules._set_points import held
from unweave.methods.dynamic_vae import DynamicVAE

RULE = held(DynamicVAE, "dynamic_vae")
