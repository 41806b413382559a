"""(X,Y)-anonymity and (X,Y)-privacy: every X is linked to many different Y, and to none too confidently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity


@dataclass(frozen=True, kw_only=True, repr=False)
class XYAnonymity(Conjunction):
    r"""Require every combination of the attributes X to be linked to at least $k$ different values of Y [1]_.

    It is for tables with several records per person: with the person's number as Y, groups have $k$ people and
    not just $k$ records. With a highest confidence $h$ it is (X,Y)-privacy: no value of Y accounts for more than
    a share $h$ of the records of any X. The number of different values is extendable, the share is not.

    Parameters
    ----------
    k : the smallest number of different values of y, a whole number of at least 1.
    y : the name of the attribute Y; its role must be sensitive.
    x : the quasi-identifiers X; by default all.
    h : the highest share of a value of y, in (0, 1], if bounded.

    References
    ----------
    .. [1] Wang, Fung, "Anonymizing sequential releases", KDD 2006. https://doi.org/10.1145/1150402.1150449

    Examples
    --------
    >>> from sfumato.tables.published.groups import Groups
    >>> XYAnonymity(k=2, y="person").satisfied_by(Groups.from_counts(person=[[3, 0], [3, 1]]))
    array([False,  True])
    >>> XYAnonymity(k=2, y="person", h=0.5).satisfied_by(Groups.from_counts(person=[[2, 2], [3, 1]]))
    array([ True, False])
    """

    name = "xy-anonymity"
    reference = "Wang, Fung 2006, https://doi.org/10.1145/1150402.1150449"
    monotone = True
    stricter: ClassVar = {"k": "larger", "h": "smaller"}
    description = ModelDescription(
        title="(X,Y)-anonymity",
        level=SHARE,
        promise="{Group} is linked to at least {k} different values of “{y}”.",
        stops="Linkage to few persons: finding a group whose many records are all about the same person.",
        open="It says nothing about the other columns; and one value may be far more frequent than the others of its "
        "group, unless its share is bounded.",
        further={
            "x": "Only these quasi-identifiers are looked at, together: {x}.",
            "h": "No value accounts for more than a share of {h} of a group.",
        },
    )

    k: int
    y: str
    x: Sequence[str] = ()
    h: float | None = None

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(isinstance(self.y, str), self, "y", "the name of an attribute", self.y)
        given = isinstance(self.x, list | tuple) and all(isinstance(name, str) for name in self.x)
        require(given, self, "x", "a list of column names", self.x)
        bounded = self.h is None or (is_finite_number(self.h) and 0 < self.h <= 1)
        require(bounded, self, "h", "a share in (0, 1]", self.h)
        object.__setattr__(self, "x", tuple(self.x))

    @property
    def extendable(self) -> bool:  # type: ignore[override]  # only one of the two parts is
        """Whether a valid group stays valid whatever joins it: unless shares are bounded."""
        return self.h is None

    @property
    def scope(self) -> tuple[str, ...]:
        """The attributes X that define the groups."""
        return tuple(self.x)

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """Different values of Y and, if bounded, no share above h."""
        different = DistinctLDiversity(l=self.k, sensitive=self.y)
        return (different,) if self.h is None else (different, ConfidenceBounding(bounds=self.h, sensitive=self.y))

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the model, without those that were not given."""
        optional = {"x": list(self.x)} if self.x else {}
        return {"k": self.k, "y": self.y, **optional, **({} if self.h is None else {"h": self.h})}
