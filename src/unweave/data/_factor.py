"""One factor of variation: what it is called and which values it takes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Factor:
    """One factor of variation."""

    name: str
    size: int
    """How many values it takes; 0 if it is continuous."""
    labels: tuple[str, ...] | None = None
    """What the values are called, if they have names."""
    categorical: bool = False
    """Whether the order of the values means nothing, as for shapes."""
    values: tuple[float, ...] | None = None
    """What the values measure, if they stand for numbers that are not their labels."""

    @property
    def continuous(self) -> bool:
        return self.size == 0
