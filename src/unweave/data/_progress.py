"""Progress of long preparations, shown on an interactive terminal only."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track

T = TypeVar("T")


def with_progress(items: Iterable[T], count: int, label: str) -> Iterator[T]:
    """Go through `items`, showing how far it is on the error stream."""
    console = Console(stderr=True)
    yield from track(
        items,
        label,
        total=count,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
