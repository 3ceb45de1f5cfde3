"""Names are files, and a wrong name suggests the right one."""

import pytest

from unweave import catalog
from unweave.errors import ConfigError
from unweave.methods.beta_vae import BetaVAE


def test_entries_are_the_files_without_underscore():
    assert {"vae", "beta_vae", "annealed_vae"} <= set(catalog.names("unweave.methods"))
    assert not [name for name in catalog.names("unweave.methods") if name.startswith("_")]


def test_an_instance_knows_its_name():
    assert catalog.name_of(BetaVAE()) == catalog.name_of(BetaVAE) == "beta_vae"


@pytest.mark.parametrize(
    ("wrong", "meant"), [("beta-vae", "beta_vae"), ("BetaVAE", "beta_vae"), ("dsprite", "dsprites")]
)
def test_near_matches_are_named(wrong, meant):
    with pytest.raises(ConfigError, match=f"'{meant}'"):
        catalog.check_name(wrong, ["beta_vae", "dsprites", "mig"], "thing")


def test_far_names_get_the_list():
    with pytest.raises(ConfigError, match="Known: a, b"):
        catalog.check_name("zzzz", ["a", "b"], "thing")
