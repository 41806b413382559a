"""What promises of a crowd have in common: everybody looks like at least k - 1 others."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from sfumato.kinds.promise import Model
from sfumato.validation import is_integer, require

Data = TypeVar("Data")


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
