"""Settings as plain data and back, with messages that name the setting."""

import json
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.errors import ConfigError
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.factor_vae import FactorVAE
from unweave.networks.conv64 import Conv64
from unweave.runs.config import Train, from_json, to_json
from unweave.settings.optimizers import SGD, Adagrad, Adam, RMSProp
from unweave.settings.plain import changed_from_default, differing, flat, from_plain, to_plain
from unweave.settings.schedules import Schedule, constant


@dataclass(frozen=True)
class Inner:
    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    count: int
    kind: Literal["a", "b"] = "a"
    inner: Inner = Inner()
    sizes: tuple[int, ...] = (1, 2)
    pair: tuple[float, float] = (0.0, 1.0)
    weight: Schedule = constant(1)
    maybe: Schedule | None = None
    on: bool = False


def test_a_round_trip_changes_nothing():
    settings = Outer(3, "b", Inner(0.1), (4,), (0.2, 0.3), Schedule(0, 4, 100), constant(2), True)
    plain = json.loads(json.dumps(to_plain(settings)))
    assert from_plain(Outer, plain, "outer") == settings


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({}, "outer.count is missing"),
        ({"count": "3"}, "outer.count: expected a whole number, found '3'"),
        ({"count": 1.5}, "outer.count: expected a whole number"),
        ({"count": True}, "outer.count: expected a whole number"),
        ({"count": 1, "kid": "a"}, "no setting 'kid'. Did you mean 'kind'"),
        ({"count": 1, "kind": "c"}, "outer.kind"),
        ({"count": 1, "inner": {"rate": "fast"}}, "outer.inner.rate: expected a number"),
        ({"count": 1, "inner": {"rate": float("nan")}}, "outer.inner.rate: expected a finite"),
        ({"count": 1, "sizes": [1, "x"]}, r"outer.sizes\[1\]"),
        ({"count": 1, "pair": [1]}, "outer.pair: expected 2 values"),
        ({"count": 1, "weight": "0:4"}, "outer.weight: expected a number or START:END:STEPS"),
        ({"count": 1, "on": 1}, "outer.on: expected true or false"),
        ([], "outer: expected a table"),
    ],
)
def test_wrong_settings_are_named_by_their_path(plain, message):
    with pytest.raises(ConfigError, match=message):
        from_plain(Outer, plain, "outer")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["method", "data", "steps", "seed", "x"]), JSON) | JSON)
def test_any_json_gives_settings_or_an_error_of_ours(plain):
    try:
        config = from_json(plain)
    except ConfigError:
        return
    assert from_json(to_json(config)) == config


@given(JSON)
def test_any_value_of_a_method_setting_gives_settings_or_an_error_of_ours(value):
    for name in ("beta", "latent_dim", "likelihood", "optimizer", "pixel_scale"):
        try:
            from_json({"method": {"name": "beta_vae", name: value}, "data": "toy_xys"})
        except ConfigError:
            continue


def test_only_what_differs_from_the_defaults_names_a_run():
    """So a field that a later version adds leaves the names of runs as they are."""
    assert changed_from_default(Outer(count=1)) == {"count": 1}
    nested = Outer(count=1, kind="b", inner=Inner(rate=2.0), sizes=(3,))
    expected = {"count": 1, "kind": "b", "inner": {"rate": 2.0}, "sizes": [3]}
    assert changed_from_default(nested) == expected
    spelled_out = Train(
        method=BetaVAE(beta="4", optimizer=Adam(learning_rate=1e-4)), data="dsprites", steps=20_000
    )
    assert spelled_out.run_name == Train(method=BetaVAE(), data="dsprites").run_name
    warm = Train(method=BetaVAE(beta="0:4:100"), data="dsprites")
    assert warm.run_name != spelled_out.run_name


def test_nested_settings_are_one_table_of_paths():
    nested = {"a": 1, "b": {"c": [2], "d": {"e": None}}, "f": {}, "g.h": 3}
    assert flat(nested) == {"a": 1, "b.c": [2], "b.d.e": None, "f": {}, "g.h": 3}
    assert flat(nested, lambda table: "e" in table)["b.d"] == {"e": None}


def test_settings_differ_where_any_table_says_something_else():
    tables = [{"a": 1, "b": [2], "c": 3}, {"a": 1.0, "b": [2]}, {"a": 1, "b": [3], "d": None}]
    assert differing(tables) == ["b", "c"]
    assert differing([]) == []


@dataclass(frozen=True)
class Choosing:
    optimizer: Adam | SGD = SGD(0.5)


def test_a_choice_among_kinds_of_settings_is_stored_by_name():
    plain = json.loads(json.dumps(to_plain(Choosing(Adam(0.1)))))
    assert plain["optimizer"]["name"] == "adam"
    assert from_plain(Choosing, plain, "c") == Choosing(Adam(0.1))
    assert from_plain(Choosing, {"optimizer": "adam"}, "c") == Choosing(Adam())
    assert from_plain(Choosing, {"optimizer": {"name": "sgd"}}, "c") == Choosing(SGD())
    without_name = {"optimizer": {"learning_rate": 0.25}}
    assert from_plain(Choosing, without_name, "c") == Choosing(SGD(0.25))
    for wrong, message in (
        ({"optimizer": "adm"}, "c.optimizer: 'adm'. Did you mean 'adam'"),
        ({"optimizer": {"name": "sgd", "betas": [0, 0]}}, "c.optimizer: no setting 'betas'"),
        ({"optimizer": {"momentu": 0.1}}, "no setting 'momentu'. Did you mean 'momentum'"),
        ({"optimizer": None}, "c.optimizer: expected a name or a table"),
        ({"optimizer": {"name": 3}}, "c.optimizer: 3"),
    ):
        with pytest.raises(ConfigError, match=message):
            from_plain(Choosing, wrong, "c")


def test_settings_of_before_there_was_a_choice_of_optimizers_are_those_of_adam():
    """Also in a method whose usual optimizer is another one by now."""
    stored = {"learning_rate": 0.1, "betas": [0.5, 0.9], "weight_decay": 0.0, "warmup_steps": 0}
    assert from_plain(Choosing, {"optimizer": stored}, "c").optimizer == Adam(0.1, (0.5, 0.9))
    old = {"method": {"name": "beta_vae", "optimizer": stored}, "data": "toy_xys"}
    assert from_json(old).method.optimizer == Adam(0.1, betas=(0.5, 0.9))


def test_any_optimizer_survives_json_and_names_the_run():
    names = set()
    for optimizer in (Adam(0.1), SGD(0.1), RMSProp(0.1), Adagrad(0.1), SGD(0.1, momentum=0.9)):
        config = Train(method=BetaVAE(optimizer=optimizer), data="dsprites")
        assert from_json(json.loads(json.dumps(to_json(config)))) == config
        names.add(config.run_name)
    assert len(names) == 5


def test_names_of_runs_are_those_they_have_had():
    """Folders of runs and results of studies are found by these names."""
    plain = Train(method=BetaVAE(), data="dsprites")
    tuned = Train(method=BetaVAE(optimizer=Adam(1e-3, betas=(0.5, 0.9))), data="dsprites", steps=7)
    judged = Train(method=FactorVAE(discriminator_optimizer=Adam(1e-3)), data="toy_xys", seed=3)
    assert [config.run_name for config in (plain, tuned, judged)] == [
        "beta_vae-dsprites-65e71ab2-s0",
        "beta_vae-dsprites-75656902-s0",
        "factor_vae-toy_xys-797801b7-s3",
    ]


def test_the_run_name_is_readable_and_differs_with_any_setting():
    base = Train(method=BetaVAE(beta=4), data="dsprites", architecture=Conv64())
    assert base.run_name.startswith("beta_vae-dsprites-")
    assert base.run_name.endswith("-s0")
    others = [
        Train(method=BetaVAE(beta=5), data="dsprites", architecture=Conv64()),
        Train(method=BetaVAE(beta=4), data="dsprites", architecture=Conv64(), steps=7),
        Train(method=BetaVAE(beta=4, optimizer=Adam(1e-3)), data="dsprites", architecture=Conv64()),
    ]
    assert len({config.run_name for config in [base, *others]}) == 4
    assert "/" not in Train(method=BetaVAE(), data="some/folder: x").run_name


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"batch_size": 0}, {"seed": -1}, {"validation": 1.0}],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Train(method=BetaVAE(), data="toy_xys", **wrong)


def test_impossible_method_settings_are_refused():
    for wrong in ({"latent_dim": 0}, {"pixel_scale": 0.0}, {"beta": "fast"}, {"beta": "0:1:-5"}):
        with pytest.raises(ConfigError):
            BetaVAE(**wrong)
    with pytest.raises(ConfigError, match="learning rate"):
        Adam(learning_rate=0)
