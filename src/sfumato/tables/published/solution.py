"""The waist, part 1: what is published about every case, which is a record or a number of equal ones.

Algorithms end in a `Publication`; releases are written from it. Auditors never see it: they read the
published table and recover the same labels by parsing it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._locale.messages import LocalizedText
from sfumato.encoding.coded_table import CodedTable
from sfumato.io._values import format_value as value_text

SUPPRESSED_TEXT = "*"
NOT_PUBLISHED = -1
JOINING = "+"  # between the names of attributes that share a bucket column
ROUNDING = 1e-9
NEEDS_QUOTES = frozenset(',{}"')  # in a member of a set
SURELY_PLAIN = r"\A[0-9A-Za-z_-]+\z"  # members that need none; others are looked at one by one


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
        """The set in braces, its members quoted if they contain a comma, brace or quote."""
        return "{" + ", ".join(quote_member(member) for member in self.texts) + "}"


@dataclass(frozen=True)
class Center:
    """A value that represents a whole group and need not be the value of any member."""

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


class LabelBatch(Collection[Label]):
    """Labels that can be written all at once, without making them one by one; none of them is a center."""

    @property
    @abstractmethod
    def texts(self) -> pa.Array:
        """The text of every label, empty for a missing cell."""

    @property
    @abstractmethod
    def are_all_values(self) -> bool:
        """Whether all labels are values or missing cells."""


@dataclass(frozen=True, eq=False, repr=False)
class RecodedAttribute:
    """One attribute as published: a label for every group."""

    labels: Collection[Label]
    by_group: npt.NDArray[np.int32]

    @property
    def texts(self) -> pa.Array:
        """The text of every label, empty for a missing cell."""
        if isinstance(self.labels, LabelBatch):
            return self.labels.texts
        return pa.array([label.text for label in self.labels], pa.string())


@dataclass(frozen=True)
class LossBound:
    """How good the result of a search is, as far as a lower bound can prove.

    Parameters
    ----------
    objective : the name of the quantity that was minimized.
    found : its value for the publication.
    bound : a lower bound for all allowed recodings.
    compared_with : the table whose distribution models compare groups with, `"published"`, `"original"` or `"both"`;
        empty if no model compares with one.
    """

    objective: str
    found: float
    bound: float
    compared_with: str = field(default="", kw_only=True)

    @property
    def optimal(self) -> bool:
        """Whether nothing better exists, up to rounding."""
        return self.bound >= self.found - ROUNDING * abs(self.found)

    @property
    def describe(self) -> LocalizedText:
        """How good the result is, in words."""
        key = "search.reached" if self.optimal else "search.bounded"
        return self._compared(LocalizedText(key, objective=self.objective, found=self.found, bound=self.bound))

    def _compared(self, sentence: LocalizedText) -> LocalizedText:
        """Add to a sentence what groups are compared with."""
        if not self.compared_with:
            return sentence
        return LocalizedText(
            "search.compared", proof=sentence, table=LocalizedText(f"search.table.{self.compared_with}")
        )

    def __str__(self) -> str:
        return self.describe


@dataclass(frozen=True)
class OptimalityProof(LossBound):
    """How good the result of a search through known recodings is, as far as the search can prove.

    Parameters
    ----------
    objective : the name of the quantity that was minimized.
    found : its value for the publication.
    bound : a lower bound for all allowed recodings.
    compared_with : the table whose distribution models compare groups with; see `Bound`.
    checked : the number of recodings checked.
    candidates : the number of recodings in total.
    """

    checked: int
    candidates: int

    @property
    def describe(self) -> LocalizedText:
        """How good the result is, in words."""
        return self._compared(
            LocalizedText(
                "search.proven" if self.optimal else "search.found",
                objective=self.objective,
                found=self.found,
                bound=self.bound,
                checked=self.checked,
                candidates=self.candidates,
            )
        )


@dataclass(frozen=True, eq=False, repr=False)
class Counterfeits:
    """Rows that are published and belong to nobody, so that every value of a bucket occurs equally often.

    Parameters
    ----------
    attribute : the sensitive attribute whose buckets they fill up; all their other cells are those of their group, or
        missing.
    group : the group whose labels each shows.
    bucket : the bucket of each.
    code : the code of the value that each brings into its bucket.
    values : the value of every code.
    """

    attribute: str
    group: npt.NDArray[np.int32]
    bucket: npt.NDArray[np.int32]
    code: npt.NDArray[np.int64]
    values: pa.Array

    def __len__(self) -> int:
        return len(self.bucket)


@dataclass(frozen=True, eq=False, repr=False)
class TableSolution:
    """What is published about every case of a coded table.

    Parameters
    ----------
    group : the equivalence group of every case; `NOT_PUBLISHED` for a suppressed case.
    recoded : for every quasi-identifier, the label of every group; those not listed are published unchanged.
    by_value : if every value is published in the same way wherever it occurs, the label of every code of each
        quasi-identifier, with that of missing values last.
    buckets : for every bucketized attribute, the bucket of every case; the values of a bucket are published
    without saying which record has which. `NOT_PUBLISHED` if the cell of a record is not in a bucket.
    together : attributes whose cells are permuted together in buckets, so that they stay joined; the attributes of a
        tuple have the same buckets, and no attribute is in two. Tuples with equal buckets share their numbers.
    proof : how close to the optimum the search came, if it can prove that.
    counterfeits : rows that belong to nobody, by the attribute whose buckets they fill up.
    waiting : how many of the cases that are not published wait for a later release of their series.
    """

    group: npt.NDArray[np.int32]
    recoded: Mapping[str, RecodedAttribute]
    by_value: Mapping[str, RecodedAttribute] = field(default_factory=dict)
    buckets: Mapping[str, npt.NDArray[np.int32]] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()
    proof: LossBound | None = None
    counterfeits: tuple[Counterfeits, ...] = ()
    waiting: int = 0

    def suppressed(self, table: CodedTable) -> int:
        """Count the records of the table that are not published."""
        return table.records(np.flatnonzero(self.group == NOT_PUBLISHED))


def is_unquoted_member(text: str) -> bool:
    """Return whether a member of a set is written without quotes."""
    return bool(text) and not NEEDS_QUOTES & set(text) and text == text.strip()


def mask_unquoted_members(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Return for many members of sets whether they are written without quotes.

    >>> mask_unquoted_members(pa.array(["flu", "flu, cold", "common cold"])).tolist()
    [True, False, True]
    """
    plain = pc.match_substring_regex(texts, SURELY_PLAIN).to_numpy(zero_copy_only=False, writable=True)
    for place in np.flatnonzero(~plain).tolist():
        plain[place] = is_unquoted_member(texts[place].as_py())
    return np.asarray(plain)


def quote_member(text: str) -> str:
    """Write a member of a set.

    >>> quote_member("flu"), quote_member("flu, cold")
    ('flu', '"flu, cold"')
    """
    return text if is_unquoted_member(text) else '"' + text.replace('"', '""') + '"'
