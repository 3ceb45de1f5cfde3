"""Codes of variables that depend on each other: what stands where, and back to values.

Classes stand by their probabilities and numbers by their means. A latent that is made of others
stands by how far it is from what these say, in deviations of p: so a change of what it is made of
changes it too.
"""

import torch
from torch.nn.functional import one_hot

from unweave.methods._conditionals import Values, gaussian
from unweave.methods._dependencies import IMAGE, Variable
from unweave.networks import Networks
from unweave.probability.gaussian import DiagonalGaussian
from unweave.tensors import Images, Latents


def code_of(nets: Networks, images: Images, chances: Values, *, noise: bool) -> Latents:
    """Return codes, of the means or of draws; what depends on a class sees the likeliest.

    `chances` are those of classes that are known better than they are recognised.
    """
    values: Values = {}
    seen = {IMAGE: nets.encoder(images)}
    for variable in nets.made.among.variables:
        found = nets.recognised(variable, seen)
        if variable.kind == "class":
            known = chances.get(variable.name)
            values[variable.name] = found.softmax(1) if known is None else known
            likeliest = values[variable.name].argmax(1)
            seen[variable.name] = one_hot(likeliest, variable.size).float()
        else:
            q_of = gaussian(variable, found)
            values[variable.name] = q_of.sample() if noise else q_of.mean
            seen[variable.name] = values[variable.name]
    codes = []
    for variable in nets.made.among.variables:
        value, p = values[variable.name], making(nets, variable, values)
        codes.append(value if p is None else (value - p.mean) / p.std)
    return torch.cat(codes, dim=1)


def shown_by(nets: Networks, codes: Latents) -> torch.Tensor:
    """Return what the decoder is shown of codes."""
    among = nets.made.among
    values = dict(
        zip(among.names, codes.split([v.size for v in among.variables], dim=1), strict=True)
    )
    for variable in among.made:
        if (p := making(nets, variable, values)) is not None:
            values[variable.name] = p.mean + p.std * values[variable.name]
    return torch.cat([values[name] for name in among.shown], dim=1)


def making(nets: Networks, variable: Variable, values: Values) -> DiagonalGaussian | None:
    """Return p of a latent that is made of other variables; None of all others."""
    made = None if variable.observed else nets.made(variable, values)
    return None if made is None else gaussian(variable, made)


def drawn_from_prior(nets: Networks, count: int) -> Latents:
    """Draw codes; labelled variables that are made of others are drawn after these."""
    device = next(nets.decoder.parameters()).device
    codes: Values = {}
    values: Values = {}
    for variable in nets.made.among.made:
        name, size = variable.name, variable.size
        noise = torch.randn(count, size).to(device)
        made = nets.made(variable, values)
        if variable.kind == "class":
            chances = torch.ones(count, size) if made is None else made.softmax(1).cpu()
            drawn = torch.multinomial(chances, 1)[:, 0]
            values[name] = codes[name] = one_hot(drawn, size).float().to(device)
        else:
            of = None if made is None else gaussian(variable, made)
            values[name] = noise if of is None else of.mean + of.std * noise
            codes[name] = values[name] if variable.observed else noise
    return torch.cat([codes[name] for name in nets.made.among.names], dim=1)
