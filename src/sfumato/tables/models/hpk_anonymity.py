"""(H,p,k)-anonymity: every group has at least k records, p sensitive values and H sensitivity levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.core.model import RECIPE_NAME
from sfumato.tables.models._attribute_values import check_mapping
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models._distinct_categories import DistinctCategories
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class HPKAnonymity(Conjunction):
    r"""Require at least $k$ records, $p$ sensitive values and $H$ levels of sensitivity in every group [1]_.

    Every value has a level, such as high, medium and low, so that no group reveals that all its members have
    something serious. With $H = 1$ it is `PSensitiveKAnonymity`, with $p = H = 1$ `KAnonymity`. Groups only gain
    records, values and levels when they are merged or grow, so the model is monotone and extendable. It does not
    stop one level from dominating a group; see `AlphaKAnonymity`.

    A missing value has no level: it adds none to a group with a known one, whatever the policy.

    Parameters
    ----------
    h : the smallest number of different levels in a group, a whole number from 1 to p.
    p : the smallest number of different values in a group, a whole number from 1 to k.
    k : the smallest number of records in a group.
    sensitive : the name of the sensitive attribute.
    sensitivity_levels : the level of every value that occurs, a string or a whole number, by the text of the value.

    References
    ----------
    .. [1] Shi, Zhang, Dong, "Data anonymity method based on sensitive hierarchical information entropy",
       Computer Applications and Software 41(5), 2024. https://doi.org/10.3969/j.issn.1000-386x.2024.05.046

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.roles import Scale
    >>> from sfumato.encoding.domain import Domain
    >>> from sfumato.tables.published.groups import Groups
    >>> disease = Domain("disease", Scale.NOMINAL, pa.array(["HIV", "cancer", "flu"]))
    >>> groups = Groups.from_counts(disease=[[1, 1, 0], [1, 0, 1]], domains={"disease": disease})
    >>> levels = {"HIV": "high", "cancer": "high", "flu": "low"}
    >>> HPKAnonymity(h=2, p=2, k=2, sensitive="disease", sensitivity_levels=levels).satisfied_by(groups)
    array([False,  True])
    """

    name = "hpk-anonymity"
    reference = "Shi, Zhang, Dong 2024, https://doi.org/10.3969/j.issn.1000-386x.2024.05.046"
    monotone = True
    extendable = True
    stricter: ClassVar = {"h": "larger", "p": "larger", "k": "larger"}
    description = ModelDescription(
        title="(H,p,k)-anonymity",
        level=SHARE,
        promise="{Group} holds at least {k} records, with at least {p} different values of “{sensitive}” on at least "
        "{h} levels of sensitivity.",
        stops="Similarity: learning how sensitive a person's value is because all values of the group are on one "
        "level.",
        open="One level may be far more frequent than the others of its group, so that an attacker can be nearly sure "
        "of it.",
    )

    h: int
    p: int
    k: int
    sensitive: str
    sensitivity_levels: Mapping[str, str | int] = field(repr=False, hash=False, metadata={RECIPE_NAME: "levels"})

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        up_to_k, up_to_p = f"a whole number from 1 to k = {self.k}", f"a whole number from 1 to p = {self.p}"
        require(is_integer(self.p) and 1 <= self.p <= self.k, self, "p", up_to_k, self.p)
        require(is_integer(self.h) and 1 <= self.h <= self.p, self, "h", up_to_p, self.h)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        kinds = "levels, which are strings or whole numbers"
        levels = self.sensitivity_levels
        check_mapping(self, "sensitivity_levels", levels, kinds, lambda e: isinstance(e, str) or is_integer(e))
        object.__setattr__(self, "sensitivity_levels", dict(levels))

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """The number of records, of different values, and of different levels."""
        return (
            KAnonymity(k=self.k),
            DistinctLDiversity(l=self.p, sensitive=self.sensitive),
            DistinctCategories(l=self.h, sensitive=self.sensitive, categories=self.sensitivity_levels),
        )
