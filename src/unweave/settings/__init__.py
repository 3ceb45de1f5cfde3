"""Settings: frozen dataclasses, what varies over the steps, optimizers, plain data both ways."""
