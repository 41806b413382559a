"""What every privacy model provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import parameter_name
from sfumato.tables.published.groups import Counts, Groups

Levels = npt.NDArray[np.float64]


class GroupModel(ABC):
    """A promise about groups of records: a level that every group must reach, or must not exceed.

    Class attributes, each checked by the conformance suite:

    - `bound`: `"min"` if the level must reach the limit, `"max"` if it must not exceed it;
    - `strict`: whether a level equal to the limit breaks the promise;
    - `monotone`: merging valid groups gives a valid group;
    - `extendable`: a valid group stays valid whatever records join it;
    - `compares_with_table`: groups are compared with the whole published table;
    - `numeric`: the sensitive attribute must be numeric;
    - `applies_to_buckets`: where the sensitive attribute is published in buckets, these are the groups, counterfeits
      included;
    - `stricter`: for every numeric parameter, whether a larger or a smaller value demands more;
    - `description`: what reports say about the model.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    bound: ClassVar[Literal["min", "max"]]
    strict: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    extendable: ClassVar[bool] = False
    compares_with_table: ClassVar[bool] = False
    numeric: ClassVar[bool] = False
    applies_to_buckets: ClassVar[bool] = False
    stricter: ClassVar[Mapping[str, Literal["larger", "smaller"]]]
    description: ClassVar[ModelDescription | None] = None

    @property
    @abstractmethod
    def limit(self) -> float:
        """The level that is required."""

    @abstractmethod
    def levels(self, groups: Groups) -> Levels:
        """Compute the level that every group reaches."""

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes whose histograms the model reads."""
        sensitive = getattr(self, "sensitive", None)
        return (sensitive,) if isinstance(sensitive, str) else ()

    @property
    def scope(self) -> tuple[str, ...]:
        """The quasi-identifiers that define the groups; all of the schema's if empty."""
        return ()

    @property
    def protected_values(self) -> tuple[str, ...]:
        """The sensitive values that the model protects by name; a search refuses those that do not occur."""
        return ()

    @property
    def needs_population(self) -> bool:
        """Whether the model compares with a table of the population that the records come from."""
        return False

    @property
    def needs_original(self) -> bool:
        """Whether groups are compared with the original table, whose values only its owner knows."""
        return False

    def with_reference(self, original: Groups) -> Self:  # noqa: ARG002 - only models that need the original look at it
        """Return the model for groups of a table, given all records of its original as one group."""
        return self

    @property
    def min_group_size(self) -> int:
        """A size below which no group can be valid."""
        return 1

    def satisfied_by(self, groups: Groups) -> npt.NDArray[np.bool_]:
        """Return for every group whether it keeps the promise."""
        return self.satisfies(self.levels(groups))

    def satisfies(self, level: Levels) -> npt.NDArray[np.bool_]:
        """Return which levels are on the safe side of the limit."""
        if self.bound == "min":
            return level > self.limit if self.strict else level >= self.limit
        return level < self.limit if self.strict else level <= self.limit

    def min_violating_records(self, groups: Groups) -> Counts:
        """Bound from below how many records of every group are in invalid parts, however the group is split.

        Parts are compared with the same table as groups. What a search rules out by such a bound stays unchecked, so a
        model that overrides this errs on the side of too few records.
        """
        if self.extendable:
            return np.where(self.satisfied_by(groups), 0, groups.sizes)
        return np.where(self.satisfied_by(groups), 0, 1) if self.monotone else np.zeros(len(groups), dtype=np.int64)

    def margin(self, level: Levels) -> Levels:
        """Return how far levels are on the safe side of the limit; negative if the promise is broken."""
        return level - self.limit if self.bound == "min" else self.limit - level

    def worst_level(self, level: Levels) -> float:
        """Find the worst level among groups; the best possible level if there is no group."""
        if not len(level):
            return np.inf if self.bound == "min" else 0.0
        return float(level.min() if self.bound == "min" else level.max())

    def __repr__(self) -> str:
        names = {parameter_name(field): field.name for field in fields(self)}  # type: ignore[arg-type]  # every model is a dataclass
        given = [f"{names.get(name, name)}={value!r}" for name, value in self.parameters().items()]
        return f"{type(self).__name__}({', '.join(given)})"

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the model as recipes call them, without those that were not given."""
        named = {parameter_name(field): getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every model is a dataclass
        return {name: value for name, value in named.items() if value is not None}


FACTS = ("bound", "strict", "monotone", "extendable", "compares_with_table", "numeric", "stricter")
