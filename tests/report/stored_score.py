"""A score as a run folder keeps it."""

from typing import Any


def score(
    value: float, higher: bool = True, protocol: str = "locatello2019", **details: Any
) -> dict[str, Any]:
    return {
        "value": value,
        "protocol": protocol,
        "higher_is_better": higher,
        "details": details,
    }
