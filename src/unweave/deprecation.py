"""How names go away: two decorators that warn for a while before anything breaks.

docs/versioning.md is the policy. Both say since when, what to write instead, and when the old
form stops; the command line shows what they say as one line.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from unweave.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")


class UnweaveDeprecationWarning(FutureWarning):
    """Something of unweave that a later version will not have.

    A FutureWarning, because Python hides DeprecationWarning from the users it concerns.
    """


def deprecated(
    *, since: str, removed_in: str, instead: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function that goes away; it works as before and says what to call instead.

    @deprecated(since="0.3", removed_in="0.5", instead="uw.evaluate")
    def score_run(run): ...
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        message = (
            f"{function.__qualname__} is deprecated since unweave {since} and will be gone in "
            f"{removed_in}; use {instead}"
        )

        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> R:
            warnings.warn(message, UnweaveDeprecationWarning, stacklevel=2)
            return function(*arguments, **named)

        call.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\nDeprecated: {message}."
        return call

    return mark


def renamed_argument(
    old: str, new: str, *, since: str, removed_in: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let an argument be given by its old name too, with a warning; by both it is refused.

    @renamed_argument("factor", "factors", since="0.3", removed_in="0.5")
    def mig(codes, factors): ...
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> R:
            given: dict[str, Any] = dict(named)
            if old in given:
                if new in given:
                    raise ConfigError(
                        f"{function.__qualname__}: found both {old} and {new}, which are one "
                        f"argument; give {new} alone"
                    )
                warnings.warn(
                    f"{old} of {function.__qualname__} is called {new} since unweave {since}; "
                    f"the old name will be gone in {removed_in}",
                    UnweaveDeprecationWarning,
                    stacklevel=2,
                )
                given[new] = given.pop(old)
            return function(*arguments, **given)

        return call

    return mark
