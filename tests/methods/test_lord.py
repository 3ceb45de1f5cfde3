"""Tables, stages and the one way by which LORD's class reaches an image."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from unweave import devices
from unweave.batches import IndexedBatch
from unweave.data import DataSummary, from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods.lord import LORD
from unweave.networks.mlp64 import MLP64
from unweave.probability.perceptual import pyramid_distance
from unweave.runs.config import Machine, Train
from unweave.training import loop

METHOD = LORD(latent_dim=3, class_dim=2, class_column="kind", channels=8, first_stage_steps=2)
SUMMARY = DataSummary((1, 8, 8), 10, {"kind": 4})
BATCH = IndexedBatch(
    torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0)),
    10,
    rows=torch.tensor([7, 2, 5]),
    classes=torch.tensor([1, 3, 1]),
)


def networks(method=METHOD):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), SUMMARY)


def test_tables_have_the_sizes_of_the_data():
    nets = networks()
    assert nets.contents.weight.shape == (10, 3)
    assert nets.classes.weight.shape == (4, 2)
    assert nets.contents.weight.abs().max() <= 0.05


def test_equal_codes_make_equal_images():
    nets = networks()
    with torch.no_grad():
        nets.contents.weight[2] = nets.contents.weight[7]
    content = nets.contents(torch.tensor([2, 7, 5]))
    class_code = nets.classes(torch.tensor([1, 1, 1]))
    one, two, other = METHOD.render(nets, content, class_code)
    assert torch.equal(one, two)
    assert not torch.equal(one, other)


def test_an_image_moves_its_own_row_only():
    nets = networks()
    one = IndexedBatch(BATCH.images[:1], 10, BATCH.rows[:1], BATCH.classes[:1])
    METHOD.latent_loss(nets, one).total.backward()
    moved = nets.contents.weight.grad.abs().sum(1) > 0
    assert moved.nonzero().flatten().tolist() == [7]
    moved = nets.classes.weight.grad.abs().sum(1) > 0
    assert moved.nonzero().flatten().tolist() == [1]


@pytest.mark.parametrize(("distance", "power"), [("absolute", 1), ("squared", 2)])
def test_without_noise_and_decay_it_is_generative_latent_optimization(distance, power):
    method = replace(METHOD, noise=0.0, content_decay=0.0, distance=distance)
    nets = networks(method)
    images = method.render(nets, nets.contents(BATCH.rows), nets.classes(BATCH.classes))
    expected = pyramid_distance(images, BATCH.images, power)
    torch.testing.assert_close(method.latent_loss(nets, BATCH).total, expected)


def test_decay_is_of_the_content_without_its_noise():
    nets = networks()
    torch.manual_seed(1)
    loss = METHOD.latent_loss(nets, BATCH)
    size = nets.contents(BATCH.rows).square().sum(1).mean()
    torch.testing.assert_close(loss.terms["content_size"], size)
    torch.testing.assert_close(loss.total - loss.terms["distance"], METHOD.content_decay * size)


def test_the_class_sets_scale_and_shift_of_every_map_and_nothing_else():
    nets = networks()
    with torch.no_grad():
        for layer in nets.generator.layers:
            layer.scale_and_shift.weight.zero_()
            layer.scale_and_shift.bias.zero_()
            layer.scale_and_shift.bias[len(layer.scale_and_shift.bias) // 2 :] = 0.3
    # With a scale of 0 nothing of the content is left, and no class is known.
    images = METHOD.render(nets, torch.randn(4, 3), torch.randn(4, 2))
    assert (images - images[0]).abs().max() < 1e-6


def test_stages_follow_each_other_and_the_second_leaves_the_tables():
    nets = networks()
    players = []
    for step in range(4):
        (turn,) = METHOD.turns(nets, BATCH, step)
        players.append(turn.player)
    assert players == ["latents", "latents", "encoders", "encoders"]
    assert not {"contents", "classes"} & set(METHOD.players["encoders"].owns)


def test_stage_two_lowers_the_distance_of_codes_to_the_tables():
    nets = networks()
    loss = METHOD.encoder_loss(nets, BATCH)
    found = nets.content_encoder(BATCH.images)
    wanted = (found - nets.contents(BATCH.rows)).square().sum(1).mean()
    torch.testing.assert_close(loss.terms["content_error"], wanted)
    rest = loss.terms["content_error"] + loss.terms["class_error"]
    torch.testing.assert_close(loss.total - loss.terms["distance"], METHOD.code_weight * rest)


def test_tables_learn_faster_than_the_generator():
    nets = networks()
    devices.place(nets, torch.device("cpu"))
    optimizer = loop.PlayerOptimizer(METHOD.players["latents"], nets)
    before = {name: tensor.clone() for name, tensor in nets.state_dict().items()}
    optimizer.lower(METHOD.latent_loss(nets, BATCH), 0)
    # The first step of Adam is the learning rate, whatever the gradient.
    moved = {k: (v - before[k]).abs().max().item() for k, v in nets.state_dict().items()}
    assert moved["contents.weight"] == pytest.approx(3e-3, rel=0.01)
    assert moved["classes.weight"] == pytest.approx(3e-3, rel=0.01)
    assert moved["generator.to_logits.weight"] == pytest.approx(3e-4, rel=0.01)


def test_the_run_settles_stage_and_class_unless_they_are_set(toy):
    settled = LORD().settled(100, toy)
    assert settled.first_stage_steps == 50
    assert settled.players["latents"].optimizer.decay_steps == 50
    assert settled.class_column == "side", "of the factors the one with fewest values"
    assert settled.images == 0, "all, of a set that is small enough"
    assert LORD().settled(1, toy).first_stage_steps == 1
    chosen = LORD(first_stage_steps=2, class_column="x", images=0)
    assert chosen.settled(100, toy) == chosen
    with pytest.raises(ConfigError, match="the class '' is none of the columns"):
        networks(LORD())


def test_a_swap_has_the_class_of_one_image_and_all_else_of_another():
    nets = networks()
    one, two = BATCH.images[:1], BATCH.images[1:2]
    codes = METHOD.encode(nets, torch.cat([one, two]))
    parts = METHOD.code(nets, SUMMARY).roles
    mixed = torch.zeros_like(codes[:1])
    mixed[:, parts["content"]] = codes[:1, parts["content"]]
    mixed[:, parts["style"]] = codes[1:, parts["style"]]
    torch.testing.assert_close(METHOD.swap(nets, one, two), METHOD.decode(nets, mixed))


def test_a_run_keeps_its_switch_and_the_rows_of_its_table(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(20, 8, 8), dtype=np.uint8)
    data = from_arrays(images, {"kind": np.arange(20) % 4})
    config = Train(
        method=LORD(latent_dim=3, class_dim=2, class_column="kind", channels=8, noise=0.0),
        data="arrays",
        architecture=MLP64(hidden=16),
        steps=6,
        batch_size=16,
        validation=0.2,
    )
    start = loop.make_networks(config, data).contents.weight.detach()
    run = loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert run.config.method.first_stage_steps == 3
    assert run.folder.read_config()[0].method.first_stage_steps == 3
    moved = (run.nets.contents.weight.detach() != start).any(1).numpy()
    training, held_out = data.split(0.2, config.seed, keep_numbers=True)
    assert moved[training.row_numbers].all()
    assert not moved[held_out.row_numbers].any()


def test_data_without_a_class_are_refused_before_there_is_a_folder(tmp_path):
    data = from_arrays(np.zeros((20, 8, 8), np.uint8))
    config = Train(method=LORD(), data="arrays", architecture=MLP64(hidden=16), steps=2)
    with pytest.raises(
        DataError, match=r"column 'group'[^\n]*\n    file,group\n    anna_1.png,anna"
    ):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert not (tmp_path / "run").exists()


def test_settings_that_cannot_be_are_refused():
    for wrong in ({"noise": -1.0}, {"first_stage_steps": 0}, {"class_dim": 0}):
        with pytest.raises(ConfigError):
            LORD(**wrong)


def test_codes_are_drawn_with_the_noise_of_stage_one():
    method, nets = replace(METHOD, noise=0.5), networks()
    torch.manual_seed(0)
    with torch.no_grad():
        codes = method.encode(nets, BATCH.images)
        drawn = method.draw_codes(nets, BATCH.images.repeat(1000, 1, 1, 1)).view(1000, 3, 5)
    assert (drawn[:, :, 3:] - codes[:, 3:]).abs().max() < 1e-5
    torch.testing.assert_close(drawn.mean(0), codes, atol=0.06, rtol=0)
    torch.testing.assert_close(drawn[..., :3].std(0), torch.full((3, 3), 0.5), atol=0.04, rtol=0)


def test_of_many_images_only_some_have_a_content_of_their_own(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(20, 8, 8), dtype=np.uint8)
    data = from_arrays(images, {"kind": np.arange(20) % 4})
    config = Train(
        method=replace(METHOD, images=17),
        data="arrays",
        architecture=MLP64(hidden=16),
        steps=4,
        batch_size=8,
        validation=0.2,
    )
    run = loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert len(run.nets.contents.weight) == run.config.method.images == 17
    assert run.encode(data.images([0, 19])).shape == (2, 5)
    all_of_them = loop.start(
        replace(config, method=replace(METHOD, images=20)),
        data,
        tmp_path / "all",
        Machine(evaluations=0),
    )
    assert len(all_of_them.nets.contents.weight) == 20
    assert all_of_them.config.method.images == 0
