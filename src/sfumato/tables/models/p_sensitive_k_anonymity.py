"""p-sensitive k-anonymity: every group has at least k records and p different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class PSensitiveKAnonymity(Conjunction):
    r"""Require at least $k$ records and $p$ different sensitive values in every group [1]_.

    It combines `KAnonymity` and `DistinctLDiversity`. Groups only gain records and values when they are merged or
    grow, so the model is monotone and extendable. It does not stop values from being similar in meaning (see
    `PPlusSensitiveKAnonymity`) or very unequal in number (see `AlphaKAnonymity`).

    A missing value that may be anything (policy matches-all) adds no value to a group with a known one.

    Parameters
    ----------
    p : the smallest number of different values in a group, a whole number from 1 to k.
    k : the smallest number of records in a group.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Truta, Vinay, "Privacy protection: p-sensitive k-anonymity property", ICDE Workshops 2006.
       https://doi.org/10.1109/ICDEW.2006.116

    Examples
    --------
    >>> from sfumato.tables.published.groups import Groups
    >>> groups = Groups.from_counts(disease=[[3, 0], [2, 1], [1, 1]])
    >>> PSensitiveKAnonymity(p=2, k=3, sensitive="disease").satisfied_by(groups)
    array([False,  True, False])
    """

    name = "p-sensitive-k-anonymity"
    reference = "Truta, Vinay 2006, https://doi.org/10.1109/ICDEW.2006.116"
    monotone = True
    extendable = True
    stricter: ClassVar = {"p": "larger", "k": "larger"}
    description = ModelDescription(
        title="p-sensitive k-anonymity",
        level=SHARE,
        promise="{Group} holds at least {k} records and at least {p} different values of “{sensitive}”.",
        stops="Linkage and homogeneity: finding a person's record, or reading off a value that all records of the "
        "group share.",
        open="The values of a group may be alike in meaning, or one of them far more frequent than the others.",
    )

    p: int
    k: int
    sensitive: str

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        expected = f"a whole number from 1 to k = {self.k}"
        require(is_integer(self.p) and 1 <= self.p <= self.k, self, "p", expected, self.p)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """The number of records, and of different values."""
        return KAnonymity(k=self.k), DistinctLDiversity(l=self.p, sensitive=self.sensitive)
