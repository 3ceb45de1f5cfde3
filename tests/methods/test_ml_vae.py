"""Content of groups, style of images, in ML-VAE and GVAE alike."""

import numpy as np
import pytest
import torch

from unweave.batches import Groups
from unweave.data import from_arrays
from unweave.errors import ConfigError, DataError
from unweave.evaluation.probes import Leakage, accuracy_of_evidence, leakage
from unweave.methods.gvae import GVAE
from unweave.methods.lord import LORD
from unweave.methods.m2 import M2
from unweave.methods.ml_vae import MLVAE
from unweave.methods.vae import VAE
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run
from unweave.training import loop

METHODS = [MLVAE, GVAE]
SMALL = {"latent_dim": 2, "content_dim": 3}


def set_up(method, toy):
    torch.manual_seed(0)
    return method.networks(MLP64(hidden=16), toy.summary)


def images(toy, rows) -> torch.Tensor:
    return torch.from_numpy(toy.images(np.asarray(rows)))


def run_of(method, toy) -> Run:
    config = Train(method=method, data="toy_xys", architecture=MLP64(hidden=16))
    return Run(config, toy.summary, set_up(method, toy), step=0, data=toy)


@pytest.mark.parametrize("method", METHODS)
def test_groups_of_one_image_have_the_loss_of_a_vae(toy, method):
    plain = VAE(latent_dim=5)
    grouped = method(group_size=1, **SMALL)
    nets = set_up(grouped, toy)
    batch = grouped.supervision.draw(toy, 8, np.random.default_rng(0))
    found = grouped.loss(nets, batch, 0)
    rate = plain.posterior(nets, batch.images).kl_to_prior().sum(1).mean()
    torch.testing.assert_close(found.terms["kl_style"] + found.terms["kl_content"], rate)
    total = found.terms["reconstruction"] + rate
    torch.testing.assert_close(found.total, total)


@pytest.mark.parametrize("method", METHODS)
def test_the_kl_of_the_content_counts_once_for_a_group(toy, method):
    grouped = method(group_size=4, beta=2, **SMALL)
    nets = set_up(grouped, toy)
    batch = grouped.supervision.draw(toy, 8, np.random.default_rng(0))
    found = grouped.loss(nets, batch, 0)
    rate = found.terms["kl_style"] + found.terms["kl_content"] / 4
    torch.testing.assert_close(found.total, found.terms["reconstruction"] + 2 * rate)
    first = grouped.accumulate(nets, batch.images[:4])
    second = grouped.accumulate(nets, batch.images[4:])
    each = torch.stack([q.kl_to_prior().sum() for q in (first, second)])
    torch.testing.assert_close(found.terms["kl_content"], each.mean())


def test_evidence_narrows_the_product_and_not_the_average(toy):
    rows = np.arange(2, 1024, 128)
    for method, narrower in ((MLVAE(**SMALL), True), (GVAE(**SMALL), False)):
        nets = set_up(method, toy)
        variance = [method.accumulate(nets, images(toy, rows[:k])).variance for k in (1, 2, 8)]
        if narrower:
            assert (variance[2] < variance[1]).all()
            assert (variance[1] < variance[0]).all()
        content, _ = method.split(method.posterior(nets, images(toy, rows)))
        assert (variance[2] <= content.variance.amax(0)).all()
        if not narrower:
            assert (variance[2] >= content.variance.amin(0)).all()
        one = method.accumulate(nets, images(toy, rows[:1]))
        torch.testing.assert_close(one.mean[0], content.mean[0])


@pytest.mark.parametrize("method", METHODS)
def test_evidence_does_not_depend_on_the_order_of_images(toy, method):
    made = method(**SMALL)
    nets = set_up(made, toy)
    shown = images(toy, [2, 300, 600])
    forth, back = made.accumulate(nets, shown), made.accumulate(nets, shown.flip(0))
    torch.testing.assert_close(forth.mean, back.mean)
    torch.testing.assert_close(forth.logvar, back.logvar)


def test_content_is_drawn_once_for_a_group_or_for_each_image(toy):
    for noise, same in (("group", True), ("image", False)):
        method = MLVAE(content_noise=noise, **SMALL)
        nets = set_up(method, toy)
        shared = method.accumulate(nets, images(toy, [1, 2]))
        drawn = method.draw_content(shared, 2)
        assert drawn.shape == (2, 3)
        assert torch.equal(drawn[0], drawn[1]) == same


@pytest.mark.parametrize("method", METHODS)
def test_a_swap_takes_content_and_style_where_told(toy, method):
    made = method(**SMALL)
    nets = set_up(made, toy)
    one, two = images(toy, [0, 1]), images(toy, [700, 900])
    parts = made.code(nets, toy.summary).roles
    codes = made.encode(nets, one).clone()
    codes[:, parts["style"]] = made.encode(nets, two)[:, parts["style"]]
    torch.testing.assert_close(made.swap(nets, one, two), made.decode(nets, codes))
    torch.testing.assert_close(made.swap(nets, one, one), made.decode(nets, made.encode(nets, one)))


def test_the_authors_noise_is_the_default_of_each():
    assert MLVAE().content_noise == "image"
    assert GVAE().content_noise == "group"


def test_settings_reach_the_batches():
    assert MLVAE(group="x", group_size=7).supervision == Groups("x", 7)
    with pytest.raises(ConfigError, match="group_size must be 1 or more"):
        GVAE(group_size=0)


def test_data_without_groups_are_refused_before_a_folder_is_made(tmp_path):
    data = from_arrays(np.zeros((4, 32, 32), np.uint8))
    config = Train(method=MLVAE(), data="arrays", steps=1)
    with pytest.raises(DataError, match="neither a column 'group'"):
        loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert not (tmp_path / "run").exists()


def test_a_probe_finds_the_class_where_it_is_and_only_there(toy):
    """Codes made by hand: the side in the content, x and y in the style."""
    run = run_of(GVAE(latent_dim=2, content_dim=1), toy)
    run.encode_rows = lambda rows: toy.factors(rows)[:, [2, 0, 1]].astype(np.float32)
    found = leakage(run)
    assert found.column == "side"
    assert found.chance == pytest.approx(0.25)
    assert found.accuracy["content"] == 1
    assert abs(found.accuracy["style"] - 0.25) < 0.1
    assert abs(found.linear["style"] - 0.25) < 0.1
    assert "side read off content 1.000" in str(found)
    assert leakage(run, "x").accuracy["style"] > 0.9


def test_a_class_that_shows_only_beside_what_else_is_drawn_is_found_given_all_else(toy):
    """A style of side plus x names neither alone, and with x known names the side."""
    run = run_of(GVAE(latent_dim=1, content_dim=1), toy)

    def codes(rows: np.ndarray) -> np.ndarray:
        x, _, side = toy.factors(rows).T
        return np.stack([side, (side + x) % 4], axis=1).astype(np.float32)

    run.encode_rows = codes
    found = leakage(run)
    assert abs(found.accuracy["style"] - 0.25) < 0.1
    assert found.conditional["style"] > 0.3
    assert "given all else +" in str(found)


def test_an_accuracy_below_chance_departs_from_it_as_one_above_does() -> None:
    """Naming every class wrong on purpose takes knowing it."""
    of = {"style": 0.1}
    below = Leakage("side", 0.25, of, of, of, {"style": 0.0}, judged=2_000)
    assert below.departs("style")
    assert str(below).count("below chance") == 1
    near = Leakage("side", 0.25, {"style": 0.24}, of, of, {"style": 0.0}, judged=2_000)
    assert not near.departs("style")
    assert "below chance" not in str(near)


def test_a_class_that_noise_hides_is_found_in_means_and_not_in_draws(toy):
    """A style far below its noise, as a decoder sees it, has nothing to say."""
    run = run_of(GVAE(latent_dim=1, content_dim=1), toy)

    def codes(shown: np.ndarray, seed: int | None = None) -> np.ndarray:
        side = np.sqrt(shown.sum((1, 2, 3)))
        style = side / 10
        if seed is not None:
            style = style + np.random.default_rng(seed).standard_normal(len(side))
        return np.stack([side, style], axis=1)

    run.encode_rows = lambda rows: codes(toy.images(rows))
    run.draw_codes = codes
    found = leakage(run)
    assert found.accuracy["style"] > 0.9
    assert abs(found.drawn["style"] - 0.25) < 0.12
    assert found.drawn["content"] == 1
    assert f"style {found.accuracy['style']:.3f} (linear" in str(found)
    assert f"drawn {found.drawn['style']:.3f}," in str(found)


@pytest.mark.parametrize(
    "method", [GVAE(group="kind"), LORD(class_column="kind"), M2(label="kind"), M2()]
)
def test_the_class_is_by_default_what_the_method_was_told(method):
    """Groups of such data would share the column group."""
    n = np.arange(40)
    told = "label" if method == M2() else "kind"
    table = {told: n % 2, "group": n // 20, "size": n % 5}
    data = from_arrays(np.random.default_rng(0).integers(0, 255, (40, 8, 8), np.uint8), table)
    assert leakage(run_of(method, data)).column == told
    assert leakage(run_of(method, data), "size").column == "size"


def test_more_images_are_better_evidence(toy):
    """A content that is the side with noise on it, which averages out."""
    run = run_of(GVAE(**SMALL), toy)
    noise = np.random.default_rng(0)

    def noisy_side(shown: np.ndarray) -> np.ndarray:
        side = np.sqrt(shown.sum((1, 2, 3)))
        return (side + 4 * noise.standard_normal(len(shown))).mean(keepdims=True)

    run.accumulate = noisy_side
    assert accuracy_of_evidence(run, 10) > accuracy_of_evidence(run, 1) + 0.2


def test_methods_without_content_have_no_leakage(toy):
    with pytest.raises(ConfigError, match="does not tell content from style"):
        leakage(run_of(VAE(latent_dim=2), toy))
    with pytest.raises(ConfigError, match="does not tell content from style"):
        run_of(VAE(latent_dim=2), toy).accumulate(toy.images([0]))
