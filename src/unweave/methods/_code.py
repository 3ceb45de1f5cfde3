"""One description of a code: where codes come from, what its dimensions are, what it is good for.

Figures, reports, the explorer and the applications read this and nothing else: what a method
can do is said here once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unweave.errors import ConfigError

CodeSource = Literal["images", "rows", "nowhere"]
"""Codes follow from images; or are read off rows of the data; or there are none, as in a
generator without an encoder, whose codes are only ever drawn from the prior."""

Kind = Literal["number", "category", "angle"]
Role = Literal["", "content", "style"]

ANGLE_SIZE = 2  # an angle is its cosine and its sine


@dataclass(frozen=True)
class Part:
    """Neighbouring dimensions of a code that belong together."""

    size: int
    """How many dimensions."""
    kind: Kind = "number"
    """Numbers that vary one by one; one category of `size`, as probabilities or one-hot; or one
    angle, as cosine and sine."""
    role: Role = ""
    """Content or style, where the method tells the two apart."""
    factor: str = ""
    """The factor it is held to, where labels say so."""

    def __post_init__(self) -> None:
        if self.size < 1 or (self.kind == "angle" and self.size != ANGLE_SIZE):
            raise ConfigError(f"a part of a code cannot be {self.size} dimensions of {self.kind}")


@dataclass(frozen=True)
class Unit:
    """What is turned at once: one number, one category, one angle."""

    dimensions: range
    kind: Kind
    role: Role
    factor: str

    @property
    def label(self) -> str:
        """Return how it is written: z3, or z0–z9."""
        first, last = self.dimensions[0], self.dimensions[-1]
        return f"z{first}" if first == last else f"z{first}–z{last}"


@dataclass(frozen=True)
class Code:
    """What a code is."""

    parts: tuple[Part, ...]
    source: CodeSource = "images"
    """Where codes come from."""
    decodes: bool = True
    """Whether images are made of codes."""
    swaps: bool = False
    """Whether images are made of one image's content and another's style."""

    @property
    def size(self) -> int:
        """Return how many numbers a code has."""
        return sum(part.size for part in self.parts)

    @property
    def units(self) -> list[Unit]:
        """Return what can be turned, in the order of the dimensions."""
        return list(self._units())

    def _units(self) -> Iterator[Unit]:
        for part, dimensions in self._placed():
            # Numbers are turned one by one, a category or an angle as a whole.
            width = 1 if part.kind == "number" else part.size
            for start in range(0, part.size, width):
                yield Unit(dimensions[start : start + width], part.kind, part.role, part.factor)

    def _placed(self) -> Iterator[tuple[Part, range]]:
        first = 0
        for part in self.parts:
            yield part, range(first, first + part.size)
            first += part.size

    def unit_of(self, dimension: int) -> Unit:
        """Return what a dimension is turned with."""
        return next(unit for unit in self._units() if dimension in unit.dimensions)

    @property
    def roles(self) -> dict[str, list[int]]:
        """Return the dimensions of content and style; empty where they are not told apart."""
        found: dict[str, list[int]] = {}
        for part, dimensions in self._placed():
            if part.role:
                found.setdefault(part.role, []).extend(dimensions)
        return found

    def require_codes_of_images(self, name: str) -> None:
        """Refuse to encode images where that cannot be done."""
        if self.source == "rows":
            raise ConfigError(f"{name} has no codes of images, only of rows of data")
        self.require_codes(name)

    def require_codes(self, name: str) -> None:
        """Refuse to look for codes of data where there are none."""
        if why := self.why_no_codes(name):
            raise ConfigError(why)

    def why_no_codes(self, name: str) -> str:
        """Say why data has no codes, if it has none."""
        if self.source != "nowhere":
            return ""
        return (
            f"{name} has no codes of images: it is a generator without an encoder, whose codes "
            "are drawn from the prior"
        )

    def require_decoder(self, name: str) -> None:
        """Refuse to make images where that cannot be done."""
        if not self.decodes:
            raise ConfigError(f"{name} has no decoder: it makes no images of codes")

    def require_swap(self, name: str) -> None:
        """Refuse to swap where content and style are not told apart."""
        if not self.swaps:
            raise ConfigError(f"{name} does not tell content from style, so nothing is swapped")
