"""Names that go away warn first."""

import warnings

import pytest

from unweave.cli import main
from unweave.deprecation import UnweaveDeprecationWarning, deprecated, renamed_argument
from unweave.errors import ConfigError


@deprecated(since="0.3", removed_in="0.5", instead="double")
def twice(number: int, *, plus: int = 0) -> int:
    """Return twice a number."""
    return 2 * number + plus


@renamed_argument("factor", "factors", since="0.3", removed_in="0.5")
def count(codes: list[int], factors: int = 1) -> int:
    """Return how many."""
    return len(codes) * factors


def test_a_deprecated_function_works_and_says_what_to_use():
    with pytest.warns(UnweaveDeprecationWarning, match=r"twice is deprecated since unweave 0\.3"):
        assert twice(3, plus=1) == 7
    assert twice.__name__ == "twice"
    assert "use double" in twice.__doc__


def test_the_warning_points_at_the_caller():
    with pytest.warns(UnweaveDeprecationWarning) as caught:
        twice(1)
    assert caught[0].filename == __file__


def test_an_argument_is_taken_by_its_old_name():
    with pytest.warns(UnweaveDeprecationWarning, match=r"factor of count is called factors"):
        assert count([1, 2], factor=3) == 6


def test_the_new_name_is_quiet_and_both_at_once_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count([1, 2], factors=3) == 6
        assert count([1, 2], 3) == 6
    with pytest.raises(ConfigError, match="found both factor and factors"):
        count([1], factor=1, factors=2)


def test_users_see_it_by_default_and_the_command_line_in_a_line(monkeypatch, capsys):
    assert issubclass(UnweaveDeprecationWarning, FutureWarning)
    from unweave.cli import _list

    def run(words: list[str]) -> int:
        return twice(0)

    monkeypatch.setattr(_list, "run", run)
    assert main(["list"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("warning: twice is deprecated")
    assert said.count("\n") == 1
