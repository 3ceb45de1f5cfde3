"""Dependencies of latent and partly observed variables, read from the text of a formula.

    q(z[5]|image) q(shape|image,z)

says that z, a latent of 5 dimensions, is recognised in the image, and shape in both. What is
called like a column of the data is observed where there are labels; everything else is a latent.
In brackets stand the dimensions of a latent, or whether a column is a `class` or a `number`. With

    p(shading|light,person) p(image|reflectance,shading)

behind it, shading is made of light and person, and the image of reflectance and shading; what has
no p is made of nothing, and an image without one is made of all variables.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from unweave.errors import ConfigError

IMAGE = "image"
FACTOR = re.compile(r"([qp])\s*\(\s*([^()|]*?)\s*(?:\|\s*([^()|]*?)\s*)?\)")
NAME = re.compile(r"([^\s,\[\]|()]+)\s*(?:\[\s*(\w+)\s*\])?")

Kind = Literal["latent", "class", "number"]


@dataclass(frozen=True)
class Variable:
    """One variable: what it is, what it is recognised in and what it is made of."""

    name: str
    kind: Kind
    size: int
    """Dimensions of a latent, values of a class, 1 of a number."""
    seen_in: tuple[str, ...]
    """What q(variable|…) depends on; `image` among it, or not."""
    made_of: tuple[str, ...]
    """What p(variable|…) depends on."""
    values: int = 0
    """How many values its column takes; 0 if it is continuous, or none."""

    @property
    def observed(self) -> bool:
        """Whether some images have a label of it."""
        return self.kind != "latent"


@dataclass(frozen=True)
class Dependencies:
    """All variables, each after what it is recognised in."""

    variables: tuple[Variable, ...]
    shown: tuple[str, ...]
    """What the image is made of."""

    def __getitem__(self, name: str) -> Variable:
        return next(variable for variable in self.variables if variable.name == name)

    @property
    def made(self) -> tuple[Variable, ...]:
        """Return the variables, each after what it is made of."""
        order = in_order({v.name: v.made_of for v in self.variables}, "p")
        return tuple(self[name] for name in order)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    def seen_through(self, name: str) -> set[str]:
        """Return the variables that are recognised in this one, directly or not."""
        found = {name}
        for variable in self.variables:
            if found & set(variable.seen_in):
                found.add(variable.name)
        return found - {name}

    def is_free(self, variable: Variable, told: Collection[str]) -> bool:
        """Whether a draw has the distribution q however it is weighted, and p does not see it.

        Nothing that is told is recognised in it, and it is made of nothing that is: then the
        divergence of q from p has a closed form.
        """
        through = self.seen_through(variable.name)
        return variable.name not in told and not through & {*told, *variable.made_of}

    def summed(self, told: Collection[str], most: int) -> list[Variable]:
        """Return the classes that are summed over: not told, and few enough together."""
        found, combinations = [], 1
        for variable in self.variables:
            fits = combinations * variable.size <= most
            if variable.kind == "class" and variable.name not in told and fits:
                found.append(variable)
                combinations *= variable.size
        return found

    def size_of(self, names: Iterable[str]) -> int:
        """Return how many numbers some variables have together."""
        return sum(self[name].size for name in names)


@dataclass(frozen=True)
class Formula:
    """What is written in a text, before it is known which variables are columns."""

    seen_in: Mapping[str, tuple[str, ...]]
    made_of: Mapping[str, tuple[str, ...]]
    marks: Mapping[str, str]
    """What stands in brackets behind a name."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.seen_in)


def read_formula(text: str) -> Formula:
    """Read q(z|image) q(y|image,z) p(…|…)."""
    factors: dict[str, dict[str, tuple[str, ...]]] = {"q": {}, "p": {}}
    marks: dict[str, str] = {}
    rest = FACTOR.sub(" ", text).strip(" ;*·")
    if rest or not FACTOR.search(text):
        raise ConfigError(f"a structure is written q(z|image) q(shape|image,z), found {rest!r}")
    for letter, left, right in FACTOR.findall(text):
        (name,) = _names(left, marks, text) or ("",)
        if name in factors[letter]:
            raise ConfigError(f"the structure has two {letter}({name}|…): {text}")
        factors[letter][name] = _names(right, marks, text)
    seen_in, made_of = factors["q"], factors["p"]
    for name, parents in (*seen_in.items(), *made_of.items()):
        for other in (name, *parents):
            if other not in seen_in and other != IMAGE:
                raise ConfigError(f"the structure has no q({other or '?'}|…): {text}")
    if IMAGE in seen_in or any(IMAGE in parents for parents in made_of.values()):
        raise ConfigError(f"an image is neither recognised nor what variables are made of: {text}")
    for name, parents in seen_in.items():
        if not parents:
            raise ConfigError(f"what is {name} recognised in? q({name}|image), say: {text}")
    in_order(seen_in, "q")
    in_order({name: made_of.get(name, ()) for name in seen_in}, "p")
    return Formula(seen_in, made_of, marks)


def _names(text: str, marks: dict[str, str], whole: str) -> tuple[str, ...]:
    """Return the names of a list, and keep what stands in brackets behind them."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = NAME.fullmatch(part)
        if match is None:
            raise ConfigError(f"a variable is written z, z[5], shape or side[number]: {whole}")
        found.append(match[1])
        if match[2]:
            marks[match[1]] = match[2]
    return tuple(found)


def in_order(parents: Mapping[str, Sequence[str]], letter: str) -> tuple[str, ...]:
    """Return the names, each after its parents."""
    order: list[str] = []
    open_names = list(parents)
    while open_names:
        ready = [n for n in open_names if not set(parents[n]) & set(open_names)]
        if not ready:
            raise ConfigError(
                f"in the {letter} of the structure {', '.join(open_names)} depend on each other"
            )
        order += ready
        open_names = [n for n in open_names if n not in ready]
    return tuple(order)


def columns_among(formula: Formula, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the variables that are called like a column, refusing a column misspelt."""
    columns = tuple(columns)
    for name in formula.names:
        near = get_close_matches(name, columns, 1, cutoff=0.8)
        if name not in columns and near and near[0] not in formula.names:
            raise ConfigError(
                f"the structure has a latent {name!r}, and the data a column {near[0]!r}; "
                f"call them alike if they are the same, less alike if not"
            )
    found = tuple(name for name in formula.names if name in columns)
    if not found:
        raise ConfigError(
            f"none of the variables of the structure ({', '.join(formula.names)}) is a column of "
            f"the data ({', '.join(columns)})"
        )
    if len(found) == len(formula.names):
        raise ConfigError("the structure has no latent: add one, such as q(z|image)")
    return found


def dependencies(
    formula: Formula, observed: Sequence[str], sizes: Mapping[str, int], latent_dim: int
) -> Dependencies:
    """Return what a formula says of data whose columns take so many values (0: continuous)."""
    variables = []
    for name in in_order(formula.seen_in, "q"):
        mark = formula.marks.get(name, "")
        kind, size = _kind(name, mark, sizes, latent_dim, observed=name in observed)
        parents = formula.seen_in[name], formula.made_of.get(name, ())
        values = sizes[name] if name in observed else 0
        variables.append(Variable(name, kind, size, *parents, values))
    names = tuple(variable.name for variable in variables)
    return Dependencies(tuple(variables), formula.made_of.get(IMAGE, names))


def _kind(
    name: str, mark: str, sizes: Mapping[str, int], latent_dim: int, *, observed: bool
) -> tuple[Kind, int]:
    if not observed:
        if mark and not (mark.isdecimal() and int(mark) > 0):
            raise ConfigError(f"a latent has 1 dimension or more, found {name}[{mark}]")
        return "latent", int(mark) if mark else latent_dim
    if mark not in ("", "class", "number"):
        raise ConfigError(f"a column is a class or a number, found {name}[{mark}]")
    if mark == "class" and sizes[name] == 0:
        raise ConfigError(f"{name} is continuous and has no classes, found {name}[class]")
    if mark == "number" or sizes[name] == 0:
        return "number", 1
    return "class", sizes[name]
