"""Schedules are pure functions of the step."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.errors import ConfigError
from unweave.settings.optimizers import Adam
from unweave.settings.plain import to_plain
from unweave.settings.schedules import Schedule, constant

numbers = st.floats(-1e6, 1e6)


@given(numbers, numbers, st.integers(1, 10_000), st.integers(0, 5000), st.integers(0, 20_000))
def test_a_ramp_is_exact_at_its_ends_and_stays_between_them(start, end, steps, wait, step):
    ramp = Schedule(start, end, steps, wait)
    assert ramp.at(0) == ramp.at(wait) == start
    assert ramp.at(wait + steps) == end
    assert ramp.at(wait + steps + step) == end
    assert ramp.at(wait + step) == Schedule(start, end, steps).at(step)
    low, high = min(start, end), max(start, end)
    slack = 1e-9 * max(1, abs(low), abs(high))
    assert low - slack <= ramp.at(step) <= high + slack


def test_written_and_read():
    assert Schedule.parse("0:4:1000") == Schedule(0, 4, 1000)
    assert Schedule.parse(2) == Schedule.parse("2") == constant(2)
    assert str(Schedule(0, 4, 1000)) == "0:4:1000"
    assert str(constant(0.5)) == "0.5"
    late = Schedule(1, 5, 2500, wait=2000)
    assert Schedule.parse("1:5:2500:2000") == Schedule.parse(str(late)) == late
    assert late.times(2) == Schedule(2, 10, 2500, wait=2000)


def test_a_geometric_schedule_falls_by_equal_factors_and_is_written_and_read():
    fall = Schedule.parse("100:1:40:10:geometric")
    assert fall == Schedule(100, 1, 40, 10, "geometric") == Schedule.parse(str(fall))
    assert to_plain(fall) == "100:1:40:10:geometric"
    assert [fall.at(step) for step in (0, 10, 50, 99)] == [100, 100, 1, 1]
    assert fall.at(30) == pytest.approx(10)
    ratios = [fall.at(step + 1) / fall.at(step) for step in range(10, 50)]
    assert ratios == pytest.approx([0.01 ** (1 / 40)] * 40)
    assert fall.times(-2).at(30) == pytest.approx(-20)
    assert fall.times(0) == constant(0)
    assert Schedule.parse("100:1:40:geometric") != Schedule.parse("100:1:40")


def test_a_jump_keeps_its_wait_among_the_settings():
    assert to_plain(Schedule(1, 5, 0, 10)) == "1:5:0:10"


def test_a_wait_without_a_ramp_is_a_jump():
    jump = Schedule.parse("1:5:0:10")
    assert [jump.at(step) for step in (0, 9, 10, 11)] == [1, 1, 5, 5]
    assert Schedule.parse(str(jump)) == jump


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1:2",
        "1:2:3:4:5",
        "1:2:3:",
        "0:1:2:-1",
        "nan",
        "inf",
        "0:1:1e3",
        "0:1:-1",
        "0:1:9:geometric",
        "-1:1:9:geometric",
        "1:2:geometric",
        "geometric",
    ],
)
def test_what_is_not_a_schedule_is_refused(text):
    with pytest.raises(ConfigError):
        Schedule.parse(text)


def test_learning_rates_warm_up_and_decay():
    adam = Adam(1e-3, warmup_steps=10, decay_steps=100)
    assert adam.rate_at(0) == pytest.approx(1e-4)
    assert adam.rate_at(50) == pytest.approx(0.5e-3)
    assert adam.rate_at(100) == pytest.approx(0, abs=1e-12)
    assert Adam(1e-3).rate_at(10**9) == 1e-3
    late = Adam(1e-3, decay_steps=100, decay_after=40)
    assert [late.rate_at(step) for step in (0, 40)] == [1e-3, 1e-3]
    assert late.rate_at(70) == pytest.approx(0.5e-3)
    assert late.rate_at(100) == pytest.approx(0, abs=1e-12)
    for wrong in (-1, 100):
        with pytest.raises(ConfigError, match="decay_after"):
            Adam(1e-3, decay_steps=100, decay_after=wrong)
    assert all(math.isfinite(adam.rate_at(step)) for step in range(0, 300, 7))
