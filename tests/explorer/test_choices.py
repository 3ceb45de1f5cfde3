"""A category is one row of choices in the page, and each choice decodes as by the run."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from explored import TOKEN, Served, assert_same, canvas, decoded, settle

from plain_gan import PlainGAN
from unweave.catalog import plugins
from unweave.explorer.server import in_background
from unweave.methods import Part
from unweave.methods.info_gan import InfoGAN
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.training import loop

METHOD = InfoGAN(categories=(3,), latent_dim=1, noise_dim=2, discriminator_width=8)


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("choices") / "runs" / "gan"
    config = Train(
        method=METHOD, architecture=MLP64(hidden=16), data="toy_xys", steps=3, batch_size=8
    )
    return loop.start(config, toy, folder, Machine(evaluations=0))


@pytest.fixture(scope="module")
def served(run):
    with in_background(run.path.parent, TOKEN) as (port, _):
        yield Served(run.path.parent, port)


def test_a_category_is_one_unit_of_the_latents(served):
    latents = served.json("/runs/gan/latents.json")
    units = {unit["first"]: unit for unit in latents["units"]}
    assert sorted(units) == [0, 3]
    assert (units[0]["kind"], units[0]["size"], units[0]["label"]) == ("category", 3, "z0–z2")
    lines = served.json("/runs/gan/traversals.json?code=0,1,0,0.5")["lines"]
    assert {line["latent"]: len(line["values"]) for line in lines} == {0: 3, 3: 9}


def test_choosing_shows_what_the_run_decodes(page, served, run):
    page.goto(f"{served.address}/runs/gan?token={TOKEN}")
    page.wait_for_selector("html[data-ready]")
    settle(page, 1)
    choices = page.get_by_role("radiogroup", name="z0–z2").get_by_role("radio")
    assert choices.count() == 3
    slider = page.locator(".latents input[type=range]")
    assert slider.count() == 1
    slider.press("ArrowRight")  # to a value that the slider can say exactly
    number = float(slider.input_value())
    for choice in (2, 0):
        page.locator(".choices label").nth(choice).click()
        page.wait_for_timeout(500)
        assert choices.nth(choice).is_checked()
        code = np.append(np.eye(3)[choice], number).astype(np.float32)
        assert_same(canvas(page, ".decoded"), decoded(run, code))
    choices.nth(0).press("ArrowRight")
    assert choices.nth(1).is_checked(), "arrow keys go from choice to choice"


def test_a_generator_without_an_encoder_has_a_page(page, toy, tmp_path, plain_gan_is_known):
    config = Train(
        method=PlainGAN(latent_dim=1),
        architecture=MLP64(hidden=16),
        data="toy_xys",
        steps=3,
        batch_size=8,
    )
    run = loop.start(config, toy, tmp_path / "runs" / "gan", Machine(evaluations=1))
    with in_background(tmp_path / "runs", TOKEN) as (port, _):
        served = Served(tmp_path / "runs", port)
        latents = served.json("/runs/gan/latents.json")
        assert (latents["rows"], latents["kl"], latents["problem"]) == (0, None, None)
        assert served.ask("/runs/gan/row.json?row=0")[0] == 400
        page.goto(f"{served.address}/runs/gan?token={TOKEN}")
        page.wait_for_selector("html[data-ready]")
        settle(page, 1)
        page.locator(".choices label").nth(2).click()
        page.wait_for_timeout(500)
        drawn = run.prior_codes(1, 0)[0]
        drawn[:3] = [0, 0, 1]
        assert_same(canvas(page, ".decoded"), decoded(run, drawn))
        assert page.get_by_role("button", name="Random image").count() == 0
        page.goto("about:blank")  # before nobody answers it any more


@dataclass(frozen=True, kw_only=True)
class TurningGAN(PlainGAN):
    """The same with an angle in place of the category."""

    categories: int = 2

    def code_parts(self, nets, data):
        return Part(2, "angle"), Part(self.latent_dim)

    def sample_prior(self, nets, count):
        turn = 2 * math.pi * torch.rand(count, 1)
        numbers = torch.randn(count, self.latent_dim)
        return torch.cat([turn.cos(), turn.sin(), numbers], dim=1)


def test_an_angle_is_turned_by_a_dial(page, toy, tmp_path, plain_gan_is_known):
    plugins.add(TurningGAN)
    method = TurningGAN(latent_dim=40)
    config = Train(
        method=method, architecture=MLP64(hidden=16), data="toy_xys", steps=2, batch_size=8
    )
    run = loop.start(config, toy, tmp_path / "runs" / "gan", Machine(evaluations=0))
    with in_background(tmp_path / "runs", TOKEN) as (port, _):
        page.goto(f"http://127.0.0.1:{port}/runs/gan?token={TOKEN}")
        page.wait_for_selector("html[data-ready]")
        settle(page, 1)
        dial = page.get_by_role("slider", name="z0–z1")
        box = dial.bounding_box()
        # From the middle straight up is a quarter of a turn.
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 4)
        page.mouse.down()
        page.mouse.up()
        assert dial.get_attribute("aria-valuetext") == "90°"
        page.wait_for_timeout(400)
        code = run.prior_codes(1, 0)[0]
        code[:2] = [0, 1]
        assert_same(canvas(page, ".decoded"), decoded(run, code))
        for _ in range(3):
            dial.press("ArrowLeft")
        page.wait_for_timeout(400)
        code[:2] = [math.cos(math.radians(75)), math.sin(math.radians(75))]
        assert_same(canvas(page, ".decoded"), decoded(run, code))

        # Of forty lines only those in sight are drawn, the others when they are scrolled to.
        last = ".latent[data-latent='41'] .strip"
        assert canvas(page, last).max() == 0
        page.locator(last).scroll_into_view_if_needed()
        page.wait_for_timeout(700)
        slider = page.locator("input[type=range][data-latent='41']")
        code[41] = float(slider.get_attribute("min"))
        assert_same(canvas(page, last)[:, :32], decoded(run, code))
        page.goto("about:blank")
