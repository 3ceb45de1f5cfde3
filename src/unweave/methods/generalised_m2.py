"""Generalised M2: latents and partly labelled variables that depend on each other as you write.

N. Siddharth et al., "Learning Disentangled Representations with Semi-Supervised Deep
Generative Models", NeurIPS 2017, arXiv:1706.00400. A structure such as

    q(z[3]|image) q(shape|image,z)

says what is recognised in what. A variable that is called like a column of the data is known where
there are labels: a class, or a number if it is continuous or written side[number]. All others are
Gaussian latents, here z of 3 dimensions. p(shading|light,person) or p(image|reflectance,shading)
behind it say what is made of what; without them variables are independent, and an image is made of
all. With variables u = (y, z), of which the labels of an image tell y, and draws z_s of the others,
each given the labels it depends on,

    w_s = q(y|x, z_s),   ŵ_s = w_s / Σ_r w_r
    L(x, y) = Σ_s ŵ_s [β log q(u_s|x) / p(u_s) - log p(x|u_s)] - β E_s log w_s
    U(x)    = the same with nothing told: w_s = 1

the loss is (1 - s) E U + s E L - α E log w, with s the share of images that have labels. The
weights ŵ make draws of q(z|x) stand for those of q(z|x, y). Where no label depends on a draw all
of them are alike, and the loss is that of `m2`.

With `bound importance`, which the authors' code has too, draws are weighted by how likely they made
the image (Y. Burda et al., ICLR 2016, arXiv:1509.00519), of images without labels as well:

    I(x, y) = -log 1/S Σ_s p(x, y, z_s) / q(z_s|x)

stands for L and U, and log 1/S Σ_s w_s for E log w. The more draws, the nearer it is to the
likelihood; with one it is L. Among the diagnostics, `importance_gain` says by how many nats
`draws` draws come nearer to the likelihood than `elbo` is.

A class that is not told is summed over, as long as all such classes together have at most
`enumerated` combinations; else it is drawn as a Concrete, with its KL in closed form. Labels may be
missing one by one: an image whose person is known and whose light is not is told the person.

In the code, classes stand by their probabilities and numbers by their means. A latent that is
made of others (p(shading|light,person)) stands there by how far it is from what these say, in
deviations: so a change of light changes the shading. Probabilities of classes are q's or, with
`named_by draws`, what draws weighed by p(x, u) / q make of them.

`--method.structure faces` and `yale_b` are the structure that the paper has for faces: person and
light, which some labels tell, reflectance and shading, for the data sets of that name.

Differs from the paper: the features of an image are shared by all that is recognised in it; the
terms of draws that nothing told depends on are taken in closed form; α weighs labels of all
images alike, whatever their share.

Use it if several variables are labelled, some here and some there, and it is known what depends
on what. Not for one class alone, where `m2` is simpler; and do not expect draws to matter where
no label is recognised in a latent.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unweave.batches import FewClasses, FewLabels, LabelledBatch
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._code import Part
from unweave.methods._conditionals import (
    Conditionals,
    Values,
    by_what_is_told,
    divergence_of,
    every_combination,
    gaussian,
    log_density,
)
from unweave.methods._dependencies import (
    IMAGE,
    Dependencies,
    Variable,
    columns_among,
    dependencies,
    read_formula,
)
from unweave.methods._draws import (
    Bounds,
    Lines,
    Noise,
    SameNoise,
    evidence_bounds,
    importance_bounds,
    log_likelihoods,
)
from unweave.methods._method import Loss, Player, Turn
from unweave.methods._structured_codes import code_of, drawn_from_prior, shown_by
from unweave.networks import Architecture, Networks
from unweave.probability.likelihood import negative_log_likelihoods
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

LIT = (
    "q(reflectance|image) {lights} q(person|image) q(shading|{names},person) "
    "p(reflectance|person) p(shading|{names},person) p(image|reflectance,shading)"
)
STRUCTURES = {
    place: LIT.format(
        lights=" ".join(f"q({name}[number]|image)" for name in names), names=",".join(names)
    )
    for place, names in {
        "faces": ("light_azimuth", "light_elevation"),
        "yale_b": ("azimuth", "elevation"),
    }.items()
}
"""Structures that have a name."""
DIAGNOSED = 32
"""Images of which diagnostics take several draws, each of which has to be decoded."""


class Trunk(nn.Module):
    """Features of an image, which all that is recognised in it share."""

    def __init__(self, trunk: nn.Module):
        super().__init__()
        self.trunk = trunk

    def forward(self, images: Images) -> Tensor:
        return torch.relu(self.trunk(images))


@dataclass(frozen=True, kw_only=True)
class GeneralisedM2(Autoencoder):
    latent_dim: int = 10
    """Number of dimensions of a latent of which the structure does not say it."""
    structure: str = ""
    """What is recognised in what, and made of what; or faces, or yale_b. By default
    q(z|image) q(CLASS|image,z), with the first column whose name begins with label or, without any,
    the factor with fewest values."""
    observed: tuple[str, ...] = ()
    """Which variables are columns of the data; by default all that are called like one."""
    labels: int = 100
    """How many images have labels, drawn once by label_seed; where columns have gaps, those that
    have a value are taken instead. Paper: 100 to 3000."""
    label_seed: int = 0
    """Decides which images have labels."""
    bound: Literal["evidence", "importance"] = "evidence"
    """What draws make together: the mean of their bounds, weighted by labels, or the log of their
    mean likelihood. Paper: evidence; the authors' code has both."""
    draws: int = 8
    """S, draws of the latents of an image with labels; by importance, of the others too. Authors'
    code: 8."""
    alpha: Schedule = constant(10.0)
    """Weight of foreseeing labels, against bounds in nats of an image. Authors' code: 0.1."""
    beta: Schedule = constant(1.0)
    """Weight of the divergence of q from p. Authors' code: 1."""
    detach_weights: bool = False
    """Whether the weights ŵ of the evidence bound pass no gradients on. Authors' code: they do."""
    class_warmup_steps: int = 0
    """Steps in which classes are learnt from labels alone, as in `m2`. Paper: 0."""
    enumerated: int = 20
    """Up to how many combinations of classes that are not told are summed over."""
    named_by: Literal["recognition", "draws"] = "recognition"
    """How the code's classes are found: as they are recognised, or by which of them explain the
    image best, with so many draws of all else. Authors' code: both."""
    temperature: float = 0.66
    """Of a class that is drawn instead. Authors' code: 0.66."""
    hidden: int = 256
    """Features of an image, and units of each variable's hidden layer. Authors' code: 256."""

    main_knob = "structure"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("draws", "enumerated", "hidden"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")
        if self.temperature <= 0:
            raise ConfigError(f"temperature must be above 0, found {self.temperature}")
        if self.class_warmup_steps < 0:
            raise ConfigError(
                f"class_warmup_steps must be 0 or more, found {self.class_warmup_steps}"
            )
        if self.structure:
            read_formula(self.formula)
        _ = self.supervision  # refuses what no labels could be drawn by

    @property
    def formula(self) -> str:
        """Return the structure as it is written."""
        return STRUCTURES.get(self.structure, self.structure)

    def settled(self, steps: int, data: FactorImages) -> Self:
        settled = super().settled(steps, data)
        sizes = data.summary.column_sizes
        named = FewClasses().names_among(sizes)
        if not self.structure and not named:
            return settled  # for the labels to say what is missing
        formula = self.formula or f"q(z|{IMAGE}) q({named[0]}|{IMAGE},z)"
        observed = self.observed or columns_among(read_formula(formula), sizes)
        return replace(settled, structure=self.structure or formula, observed=observed)

    @property
    def supervision(self) -> FewLabels:
        return FewLabels(self.observed, self.labels, self.label_seed)

    def dependencies(self, data: DataSummary) -> Dependencies:
        """Return the variables of a data set, and what depends on what."""
        formula = read_formula(self.formula)
        for name in self.observed:
            if name not in formula.names or name not in data.column_sizes:
                raise ConfigError(
                    f"{name!r} must be a variable of the structure ({', '.join(formula.names)}) "
                    f"and a column of the data ({', '.join(data.column_sizes)})"
                )
        return dependencies(formula, self.observed, data.column_sizes, self.latent_dim)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        among = self.dependencies(data)
        nets = Networks()
        nets.encoder = Trunk(architecture.encoder(data.image_shape, self.hidden))
        depends = {v.name: v.seen_in for v in among.variables}
        nets.recognised = Conditionals(among, depends, self.hidden, self.hidden)
        depends = {v.name: v.made_of for v in among.variables}
        nets.made = Conditionals(among, depends, self.hidden, self.hidden)
        nets.decoder = architecture.decoder(among.size_of(among.shown), data.image_shape)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        owns = ["encoder", "recognised", "decoder"]
        if any(name != IMAGE and of for name, of in self.made_of.items()):
            owns.append("made")
        return {"autoencoder": Player(tuple(owns), self.optimizer)}

    @property
    def made_of(self) -> dict[str, tuple[str, ...]]:
        """Return what is made of what."""
        return dict(read_formula(self.formula).made_of) if self.structure else {}

    def turns(self, nets: Networks, batch: LabelledBatch, step: int) -> Iterator[Turn]:
        beta = self.beta.at(step)
        waiting = step < self.class_warmup_steps
        unlabelled = self.bounds(
            nets,
            batch.unlabelled.images,
            draws=self.draws if self.bound == "importance" else 1,
            beta=beta,
            classes_wait=waiting,
        )
        told = [
            self.bounds(nets, batch.images[rows], labels, draws=self.draws, beta=beta)
            for rows, labels in by_what_is_told(nets.made.among, self.observed, batch.labels)
        ]
        labelled, foreseen, draws = (
            torch.cat([getattr(part, name) for part in told]).mean()
            for name in ("total", "log_told", "draws")
        )
        share = batch.labelled / batch.population
        bound = unlabelled.total.mean()
        yield Turn(
            "autoencoder",
            Loss(
                (1 - share) * bound + share * labelled - self.alpha.at(step) * foreseen,
                unlabelled_bound=bound,
                labelled_bound=labelled,
                labels=-foreseen,
                effective_draws=draws,
            ),
        )

    def bounds(
        self,
        nets: Networks,
        images: Images,
        labels: Values | None = None,
        *,
        draws: int = 1,
        beta: float = 1.0,
        classes_wait: bool = False,
    ) -> Bounds:
        """Return U, or L of images with the same variables told: their values by name."""
        lines = self.lines(nets, images, labels or {}, draws=draws, classes_wait=classes_wait)
        if self.bound == "importance":
            return importance_bounds(lines, beta)
        return evidence_bounds(lines, beta, detach_weights=self.detach_weights)

    def lines(
        self,
        nets: Networks,
        images: Images,
        labels: Values,
        *,
        draws: int,
        classes_wait: bool = False,
        relaxed: bool = True,
    ) -> Lines:
        """Draw what is not told, and return what bounds are made of."""
        found, _ = self.lines_and_values(
            nets, images, labels, draws=draws, classes_wait=classes_wait, relaxed=relaxed
        )
        return found

    def lines_and_values(
        self,
        nets: Networks,
        images: Images,
        labels: Values,
        *,
        draws: int,
        classes_wait: bool = False,
        relaxed: bool = True,
        noise: Noise | None = None,
    ) -> tuple[Lines, Values]:
        """Draw what is not told; return what bounds are made of, and the values of all lines."""
        noise = noise or Noise()
        among = nets.made.among
        summed = among.summed(labels, self.enumerated)
        classes = math.prod(variable.size for variable in summed)
        count = len(images)

        def repeated(of: Tensor) -> Tensor:
            return of.repeat_interleave(draws * classes, dim=0)

        values = {IMAGE: repeated(nets.encoder(images))}
        values |= {name: repeated(value) for name, value in labels.items()}
        values |= every_combination(summed, count * draws, images.device)
        log_share, log_told, divergence, log_odds = images.new_zeros(4, count * draws * classes)
        recognised: Values = {}
        for variable in among.variables:
            found = nets.recognised(variable, values)
            if classes_wait and variable.kind == "class":
                found = found.detach()
            recognised[variable.name] = found
            if variable.name not in values:
                values[variable.name] = self.drawn(variable, found, noise, classes, relaxed=relaxed)
            elif variable.name in labels:
                log_told = log_told + log_density(variable, found, values[variable.name])
            else:
                log_share = log_share + log_density(variable, found, values[variable.name])
        for variable in among.variables:
            name, made = variable.name, nets.made(variable, values)
            is_drawn = name not in labels and variable not in summed
            log_q = log_density(variable, recognised[name], values[name])
            log_p = log_density(variable, made, values[name])
            closed = None
            if among.is_free(variable, labels) and variable not in summed:
                closed = divergence_of(variable, recognised[name], made)
            divergence = divergence + (log_q - log_p if closed is None else closed)
            if is_drawn and relaxed and variable.kind == "class":
                # A relaxed class has no log q of its own: its divergence is taken over all of it.
                log_odds = log_odds + divergence_of(variable, recognised[name], made)
            else:
                log_odds = log_odds + (log_q if is_drawn else 0) - log_p
        output = nets.decoder(torch.cat([values[name] for name in among.shown], dim=1))
        reconstruction = negative_log_likelihoods(
            self.likelihood, output, repeated(images), self.pixel_scale
        )
        tables = (log_share, log_told, reconstruction, divergence, log_odds)
        return Lines(*(table.view(count, draws, classes) for table in tables)), values

    def drawn(
        self,
        variable: Variable,
        found: Tensor,
        noise: Noise,
        shared: int = 1,
        *,
        relaxed: bool = True,
    ) -> Tensor:
        """Draw a variable by its parameters; so many lines in a row share their noise."""
        shape = (len(found) // shared, variable.size)
        if variable.kind == "class":
            waiting = noise.exponential(shape, found.device).log()
            noisy = found - waiting.repeat_interleave(shared, dim=0)
            if not relaxed:
                return one_hot(noisy.argmax(1), variable.size).float()
            return (noisy / self.temperature).softmax(1)
        q = gaussian(variable, found)
        normal = noise.normal(shape, found.device)
        return q.mean + q.std * normal.repeat_interleave(shared, dim=0)

    def encode(self, nets: Networks, images: Images) -> Latents:
        return self.code_of(nets, images, noise=False)

    def draw_codes(self, nets: Networks, images: Images) -> Latents:
        return self.code_of(nets, images, noise=True)

    def code_of(self, nets: Networks, images: Images, *, noise: bool) -> Latents:
        chances = self.class_chances(nets, images) if self.named_by == "draws" else {}
        return code_of(nets, images, chances, noise=noise)

    def class_chances(self, nets: Networks, images: Images) -> Values:
        """Return how likely the values of each class are, by draws that explain the image.

        All images have the same noise, so that the class of one does not depend on the others.
        """
        lines, values = self.lines_and_values(
            nets, images, {}, draws=self.draws, relaxed=False, noise=SameNoise(len(images))
        )
        weight = -(lines.reconstruction + lines.log_odds).flatten(1)
        weight = weight.softmax(1)[..., None]
        return {
            v.name: (weight * values[v.name].view(len(images), -1, v.size)).sum(1)
            for v in nets.made.among.variables
            if v.kind == "class"
        }

    def decode(self, nets: Networks, codes: Latents) -> Images:
        return torch.sigmoid(nets.decoder(shown_by(nets, codes)))

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Decode what labels tell of some images with the latents of others."""
        content, style = self.encode(nets, content_images), self.encode(nets, style_images)
        told = torch.cat(
            [torch.full((v.size,), float(v.observed)) for v in nets.made.among.variables]
        ).to(content.device)
        return self.decode(nets, told * content + (1 - told) * style)

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return tuple(
            Part(v.size, "category" if v.kind == "class" else "number", "content", v.name)
            if v.observed
            else Part(v.size, role="style")
            for v in nets.made.among.variables
        )

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        return drawn_from_prior(nets, count)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return the terms of the evidence bound without labels, and what more draws gain."""
        found = evidence_bounds(self.lines(nets, images, {}, draws=1))
        some = self.lines(nets, images[:DIAGNOSED], {}, draws=self.draws, relaxed=False)
        gain = log_likelihoods(some) + evidence_bounds(some).total
        return {
            "reconstruction": found.reconstruction.mean(),
            "kl": found.divergence.mean(),
            "elbo": -found.total.mean(),
            "importance_gain": gain.mean(),
        }
