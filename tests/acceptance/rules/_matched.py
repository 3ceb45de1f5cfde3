"""The rule of methods that match codes to the prior: near it, and images are kept."""

from collections.abc import Callable

from rules._covariance import ERROR
from rules._measures import distance_to_prior, drawn_codes, scatter, squared_error
from rules._rule import Checks, Columns, Finding, Measure, Rule
from rules._training import squares, train, untrained
from unweave.methods import Method
from unweave.runs.run import Run


def finding(run: Run) -> Finding:
    numbers = {"MMD²": distance_to_prior(run), "squared error": squared_error(run)}
    return Finding(numbers, scatter(drawn_codes(run), squares().factors()[:, 2]))


def matched(
    covers: str,
    method: Method,
    unmatched: Method,
    *,
    what: str,
    unmatched_is: str,
    broken: dict[str, Callable[[int], Run]],
    share: float = 0.2,
    steps: int = 1500,
) -> Rule:
    """Return the rule that codes are nearer to the prior than those of a method that does less."""

    def trained(chosen: Method) -> Measure:
        return lambda seed: finding(train(chosen, seed=seed, steps=steps))

    def checks(own: Columns, others: dict[str, Columns]) -> Checks:
        reference = others[unmatched_is]
        return {
            f"MMD² < {share:.2g} of {unmatched_is}": bool(
                (own["MMD²"] < share * reference["MMD²"]).all()
            ),
            f"squared error < {ERROR}": bool((own["squared error"] < ERROR).all()),
        }

    def of(make: Callable[[int], Run]) -> Measure:
        return lambda seed: finding(make(seed))

    return Rule(
        covers=(covers,),
        claim=f"{what}, each seed: MMD² of drawn codes and prior below {share:.2g} of that of "
        f"{unmatched_is}; squared error of reconstructions below {ERROR}, where the mean image "
        "has 79",
        method=trained(method),
        saboteurs={
            unmatched_is: trained(unmatched),
            "untrained": lambda seed: finding(untrained(method, seed=seed)),
            **{name: of(make) for name, make in broken.items()},
        },
        references={unmatched_is: trained(unmatched)},
        checks=checks,
        picture="Drawn codes of all images, first two dimensions; the prior is a disc of "
        "deviation 1. The colour is the side of the square.",
    )
