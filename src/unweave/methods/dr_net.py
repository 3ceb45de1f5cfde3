"""DrNet: what stays through a clip is content, what moves is pose.

E. Denton & V. Birodkar, "Unsupervised Learning of Disentangled Representations from
Video", NeurIPS 2017, arXiv:1705.10915, equations (1) to (4). Of two frames x and x' of one
clip, with content c, pose p, decoder G and a judge C of pairs of poses,

    autoencoder   E[-log p(x'|c(x), p(x'))] + α E‖c(x) - sg c(x')‖²
                  - w ½ E[log C(p(x), sg p(x')) + log(1 - C(p(x), sg p(x')))]
    judge         -½ E log C(p(x), p(x')) - ½ E log(1 - C(p(x), p(x'')))

with x'' of another clip; sg stops gradients. A content must do for the other frame, so it
holds what both share; the judge tells by two poses whether they are of one clip, and the pose
is to leave it in doubt, so it holds nothing that would tell clips apart. Both are normalised
over the batch, without which contents would all become alike, and bounded by tanh.

The motion of poses is followed on by `future`: a linear model of the pose from the two
before it, fitted when training ends, moves the pose on, and the content of the last frame
seen is decoded with it.

Differs from the paper: a frame x is the past one of the pair, at most `offset` frames back,
where the code takes four frames of a clip; no skip connections, by which a decoder could
copy what it should be told; frames to come are moved on by a linear model instead of an
LSTM. Errors are summed over pixels, and weights are set against that.

Use it for clips in which one thing moves: what it is apart from where it is. Not for single
images, and not where content changes within a clip.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unweave.batches import ClipBatch, Clips
from unweave.data import DataSummary, FactorImages
from unweave.errors import ConfigError
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._code import Part
from unweave.methods._method import Loss, Player, Turn
from unweave.methods._seen import SeenCodes
from unweave.networks import Architecture, Networks, code_discriminator, squared_distance
from unweave.probability.adversarial import discriminator_loss
from unweave.settings.optimizers import Adam, Optimizer
from unweave.settings.schedules import Schedule, constant
from unweave.tensors import Images, Latents, Scalar

FRAMES = 3  # that a pose is moved on by: two before it, and itself
CLIPS = 2000  # whose motion is fitted


class Motion(nn.Module):
    """A linear model of a pose from the two before it; not fitted yet, it keeps the velocity."""

    weights: Tensor

    def __init__(self, pose_dim: int):
        super().__init__()
        one = torch.eye(pose_dim)
        # p₂ = 2 p₁ - p₀, as at constant velocity; the last line is a constant.
        self.register_buffer("weights", torch.cat([-one, 2 * one, torch.zeros(1, pose_dim)]))

    def fit(self, poses: Tensor) -> None:
        """Fit the weights to poses (clip, FRAMES, latent)."""
        before = with_constant(poses[:, 0], poses[:, 1]).double().cpu()
        weights = torch.linalg.lstsq(before, poses[:, 2].double().cpu()).solution
        self.weights.copy_(weights)

    def forward(self, first: Latents, second: Latents) -> Latents:
        """Return the poses that follow."""
        return with_constant(first, second) @ self.weights


def with_constant(first: Latents, second: Latents) -> Tensor:
    """Return two poses side by side, and a 1."""
    return torch.cat([first, second, torch.ones_like(first[:, :1])], dim=1)


@dataclass(frozen=True, kw_only=True)
class DrNet(Autoencoder):
    latent_dim: int = 10
    """Number of dimensions of the pose. Paper: 5 or 10; 10 on moving digits."""
    content_dim: int = 64
    """Number of dimensions of the content. Paper: 64 or 128."""
    offset: int = 4
    """How many frames the two frames of a clip are apart at most; a clip must have one more.
    Paper: 12 or 20. The more changes in between, the less of it stays in the content."""
    fixed: str = ""
    """Factor that stays where clips are drawn from factors; by default what groups would share."""
    similarity_weight: Schedule = constant(10.0)
    """Weight α of contents being alike. Paper: 1, both errors averaged."""
    adversarial_weight: Schedule = constant(10.0)
    """Weight w of leaving the judge in doubt. Authors' code: 1e-4 or 0 for errors averaged over
    pixels; on small pictures more is needed."""
    optimizer: Optimizer = Adam(2e-3, betas=(0.5, 0.999))
    """How encoders and decoder are updated. Paper: Adam, 2e-3, first beta 0.5."""
    discriminator_width: int = 100
    """Units of each hidden layer of the judge. Paper: 100."""
    discriminator_depth: int = 2
    """Hidden layers of the judge. Paper: 2."""
    discriminator_optimizer: Optimizer = Adam(2e-3, betas=(0.5, 0.999))
    """How the judge is updated. Paper: Adam, 2e-3, first beta 0.5."""

    main_knob = "adversarial_weight"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("content_dim", "offset"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, found {getattr(self, name)}")

    @property
    def supervision(self) -> Clips:
        return Clips(2, self.fixed, span=self.offset + 1)

    def networks(self, architecture: Architecture, data: DataSummary) -> Networks:
        shape = data.image_shape
        nets = Networks()
        nets.content_encoder = bounded(
            architecture.encoder(shape, self.content_dim), self.content_dim
        )
        nets.pose_encoder = bounded(architecture.encoder(shape, self.latent_dim), self.latent_dim)
        nets.decoder = architecture.decoder(self.content_dim + self.latent_dim, shape)
        nets.judge = code_discriminator(
            2 * self.latent_dim, self.discriminator_width, self.discriminator_depth
        )
        nets.motion = Motion(self.latent_dim)
        nets.seen = SeenCodes(self.content_dim + self.latent_dim)
        return nets

    @property
    def players(self) -> dict[str, Player]:
        learners = ("content_encoder", "pose_encoder", "decoder")
        return {
            "judge": Player(("judge",), self.discriminator_optimizer),
            "autoencoder": Player(learners, self.optimizer),
        }

    def turns(self, nets: Networks, batch: ClipBatch, step: int) -> Iterator[Turn]:
        present = batch.images[1::2]
        if len(present) < 2:
            raise ConfigError("dr_net compares clips: batch_size must be 4 or more")
        with torch.no_grad():
            codes = self.encode(nets, batch.images)
            nets.seen.remember(codes)
        first, second = codes[0::2, self.content_dim :], codes[1::2, self.content_dim :]
        same = self.judged(nets, first, second)
        # Each clip's first pose beside the second of the next clip: of none its own.
        different = self.judged(nets, first, second.roll(1, dims=0))
        told_apart = ((same > 0).float().mean() + (different < 0).float().mean()) / 2
        judging = discriminator_loss(same, different) / 2
        yield Turn("judge", Loss(judging, told_apart=told_apart))

        # All frames at once, so that the same statistics normalise both of a clip.
        contents, poses = self.content(nets, batch.images), self.pose(nets, batch.images)
        content, other_content = contents[0::2], contents[1::2]
        pose, other_pose = poses[0::2], poses[1::2]
        reconstruction = self.reconstruction(nets, torch.cat([content, other_pose], dim=1), present)
        similarity = squared_distance(content, other_content.detach())
        doubt = doubt_loss(self.judged(nets, pose, other_pose.detach()))
        yield Turn(
            "autoencoder",
            Loss(
                reconstruction
                + self.similarity_weight.at(step) * similarity
                + self.adversarial_weight.at(step) * doubt,
                reconstruction=reconstruction,
                similarity=similarity,
                doubt=doubt,
            ),
        )

    def judged(self, nets: Networks, first: Latents, second: Latents) -> Tensor:
        """Return the logits of pairs of poses being of one clip."""
        logits: Tensor = nets.judge(torch.cat([first, second], dim=1)).float()
        return logits

    def content(self, nets: Networks, images: Images) -> Latents:
        """Return what stays through a clip."""
        found: Latents = nets.content_encoder(images).float()
        return found

    def pose(self, nets: Networks, images: Images) -> Latents:
        """Return what moves."""
        found: Latents = nets.pose_encoder(images).float()
        return found

    def finish(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Fit how poses move; where clips may have two frames only, they go on as they went."""
        if self.offset + 1 < FRAMES:
            return
        rng = np.random.default_rng(seed)
        rows = Clips(FRAMES, self.fixed).draw_clip_rows(data, CLIPS, rng)
        device = next(nets.pose_encoder.parameters()).device
        with torch.no_grad():
            poses = [
                self.pose(nets, torch.from_numpy(data.images(part, rng)).to(device))
                for part in np.array_split(rows.reshape(-1), max(len(rows) // 100, 1))
            ]
        nets.motion.fit(torch.cat(poses).unflatten(0, (-1, FRAMES)))

    def future(self, nets: Networks, frames: Images, count: int) -> Images:
        """Return so many frames (frame, channel, height, width) that follow on those given."""
        if len(frames) < 2:
            raise ConfigError(f"motion shows in 2 frames or more, found {len(frames)}")
        content = self.content(nets, frames[-1:])
        poses = [*self.pose(nets, frames[-2:]).split(1)]
        for _ in range(count):
            # A pose outside of what tanh gives was never decoded.
            poses.append(nets.motion(*poses[-2:]).clamp(-1, 1))
        return self.decode(
            nets, torch.cat([content.expand(count, -1), torch.cat(poses[2:])], dim=1)
        )

    def encode(self, nets: Networks, images: Images) -> Latents:
        return torch.cat([self.content(nets, images), self.pose(nets, images)], dim=1)

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Decode the contents of some images with the poses of others."""
        codes = [self.content(nets, content_images), self.pose(nets, style_images)]
        return self.decode(nets, torch.cat(codes, dim=1))

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        return Part(self.content_dim, role="content"), Part(self.latent_dim, role="style")

    def sample_prior(self, nets: Networks, count: int) -> Latents:
        """Draw contents and poses seen last, each by itself: there is no other prior."""
        contents, poses = nets.seen.sample(count), nets.seen.sample(count)
        return torch.cat([contents[:, : self.content_dim], poses[:, self.content_dim :]], dim=1)


def bounded(encoder: nn.Module, size: int) -> nn.Module:
    """Return an encoder whose outputs are normalised over the batch, then bounded by tanh.

    The normalisation has no scale of its own: likeness of contents would bring it to 0.
    """
    return nn.Sequential(encoder, nn.BatchNorm1d(size, affine=False), nn.Tanh())


def doubt_loss(logits: Tensor) -> Scalar:
    """Return −½ log C − ½ log(1 − C): log 2 where the judge cannot tell, more where it can."""
    return binary_cross_entropy_with_logits(logits, torch.full_like(logits, 0.5))
