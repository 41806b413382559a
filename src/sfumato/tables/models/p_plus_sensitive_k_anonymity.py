"""p+-sensitive k-anonymity: every group has at least k records and values of p different categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.tables.models._attribute_values import check_mapping
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models._distinct_categories import DistinctCategories
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class PPlusSensitiveKAnonymity(Conjunction):
    r"""Require at least $k$ records and sensitive values of $p$ different categories in every group [1]_.

    A group with three kinds of cancer has three values and still reveals that everybody in it has cancer; with
    cancers in one category it counts as one. Groups only gain records and categories when they are merged or grow,
    so the model is monotone and extendable. It does not stop one category from dominating a group; see
    `AlphaKAnonymity`.

    A missing value belongs to no category: it adds none to a group with a known one, whatever the policy.

    Parameters
    ----------
    p : the smallest number of different categories in a group, a whole number from 1 to k.
    k : the smallest number of records in a group.
    sensitive : the name of the sensitive attribute.
    categories : the category of every value that occurs, by the text of the value.

    References
    ----------
    .. [1] Sun, Wang, Li, Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data
       publishing", Transactions on Data Privacy 1(2), 2008, pages 53-66.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.roles import Scale
    >>> from sfumato.encoding.domain import Domain
    >>> from sfumato.tables.published.groups import Groups
    >>> disease = Domain("disease", Scale.NOMINAL, pa.array(["HIV", "cancer", "flu"]))
    >>> groups = Groups.from_counts(disease=[[1, 1, 0], [1, 0, 1]], domains={"disease": disease})
    >>> severe = {"HIV": "severe", "cancer": "severe", "flu": "mild"}
    >>> PPlusSensitiveKAnonymity(p=2, k=2, sensitive="disease", categories=severe).satisfied_by(groups)
    array([False,  True])
    """

    name = "p-plus-sensitive-k-anonymity"
    reference = "Sun, Wang, Li, Truta 2008, Transactions on Data Privacy 1(2)"
    monotone = True
    extendable = True
    stricter: ClassVar = {"p": "larger", "k": "larger"}
    description = ModelDescription(
        title="p+-sensitive k-anonymity",
        level=SHARE,
        promise="{Group} holds at least {k} records, with values of “{sensitive}” from at least {p} different "
        "categories.",
        stops="Similarity: learning the category of a person's value because all values of the group are of one "
        "category.",
        open="One category may be far more frequent than the others of its group, so that an attacker can be nearly "
        "sure of it.",
    )

    p: int
    k: int
    sensitive: str
    categories: Mapping[str, str] = field(repr=False, hash=False)

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        expected = f"a whole number from 1 to k = {self.k}"
        require(is_integer(self.p) and 1 <= self.p <= self.k, self, "p", expected, self.p)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        check_mapping(self, "categories", self.categories, "names of categories", lambda e: isinstance(e, str))
        object.__setattr__(self, "categories", dict(self.categories))

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """The number of records, and of different categories."""
        categories = DistinctCategories(l=self.p, sensitive=self.sensitive, categories=self.categories)
        return KAnonymity(k=self.k), categories
