"""Codes that the explorer keeps: the same as those it would encode, and encoded once."""

import os

import numpy as np
import pytest

from unweave import views
from unweave.errors import DataError
from unweave.explorer import open_runs, page_data
from unweave.explorer.open_runs import Library, kept_sample


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "codes"


def opened(runs):
    return Library(runs).open("vae-s0").run


def assert_same(one: views.CodeSample, two: views.CodeSample) -> None:
    for name in ("rows", "codes", "factors"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.posterior, two.posterior)
    assert one.prior == two.prior


def test_kept_codes_are_those_of_the_run_and_encoded_once(runs, cache, monkeypatch):
    run = opened(runs)
    fresh = views.sample_codes(run)
    assert_same(kept_sample(run), fresh)
    assert len(list(cache.glob("*.npy"))) == 1

    def encoded_again(*args):
        raise AssertionError("encoded again")

    monkeypatch.setattr(views, "sample_codes", encoded_again)
    assert_same(kept_sample(run), fresh)


def test_new_weights_are_encoded_anew(runs, cache):
    run = opened(runs)
    kept_sample(run)
    facts = run.folder.networks_file.stat()
    os.utime(run.folder.networks_file, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    try:
        kept_sample(run)
    finally:
        os.utime(run.folder.networks_file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert len(list(cache.glob("*.npy"))) == 2


def test_without_room_codes_are_shown_all_the_same(runs, cache, monkeypatch):
    def full(*args):
        raise DataError("no room")

    monkeypatch.setattr(open_runs, "cached_array", full)
    run = opened(runs)
    assert_same(kept_sample(run), views.sample_codes(run))


def test_sliders_come_before_any_image_is_encoded(runs, cache, monkeypatch):
    opened = Library(runs).open("vae-s0")

    def encoded(*args):
        raise AssertionError("encoded")

    with monkeypatch.context() as patch:
        patch.setattr(views, "sample_codes", encoded)
        quick = page_data.latents(opened, quick=True)
    assert quick["is_quick"]
    whole = page_data.latents(opened)
    assert not whole["is_quick"]
    assert quick.keys() == whole.keys()
    assert {unit["first"] for unit in quick["units"]} == {unit["first"] for unit in whole["units"]}
    record = list(opened.run.folder.record())
    np.testing.assert_allclose(quick["kl"], views.kl_over_time(record).kl[-1])
    # Once codes are kept, they are what is told, also to another explorer.
    again = Library(runs).open("vae-s0")
    assert not page_data.latents(again, quick=True)["is_quick"]


def test_a_decoder_is_exported_once_for_the_same_weights(runs, cache, monkeypatch):
    first = Library(runs).open("vae-s0").decoder
    assert len(list((cache.parent / "decoders").iterdir())) == 1

    def exported_again(run):
        raise AssertionError("exported again")

    with monkeypatch.context() as patch:
        patch.setattr(open_runs, "decoder_to_onnx", exported_again)
        assert Library(runs).open("vae-s0").decoder == first
    # Other weights are another decoder.
    assert Library(runs).open("study/vae-s1").decoder != first
    assert len(list((cache.parent / "decoders").iterdir())) == 2
