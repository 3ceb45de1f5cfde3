"""ControlVAE: the controller holds the KL at its set point and spends it on the image."""

from rules._set_points import held
from unweave.methods.control_vae import ControlVAE

RULE = held(ControlVAE, "control_vae")
