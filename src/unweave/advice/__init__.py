"""Which method to begin with, and what to change when a run shows this or that."""

from unweave.advice.beginning import (
    ACCEPTANCE,
    CHOICES,
    HAVE,
    USES,
    WANT,
    choices,
    choices_as_markdown,
    starting_beta,
    uses_as_markdown,
)
from unweave.advice.remedies import REMEDIES, diagnose, explained_share, remedies_as_markdown

__all__ = [
    "ACCEPTANCE",
    "CHOICES",
    "HAVE",
    "REMEDIES",
    "USES",
    "WANT",
    "choices",
    "choices_as_markdown",
    "diagnose",
    "explained_share",
    "remedies_as_markdown",
    "starting_beta",
    "uses_as_markdown",
]
