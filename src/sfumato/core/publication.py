"""The waist, part 1: what is published about every record.

Algorithms end in a `Publication`; releases are written from it. Auditors never see it: they read the
published table and come back to the same labels by parsing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.table.values import text as value_text

SUPPRESSED_TEXT = "*"
NOT_PUBLISHED = -1
JOINING = "+"  # between the names of attributes that share a bucket column
ROUNDING = 1e-9


@dataclass(frozen=True)
class Exact:
    """The value itself."""

    value: object

    @property
    def text(self) -> str:
        """The value's canonical text."""
        return value_text(self.value)


@dataclass(frozen=True)
class Interval:
    """All numbers or dates between two bounds."""

    low: object
    high: object
    low_closed: bool = True
    high_closed: bool = True

    @property
    def text(self) -> str:
        """The interval in mathematical notation, e.g. `[20, 30)`."""
        opening, closing = "[" if self.low_closed else "(", "]" if self.high_closed else ")"
        return f"{opening}{value_text(self.low)}, {value_text(self.high)}{closing}"


@dataclass(frozen=True)
class Node:
    """All leaves under one node of the attribute's hierarchy."""

    text: str


@dataclass(frozen=True)
class ValueSet:
    """One of several values, given as texts."""

    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The set in braces, its members quoted where they hold a comma, brace or quote."""
        return "{" + ", ".join(_quoted(member) for member in self.texts) + "}"


@dataclass(frozen=True)
class Center:
    """A value that stands for a whole group and need not be any member's own."""

    value: object

    @property
    def text(self) -> str:
        """The center's canonical text."""
        return value_text(self.value)


@dataclass(frozen=True)
class MissingCell:
    """No value, because the original has none."""

    text: None = None


@dataclass(frozen=True)
class Suppressed:
    """Any value or none."""

    text: str = SUPPRESSED_TEXT


Label: TypeAlias = Exact | Interval | Node | ValueSet | Center | MissingCell | Suppressed


@dataclass(frozen=True, eq=False, repr=False)
class Recoded:
    """One attribute as published: a label for every group."""

    labels: Collection[Label]
    by_group: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Proof:
    """How good a search can say its result is.

    Parameters
    ----------
    objective : the name of what was made small.
    found : its value for the publication.
    bound : a number that no allowed recoding is below.
    checked : how many recodings were checked.
    candidates : how many there are.
    """

    objective: str
    found: float
    bound: float
    checked: int
    candidates: int

    @property
    def optimal(self) -> bool:
        """Whether nothing better exists, up to rounding."""
        return self.bound >= self.found - ROUNDING * abs(self.found)

    def __str__(self) -> str:
        checked = f"{self.checked:,} of {self.candidates:,} recodings checked"
        if self.optimal:
            return f"Proven best: {self.objective} {self.found:.6g}; {checked}."
        return f"Best found: {self.objective} {self.found:.6g}; none is below {self.bound:.6g}; {checked}."


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """What is published about every record.

    Parameters
    ----------
    group : the equivalence group of every original record; `NOT_PUBLISHED` for a suppressed record.
    recoded : for every quasi-identifier the label of every group; those that are not listed are published as they are.
    by_value : where every value is published in one way wherever it occurs, the label of every code of each
        quasi-identifier, that of missing values last.
    buckets : for every bucketized attribute the bucket of every record, whose values are published
        without saying which record has which; `NOT_PUBLISHED` where a record's cell is not in a bucket.
    together : attributes whose cells in buckets are permuted together, so that they stay joined; the attributes of one
        tuple have the same buckets, and no attribute is in two. All tuples with equal buckets share their numbers.
    proof : how close to the best the search came, where it can say so.
    """

    group: npt.NDArray[np.int32]
    recoded: Mapping[str, Recoded]
    by_value: Mapping[str, Recoded] = field(default_factory=dict)
    buckets: Mapping[str, npt.NDArray[np.int32]] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()
    proof: Proof | None = None

    @cached_property
    def suppressed(self) -> int:
        """How many records are not published."""
        return int(np.count_nonzero(self.group == NOT_PUBLISHED))


def _quoted(member: str) -> str:
    if member and not set(member) & set(',{}"') and member == member.strip():
        return member
    return '"' + member.replace('"', '""') + '"'
