"""A model in one sentence, checked on models whose codes are known."""

import zlib

import numpy as np

import known_models
from unweave import views
from unweave.runs.wrapped import wrap


def test_latents_that_are_factors_are_called_so(toy):
    found = views.caption(known_models.separated(toy))
    assert found.text == "z0 is x; z1 is y; z2 is side."
    assert found.names == {0: "x", 1: "y", 2: "side"}
    assert found.rows == 1024


def test_a_latent_that_mixes_is_said_to_and_not_named(toy):
    def encode(images: np.ndarray) -> np.ndarray:
        x, y, side = known_models.standard(images)[:, :3].T
        return np.stack([x + 0.01 * y, y + 1.2 * side, np.zeros_like(x)], axis=1)

    found = views.caption(wrap(encode, toy, name="mixed"))
    assert "z0 is x" in found.text
    assert "mixes" in found.text
    assert found.names == {0: "x"}


def test_two_latents_of_one_factor_are_told_apart(toy):
    def encode(images: np.ndarray) -> np.ndarray:
        x = known_models.standard(images)[:, 0]
        return np.stack([x, 0.5 * np.floor(x)], axis=1)

    found = views.caption(wrap(encode, toy, name="twice"))
    assert found.text == "z0 is x; z1 is x in part; no latent knows y and side."
    assert found.names == {0: "x 1", 1: "x 2"}


def test_a_dead_code_and_noise_are_said_to_say_nothing(toy):
    dead = views.caption(wrap(lambda images: np.zeros((len(images), 2)), toy, name="dead"))
    assert (dead.text, dead.names) == ("No latent carries anything.", {})

    def noise(images: np.ndarray) -> np.ndarray:
        drawn = [np.random.default_rng(int(image.sum() * 7919)).normal() for image in images]
        return np.stack([drawn, drawn[::-1]], axis=1)

    found = views.caption(wrap(noise, toy, name="noise"))
    assert "x" not in found.names.values()
    assert "no latent knows" in found.text


def test_one_latent_has_nothing_to_be_compared_with(toy):
    found = views.caption(wrap(lambda images: known_models.standard(images)[:, :1], toy, name="x"))
    assert found.text.startswith("1 latent carries something; it cannot be said what: ")
    assert found.names == {}


def test_of_many_latents_those_that_carry_most_are_told_one_by_one(toy):
    def encode(images: np.ndarray) -> np.ndarray:
        x, y = known_models.standard(images)[:, :2].T
        seeds = [zlib.crc32(image.tobytes()) for image in images]
        drawn = [np.random.default_rng(seed).normal(size=12) for seed in seeds]
        return np.concatenate([[x * (20 - i) for i in range(11)], [y], np.transpose(drawn)]).T

    found = views.caption(wrap(encode, toy, name="many"))
    parts = found.text.removesuffix(".").split("; ")
    assert parts[:2] == ["z0 is x", "z1 is x in part"]
    assert parts[10:] == [
        "2 further latents know factors too",
        "12 latents follow no factor",
        "no latent knows side",
    ]
    assert len(found.names) == 12, "all can be named"
