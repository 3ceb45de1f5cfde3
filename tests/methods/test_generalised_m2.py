"""Generalised M2: weights of draws, sums over classes, and codes of what is made of others."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from small_dependencies import IMAGES, B, made, one_hot, told

from unweave.batches import Batch, LabelledBatch
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError
from unweave.methods._conditionals import by_what_is_told, divergence_of, gaussian, log_density
from unweave.methods.generalised_m2 import STRUCTURES, GeneralisedM2
from unweave.methods.m2 import marginal_bound
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.training import loop


def test_where_no_label_depends_on_a_draw_all_draws_are_alike_and_the_loss_is_m2s():
    method, nets = made("q(z|image) q(b|image)")
    found = method.bounds(nets, IMAGES, told(), draws=5)
    torch.testing.assert_close(found.draws, torch.full((6,), 5.0))
    features = {"image": nets.encoder(IMAGES)}
    z, b = nets.made.among["z"], nets.made.among["b"]
    log_q = log_density(b, nets.recognised(b, features), told()["b"])
    kl = divergence_of(z, nets.recognised(z, features), None)
    torch.testing.assert_close(found.log_told, log_q)
    # L(x, y) = reconstruction - log p(y) + KL: q(y|x) is not in it.
    expected = found.reconstruction + math.log(2) + kl
    torch.testing.assert_close(found.total, expected)


def test_a_label_that_ignores_the_draw_it_could_depend_on_weighs_all_draws_alike():
    method, nets = made("q(z|image) q(b|image,z)")
    b = nets.made.among["b"]
    index = nets.made.among.names.index("b")
    nets.recognised.layers[index][0].weight.data[:, -2:] = 0
    found = method.bounds(nets, IMAGES, told(), draws=4)
    torch.testing.assert_close(found.draws, torch.full((6,), 4.0))
    values = {"image": nets.encoder(IMAGES), "z": torch.randn(6, 2)}
    torch.testing.assert_close(
        found.log_told, log_density(b, nets.recognised(b, values), told()["b"])
    )


def test_draws_are_weighted_by_how_well_they_foresee_the_label():
    method, nets = made("q(z|image) q(b|image,z)")
    found = method.bounds(nets, IMAGES, told(), draws=8)
    assert (found.draws < 7.9).all()
    assert (found.draws >= 1).all()
    single = method.bounds(nets, IMAGES, told(), draws=1)
    torch.testing.assert_close(single.draws, torch.ones(6))


def test_many_draws_come_to_the_posterior_given_the_label():
    """By quadrature: E[-log p(x|y, z)] over q(z|x) q(y|x, z) / q(y|x), z on a line."""
    method, nets = made("q(z[1]|image) q(b|image,z) p(image|z)")
    image, label = IMAGES[:1], told(B[:1])
    for p in nets.decoder.parameters():
        p.data.mul_(4)
    nets.recognised.layers[nets.made.among.names.index("b")][0].weight.data[:, -1] *= 5
    torch.manual_seed(3)
    with torch.no_grad():
        found = method.bounds(nets, image, label, draws=40_000)
        among = nets.made.among
        features = nets.encoder(image)
        q = gaussian(among["z"], nets.recognised(among["z"], {"image": features}))
        grid = torch.linspace(-6, 6, 2001)[:, None]
        z = q.mean + q.std * grid
        log_prior = q.log_density(z)[:, 0]
        values = {"image": features.expand(len(z), -1), "z": z}
        log_label = log_density(
            among["b"], nets.recognised(among["b"], values), label["b"].expand(len(z), -1)
        )
        weights = (log_prior + log_label).softmax(0)
        even = log_prior.softmax(0)
        output = nets.decoder(z)
        errors = torch.nn.functional.binary_cross_entropy_with_logits(
            output, image.expand_as(output), reduction="none"
        ).flatten(1).sum(1)  # fmt: skip
        divergence = log_prior - log_density(among["z"], None, z)
    posterior, plain = (weights * errors).sum(), (even * errors).sum()
    assert abs(posterior - plain) > 0.05, "else the weights would not show"
    torch.testing.assert_close(found.reconstruction[0], posterior, rtol=0, atol=0.02)
    expected = (weights * (divergence + log_label)).sum() + math.log(2)
    torch.testing.assert_close(found.divergence[0], expected, rtol=0, atol=0.05)
    torch.testing.assert_close(found.log_told[0], (even * log_label).sum(), rtol=0, atol=0.02)


def test_a_class_that_is_not_told_is_weighted_by_bayes_rule():
    """q(a|x) q(b|x, a) with b told and a of three values, in closed form."""
    method, nets = made("q(a|image) q(b|image,a) q(z|image) p(image|a)")
    found = method.bounds(nets, IMAGES, told())
    among, features = nets.made.among, nets.encoder(IMAGES)
    log_a = nets.recognised(among["a"], {"image": features}).log_softmax(1)
    log_b, errors = [], []
    for k in range(3):
        a = one_hot(torch.full((6,), k), 3)
        values = {"image": features, "a": a}
        log_b.append(log_density(among["b"], nets.recognised(among["b"], values), told()["b"]))
        output = nets.decoder(a)
        errors.append(
            torch.nn.functional.binary_cross_entropy_with_logits(output, IMAGES, reduction="none")
            .flatten(1)
            .sum(1)
        )
    log_b, errors = torch.stack(log_b, dim=1), torch.stack(errors, dim=1)
    weights = (log_a + log_b).softmax(1)
    torch.testing.assert_close(found.reconstruction, (weights * errors).sum(1))
    torch.testing.assert_close(found.log_told, (log_a.exp() * log_b).sum(1))


def test_without_labels_classes_are_summed_over_as_in_m2():
    method, nets = made("q(a|image) q(z|image,a)")
    torch.manual_seed(1)
    found = method.bounds(nets, IMAGES)
    torch.manual_seed(1)
    log_q = nets.recognised(nets.made.among["a"], {"image": nets.encoder(IMAGES)}).log_softmax(1)
    # The same noise for every class, as the method has it.
    each = []
    for k in range(3):
        torch.manual_seed(1)
        each.append(method.bounds(nets, IMAGES, {"a": one_hot(torch.full((6,), k), 3)}).total)
    bounds = torch.stack(each, dim=1)
    unlabelled, _ = marginal_bound(log_q, bounds)
    torch.testing.assert_close(found.total.mean(), unlabelled)
    assert (found.total >= -(-bounds).logsumexp(1) - 1e-4).all()
    # A class that is certain leaves its own bound.
    index = nets.made.among.names.index("a")
    nets.recognised.layers[index][-1].bias.data += torch.tensor([0.0, 1e4, 0.0])
    torch.manual_seed(1)
    torch.testing.assert_close(method.bounds(nets, IMAGES).total, bounds[:, 1])


def test_more_classes_than_are_summed_over_are_drawn():
    method, nets = made("q(z|image) q(a|image,z)", enumerated=2)
    shown = []
    nets.decoder.register_forward_pre_hook(lambda _, given: shown.append(given[0]))
    found = method.bounds(nets, IMAGES)
    assert found.total.isfinite().all()
    assert len(shown[0]) == len(IMAGES), "one line for each image"
    among = nets.made.among
    a = shown[0][:, 2:] if among.shown[0] == "z" else shown[0][:, :3]
    torch.testing.assert_close(a.sum(1), torch.ones(6))
    assert ((a > 0.01) & (a < 0.99)).any(), "relaxed"
    found.total.sum().backward()
    index = among.names.index("a")
    assert nets.recognised.layers[index][0].weight.grad.abs().sum() > 0


def test_draws_before_a_summed_class_are_shared_by_its_values():
    method, nets = made("q(z|image) q(a|image,z)")
    shown = []
    nets.decoder.register_forward_pre_hook(lambda _, given: shown.append(given[0]))
    method.bounds(nets, IMAGES)
    z = shown[0][:, :2].view(6, 3, 2)
    assert torch.equal(z[:, 0], z[:, 1])
    assert torch.equal(z[:, 0], z[:, 2])
    torch.testing.assert_close(shown[0][:, 2:].view(6, 3, 3), torch.eye(3).expand(6, 3, 3))


def test_labels_may_be_missing_one_by_one():
    method, nets = made("q(z|image) q(a|image,z) q(n[number]|image) q(c|image)")
    nan = float("nan")
    labels = torch.tensor([[2, nan, 0.5], [nan, 4, nan], [0, nan, 0.25], [nan, nan, nan]])
    found = {
        tuple(rows.tolist()): values
        for rows, values in by_what_is_told(nets.made.among, method.observed, labels)
    }
    assert {rows: set(values) for rows, values in found.items()} == {
        (0, 2): {"a", "c"},
        (1,): {"n"},
        (3,): set(),
    }
    assert found[0, 2]["a"].argmax(1).tolist() == [2, 0]
    # Numbers have mean 0 and deviation 1 if all values are as frequent.
    assert found[(1,)]["n"].item() == pytest.approx(math.sqrt(3))
    torch.testing.assert_close(found[0, 2]["c"][:, 0], torch.tensor([0, -math.sqrt(3) / 2]))
    batch = LabelledBatch(
        IMAGES[:4], 50, labels=labels, labelled=20, unlabelled=Batch(IMAGES[4:], 50)
    )
    (turn,) = method.turns(nets, batch, 0)
    t = turn.loss.terms
    expected = 0.6 * t["unlabelled_bound"] + 0.4 * t["labelled_bound"] + 10 * t["labels"]
    torch.testing.assert_close(turn.loss.total, expected)


def test_classes_that_wait_learn_from_labels_alone():
    method, nets = made("q(z|image) q(a|image,z)")
    method.bounds(nets, IMAGES, classes_wait=True).total.sum().backward()
    index = nets.made.among.names.index("a")
    assert all(p.grad is None for p in nets.recognised.layers[index].parameters())


def test_weights_may_pass_no_gradient_on():
    grads = []
    for stopped in (False, True):
        method, nets = made("q(z|image) q(b|image,z)", detach_weights=stopped)
        torch.manual_seed(1)
        method.bounds(nets, IMAGES, told(), draws=4).reconstruction.sum().backward()
        index = nets.made.among.names.index("b")
        grads.append(nets.recognised.layers[index][0].weight.grad)
    assert grads[0].abs().sum() > 0
    assert grads[1] is None


LIT = "q(r|image) q(n[number]|image) q(a|image) q(s|n,a) p(s|n,a) p(image|r,s)"


def test_a_code_holds_what_was_made_of_others_as_the_distance_from_what_they_say():
    method, nets = made(LIT)
    codes = method.encode(nets, IMAGES)
    assert codes.shape == (6, 8)
    features = {"image": nets.encoder(IMAGES)}
    among = nets.made.among
    n, r = (gaussian(among[v], nets.recognised(among[v], features)).mean for v in "nr")
    chances = nets.recognised(among["a"], features).softmax(1)
    seen = {"n": n, "a": one_hot(chances.argmax(1), 3)}
    s = gaussian(among["s"], nets.recognised(among["s"], seen)).mean
    torch.testing.assert_close(
        method.decode(nets, codes), nets.decoder(torch.cat([r, s], dim=1)).sigmoid()
    )
    # Light changes what is shown although the image is made of reflectance and shading alone.
    first = sum(v.size for v in among.variables[: among.names.index("n")])
    moved = codes.clone()
    moved[:, first] += 1
    assert (method.decode(nets, moved) - method.decode(nets, codes)).abs().max() > 1e-4


def test_what_labels_tell_is_swapped_and_the_latents_stay():
    method, nets = made("q(z|image) q(a|image)")
    codes = method.encode(nets, IMAGES)
    assert nets.made.among.names == ("z", "a")
    mixed = torch.cat([codes[3:, :2], codes[:3, 2:]], dim=1)
    torch.testing.assert_close(
        method.swap(nets, IMAGES[:3], IMAGES[3:]), method.decode(nets, mixed)
    )


def test_codes_of_the_prior_follow_what_is_made_of_what():
    method, nets = made("q(z|image) q(a|image) q(b|image) p(b|a)")
    index = nets.made.among.names.index("b")
    layers = nets.made.layers[index]
    layers[0].weight.data.zero_()
    layers[0].bias.data.fill_(1)
    layers[0].weight.data[0, 0] = 100  # a = 0 turns on a unit that makes b = 1
    layers[2].weight.data.zero_()
    layers[2].weight.data[1, 0] = 1
    layers[2].bias.data = torch.tensor([30.0, 0.0])
    codes = method.sample_prior(nets, 400)
    a, b = codes[:, 2:5].argmax(1), codes[:, 5:].argmax(1)
    assert set(a.tolist()) == {0, 1, 2}
    assert torch.equal(b, (a == 0).long())


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_structure_of_faces_trains_on_data_with_its_columns(name, tmp_path):
    rows = np.arange(60)
    lights = {"faces": ("light_azimuth", "light_elevation"), "yale_b": ("azimuth", "elevation")}
    columns = {"person": rows % 4}
    columns |= {light: rows // (4 + 3 * i) % 3 for i, light in enumerate(lights[name])}
    images = np.random.default_rng(0).integers(0, 256, size=(60, 8, 8), dtype=np.uint8)
    data = from_arrays(images, columns)
    method = GeneralisedM2(structure=name, latent_dim=2, hidden=8, labels=20)
    config = Train(method=method, data="arrays", steps=2, batch_size=8)
    run = loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert set(run.config.method.observed) == set(columns)
    assert run.config.method.structure == name
    parts = {u.factor: u.kind for u in run.code.units if u.factor}
    assert parts == {"person": "category"} | dict.fromkeys(lights[name], "number")
    assert run.code.size == 2 + 2 + 4 + 2
    assert run.swap(data.images([0, 1]), data.images([2, 3])).shape == (2, 1, 8, 8)


def test_without_a_structure_the_class_is_recognised_in_image_and_latent(toy):
    method = GeneralisedM2().settled(10, toy)
    assert method.structure == "q(z|image) q(side|image,z)"
    assert method.observed == ("side",)
    named = replace(method, structure="q(z|image) q(x|image,z) q(y|image)", observed=())
    assert named.settled(10, toy).observed == ("x", "y")


def test_data_and_settings_that_do_not_fit_are_refused(tmp_path, toy):
    data = from_arrays(np.zeros((9, 8, 8), dtype=np.uint8))
    config = Train(method=GeneralisedM2(), data="arrays", steps=2)
    with pytest.raises(DataError, match=r"[^\n]*\n    file,label\n    001.png,cat"):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    strange = GeneralisedM2(structure="q(z|image) q(side|image)", observed=("shape",))
    with pytest.raises(ConfigError, match="'shape' must be a variable of the structure"):
        strange.networks(MLP64(), toy.summary)
    with pytest.raises(ConfigError, match="a structure is written"):
        GeneralisedM2(structure="face")
    with pytest.raises(ConfigError, match="draws must be 1 or more, found 0"):
        GeneralisedM2(draws=0)
    with pytest.raises(ConfigError, match="temperature must be above 0"):
        GeneralisedM2(temperature=0.0)
