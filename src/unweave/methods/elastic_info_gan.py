"""Elastic-InfoGAN: InfoGAN that learns how common each category is.

U. Ojha et al., "Elastic-InfoGAN: Unsupervised Disentangled Representation Learning in
Class-Imbalanced Data", NeurIPS 2020, arXiv:1910.01112. With logits π of the categories, and
features f of the layer before the code head's last, of an image x and of a view x' of it:

    c              Gumbel-softmax of log softmax(π) at temperature τ
    discriminator  -E log D(x) - E log(1 - D(G(z, c)))
    generator      -E log D(G(z, c)) - λ L + κ NT-Xent(f(x), f(x'))
    L              E log Q(argmax c|G(z, c)) + H(c), as InfoGAN's

The generator's player owns generator, code head and π. G is fed the soft c, through which
alone π learns; Q has to name the likeliest category. The view (a little turned, scaled,
distorted) keeps what an image is of: with the contrast the head cares for that rather than
for its place. In the authors' code the contrast trains the head only, because trunk and judge
are the discriminator's; `contrast_reaches_trunk` gives it to the discriminator's loss as well,
which the paper's words allow. π uniform and not learnt, κ = 0 and τ → 0 give InfoGAN's losses.

Differs from the paper: trunk and generator are the run's architecture, as in `info_gan`; there
is at least one continuous code, of which the paper has none; π has a rate of its own, since
with the paper's rate of 2e-4 a logit needs 5,000 steps to move by 1. Where there are
several categorical codes the first is the one whose prior is learnt.

Use it to generate images of kinds that are not equally frequent, with a category for each. Not
for codes of given images above all, and not if kinds are as frequent as each other, where
`info_gan` has less to learn.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import gumbel_softmax, one_hot

from unweave.batches import AugmentedBatch, AugmentedPairs, Batch
from unweave.data import DataSummary
from unweave.errors import ConfigError
from unweave.methods._code_gan import CodeGAN
from unweave.methods._method import Loss, Player, Turn
from unweave.methods._play import Move
from unweave.networks import Architecture, Networks
from unweave.probability.contrastive import nt_xent
from unweave.settings.optimizers import Adam, Optimizer
from unweave.tensors import Images, Latents, Scalar


class ClassPrior(nn.Module):
    """How likely each category is: softmax of logits that begin alike."""

    def __init__(self, categories: int):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(categories))

    @property
    def chances(self) -> Tensor:
        return self.logits.softmax(0)

    def draw_soft(self, count: int, temperature: float) -> Tensor:
        """Draw categories that pass gradients on to the logits, nearly one-hot."""
        logits = self.logits.log_softmax(0).expand(count, -1)
        return gumbel_softmax(logits, tau=temperature)


@dataclass(frozen=True, kw_only=True)
class ElasticInfoGAN(CodeGAN):
    latent_dim: int = 1
    """Number of continuous codes. Paper: none."""
    optimizer: Optimizer = Adam(1e-3, betas=(0.5, 0.999))
    """How generator and code head are updated. Paper: Adam, 2e-4, first beta 0.5, with which the
    head used two of ten categories after 5,000 steps on dSprites."""
    prior_rate: float = 5e-3
    """Learning rate of the categories' prior; 0 leaves them equally likely. Paper: 2e-4."""
    gumbel_temperature: float = 0.1
    """Temperature τ at which categories are drawn. Paper: 0.1."""
    view_weight: float = 10.0
    """Weight κ of the contrast between views of images. Paper: 10."""
    contrast_temperature: float = 1.0
    """Temperature of the contrast. Authors' run: 1; default of their code: 0.5."""
    contrast_reaches_trunk: bool = False
    """Whether the trunk learns from the contrast as well. Authors' code: no."""
    rotation: float = 20.0
    """Largest turn of a view, in degrees. Paper: 20."""
    zoom: float = 0.1
    """Largest change of size of a view, as a share of it. Paper: 0.1."""
    shift: float = 0.0
    """Largest shift of a view, as a share of the sides. Paper: none."""
    elastic: float = 0.05
    """Largest pull at the corners of a coarse grid, as a share of the sides. Paper: slight
    distortions of another kind."""

    main_knob = "view_weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.categories:
            raise ConfigError("elastic_info_gan learns how common categories are; give it one")
        self.refuse_negative("prior_rate", "view_weight")
        for name in ("gumbel_temperature", "contrast_temperature"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, found {getattr(self, name)}")
        self.supervision  # noqa: B018  which refuses views that cannot be

    @property
    def supervision(self) -> AugmentedPairs:
        return AugmentedPairs(
            shift=self.shift, rotation=self.rotation, zoom=self.zoom, elastic=self.elastic
        )

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        nets = super().networks(architecture, data)
        nets.class_prior = ClassPrior(self.categories[0])
        return nets

    @property
    def players(self) -> dict[str, Player]:
        owned = ("generator", "code_head", "class_prior")
        faster = {"class_prior": self.prior_rate / self.optimizer.learning_rate}
        return {
            "discriminator": self.player(("trunk", "judge"), self.discriminator_optimizer),
            "generator": self.player(owned, self.optimizer, faster),
        }

    def turns(self, nets: Networks, batch: AugmentedBatch, step: int) -> Iterator[Move]:
        for move in super().turns(nets, batch, step):
            assert isinstance(move, Turn)
            if self.view_weight and (move.player == "generator" or self.contrast_reaches_trunk):
                contrast = self.contrast(nets, batch)
                move = Turn(
                    move.player, move.loss.plus(self.view_weight * contrast, contrast=contrast)
                )
            yield move

    def judging(
        self, nets: Networks, images: Images, fakes: Images, codes: Latents, step: int
    ) -> Loss:
        """Return what trunk and judge lower, which reading codes is no part of."""
        return self.judged(nets, images, fakes, step)[0]

    def drawn(self, nets: Networks, batch: Batch) -> tuple[Tensor, Latents]:
        """Draw noise and codes, the first category a little soft."""
        noise, codes = super().drawn(nets, batch)
        soft = nets.class_prior.draw_soft(len(codes), self.gumbel_temperature)
        return noise, torch.cat([soft, codes[:, self.categories[0] :]], dim=1)

    def prior_codes(
        self, nets: Networks, count: int, device: torch.device | str = "cpu"
    ) -> Latents:
        """Draw codes from their prior, the first category as often as was learnt."""
        codes = super().prior_codes(nets, count, device)
        size = self.categories[0]
        with torch.no_grad():
            drawn = torch.multinomial(nets.class_prior.chances, count, replacement=True)
        return torch.cat([one_hot(drawn.to(device), size).float(), codes[:, size:]], dim=1)

    def entropies(self, nets: Networks) -> list[float]:
        """Return the entropy H(c) of each categorical code; that of the first was learnt."""
        chances = nets.class_prior.chances.detach()
        return [float(torch.special.entr(chances).sum()), *super().entropies(nets)[1:]]

    def contrast(self, nets: Networks, batch: AugmentedBatch) -> Scalar:
        """Return NT-Xent between images and one view of each."""
        features = nets.code_head[:-1](nets.trunk(torch.cat([batch.images, batch.first])))
        first, second = features.float().chunk(2)
        return nt_xent(first, second, self.contrast_temperature)

    def diagnose(self, nets: Networks, images: Images) -> dict[str, Scalar]:
        """Return how well codes are read back, and how likely each category is."""
        chances = nets.class_prior.chances
        likely = {f"chance_{index}": chance for index, chance in enumerate(chances)}
        return super().diagnose(nets, images) | likely
