"""DrNet: which frame lends what, who leaves whom in doubt, and how motion goes on."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from unweave.batches import ClipBatch
from unweave.data import DataSummary, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.dr_net import DrNet, Motion, doubt_loss
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.training import loop

METHOD = DrNet(latent_dim=2, content_dim=3, discriminator_width=8)
SUMMARY = DataSummary((1, 8, 8), 10, {})
IMAGES = torch.rand(10, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def clips(images: torch.Tensor = IMAGES) -> ClipBatch:
    return ClipBatch(images, 10, frames=2, clips=torch.arange(5).repeat_interleave(2))


def networks(method: DrNet = METHOD):
    torch.manual_seed(0)
    # Not in training, so that no frame depends on the others of its batch.
    return method.networks(MLP64(hidden=16), SUMMARY).eval()


def losses(nets, batch=None, method: DrNet = METHOD):
    turns = method.turns(nets, clips() if batch is None else batch, 0)
    return {turn.player: turn.loss for turn in turns}


def test_the_content_of_the_past_frame_is_decoded_with_the_pose_of_the_present_one():
    nets = networks()
    past, present = IMAGES[0::2], IMAGES[1::2]
    codes = torch.cat([METHOD.content(nets, past), METHOD.pose(nets, present)], dim=1)
    found = losses(nets)["autoencoder"]
    torch.testing.assert_close(
        found.terms["reconstruction"], METHOD.reconstruction(nets, codes, present)
    )
    apart = METHOD.content(nets, past) - METHOD.content(nets, present)
    torch.testing.assert_close(found.terms["similarity"], apart.square().sum(1).mean())
    t = found.terms
    wanted = t["reconstruction"] + 10 * t["similarity"] + 10 * t["doubt"]
    torch.testing.assert_close(found.total, wanted)


def test_a_judge_in_doubt_costs_log_2_and_teaches_nothing():
    logits = torch.zeros(6, requires_grad=True)
    loss = doubt_loss(logits)
    assert loss.item() == pytest.approx(math.log(2))
    loss.backward()
    assert torch.equal(logits.grad, torch.zeros(6))
    assert doubt_loss(torch.full((2,), 3.0)) > math.log(2)
    torch.testing.assert_close(doubt_loss(torch.tensor([3.0])), doubt_loss(torch.tensor([-3.0])))


def test_two_equal_frames_have_contents_alike():
    twice = IMAGES[0::2].repeat_interleave(2, dim=0)
    assert losses(networks(), clips(twice))["autoencoder"].terms["similarity"] == 0


class Recorder(nn.Module):
    """A judge that keeps what it was shown."""

    def __init__(self):
        super().__init__()
        self.shown = []
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, poses):
        self.shown.append(poses)
        return self.scale * poses.sum(1)


def test_the_judge_sees_each_clip_beside_itself_and_beside_another():
    nets = networks()
    nets.judge = Recorder()
    losses(nets)
    same, different, _ = nets.judge.shown
    first, second = METHOD.pose(nets, IMAGES[0::2]), METHOD.pose(nets, IMAGES[1::2])
    torch.testing.assert_close(same, torch.cat([first, second], dim=1))
    torch.testing.assert_close(different[:, :2], first)
    matches = torch.cdist(different[:, 2:], second).argmin(1)
    assert sorted(matches.tolist()) == list(range(5)), "every second pose once"
    assert (matches != torch.arange(5)).all(), "none beside its own clip"


def test_the_judge_never_reaches_the_encoders():
    nets = networks()
    losses(nets)["judge"].total.backward()
    assert all(p.grad is None for p in nets.pose_encoder.parameters())
    assert all(p.grad is not None for p in nets.judge.parameters())


@pytest.mark.parametrize("term", ["doubt", "similarity"])
def test_doubt_and_likeness_move_the_past_frame_alone(term):
    images = IMAGES.clone().requires_grad_()
    losses(networks(), clips(images))["autoencoder"].terms[term].backward()
    moved = images.grad.flatten(1).abs().sum(1)
    assert (moved[0::2] > 0).all()
    assert (moved[1::2] == 0).all()


def test_contents_of_a_batch_cannot_all_be_alike():
    nets = networks().train()
    contents = METHOD.content(nets, IMAGES).atanh()
    torch.testing.assert_close(contents.std(0, correction=0), torch.ones(3), atol=0.01, rtol=0)


def test_motion_goes_on_as_it_went_until_it_is_fitted():
    motion = Motion(2)
    first, second = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.2, 0.5]])
    torch.testing.assert_close(motion(first, second), torch.tensor([[0.4, 0.0]]))
    angle = torch.linspace(0, 2 * math.pi, 50)[:, None] + 0.3 * torch.arange(3)
    turning = torch.stack([angle.cos(), angle.sin()], dim=2) + 0.1
    motion.fit(turning)
    torch.testing.assert_close(
        motion(turning[:, 0], turning[:, 1]), turning[:, 2], atol=1e-5, rtol=1e-5
    )


def test_frames_to_come_have_the_last_content_and_poses_that_move_on():
    nets = networks()
    frames = IMAGES[:4]
    found = METHOD.future(nets, frames, 3)
    assert found.shape == (3, 1, 8, 8)
    one, two = METHOD.pose(nets, frames[2:])
    three = (2 * two - one).clamp(-1, 1)
    code = torch.cat([METHOD.content(nets, frames[3:])[0], three])
    torch.testing.assert_close(found[:1], METHOD.decode(nets, code[None]))
    with pytest.raises(ConfigError, match="2 frames or more, found 1"):
        METHOD.future(nets, frames[:1], 3)


def test_a_run_learns_how_poses_move(toy, tmp_path):
    config = Train(
        method=METHOD, data="toy_xys", architecture=MLP64(hidden=8), steps=2, batch_size=8
    )
    run = loop.start(config, toy, tmp_path / "run", Machine(evaluations=0))
    assert not torch.equal(run.nets.motion.weights, Motion(2).weights)
    short = DrNet(latent_dim=2, content_dim=3, offset=1)
    nets = networks(short)
    short.finish(nets, toy, 0)
    assert torch.equal(nets.motion.weights, Motion(2).weights), "clips may have two frames"


def test_images_without_clips_are_refused_with_lines_of_a_table(tmp_path):
    data = from_arrays(np.zeros((9, 8, 8), dtype=np.uint8))
    config = Train(method=METHOD, data="arrays", steps=2)
    with pytest.raises(DataError, match=r"[^\n]*\n    file,clip,time\n    frame_0001.png,walk,1"):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    with pytest.raises(ConfigError, match="batch_size must be 4 or more"):
        list(METHOD.turns(networks(), ClipBatch(IMAGES[:2], 10, 2, torch.zeros(2)), 0))
