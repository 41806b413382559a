"""What every promise about data of another kind than a table provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core._formatting import json_number

T = TypeVar("T")


# What promises and searches have in common: a name, and parameters that a recipe holds.


RECIPE_NAME = "recipe_name"  # in the metadata of a field: what recipes call it, where that is not its name in Python


def parameter_name(field: Field[Any]) -> str:
    """Return what recipes and the command line call a parameter."""
    return str(field.metadata.get(RECIPE_NAME, field.name))


def make_with_parameters(kind: Callable[..., T], parameters: Mapping[str, Any]) -> T:
    """Make a model, an algorithm or a masking step with parameters as recipes call them."""
    named = {parameter_name(field): field.name for field in fields(kind)}  # type: ignore[arg-type]  # each is a dataclass
    return kind(**{named.get(name, name): value for name, value in parameters.items()})


class Parameterized:
    """A frozen dataclass with a name; its parameters are what a recipe needs to make it again."""

    name: ClassVar[str]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # each is a dataclass
        return {name: value for name, value in named.items() if value is not None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters().items())})"


Data = TypeVar("Data")


class Model(Parameterized, ABC, Generic[Data]):
    """A promise about published data: a level that it must reach, or must not exceed.

    - `bound`: `"min"` if the level must reach the limit, `"max"` if it must not exceed it;
    - `stricter`: for every numeric parameter, whether a larger or a smaller value demands more;
    - `counted`: what is counted where the promise is broken, such as `"sets of items"`;
    - `words`: what reports say about the promise.
    """

    reference: ClassVar[str]
    bound: ClassVar[Literal["min", "max"]]
    stricter: ClassVar[Mapping[str, Literal["larger", "smaller"]]]
    unit: ClassVar[str]
    words: ClassVar[ModelDescription]

    @property
    @abstractmethod
    def limit(self) -> float:
        """The level that is required."""

    @abstractmethod
    def evaluate(self, published: Data) -> Verdict:
        """Judge published data, and nothing else: what a search remembers is not looked at."""

    def satisfies(self, level: float) -> bool:
        """Return whether a level is on the safe side of the limit."""
        return level >= self.limit if self.bound == "min" else level <= self.limit


@dataclass(frozen=True)
class Verdict:
    """The level that published data reach for one promise, and how much of them breaks it."""

    model: Model[Any]
    level: float
    violations: int = 0

    @property
    def holds(self) -> bool:
        """Whether the promise is kept."""
        return self.model.satisfies(self.level) and not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain numbers and texts."""
        return {
            "model": self.model.name,
            "parameters": self.model.parameters(),
            "level": json_number(self.level),
            "limit": json_number(self.model.limit),
            "holds": self.holds,
            "broken": self.violations,
            "counted": self.model.unit,
        }


AnyModel: TypeAlias = Model[Any]  # about data of whatever kind


# What promises of a crowd have in common: everybody looks like at least k - 1 others.


class AnonymitySetModel(Model[Data]):
    """A promise whose level is a number of persons that must reach k."""

    bound = "min"
    stricter: ClassVar = {"k": "larger"}
    k: int

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)

    @property
    def limit(self) -> float:
        """The least number of persons."""
        return self.k
