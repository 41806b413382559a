"""Confidence bounding: no sensitive value has a larger share of a group than its own bound allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models._attribute_values import check_mapping, get_domain
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups

ROUNDING = 1e-9  # 1/49 is a little less than a 49th


@dataclass(frozen=True, kw_only=True, repr=False)
class ConfidenceBounding(GroupModel):
    r"""Bound the share of each sensitive value in every group, by one number or one per value [1]_.

    An adversary who knows a person's group then concludes that the person has value $s$ with a confidence of
    at most $h(s)$. With one number for all values the level is the largest share and the limit that number, as
    in `FrequencyLDiversity` with its inverse. With a number per value the level is the largest of the shares,
    each divided by its bound, and the limit is 1; values without a bound are not protected.

    Shares in merged groups are at most the largest of their parts, so the model is monotone. It is not
    extendable: records of one value can join. It does not stop an adversary from learning that a value has
    become more likely than it is in the table; see `BetaLikeness`.

    Missing values that may be anything (policy matches-all) are all assumed to be the worst possible value. A
    bound for a value that is not in the table is not an error, so check the spelling of values.

    Parameters
    ----------
    bounds : the largest share, a number above 0 and at most 1: one for all values, or one per value, by the
        value's text.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Wang, Fung, Yu, "Handicapping attacker's confidence: an alternative to k-anonymization", Knowledge and
       Information Systems 11(3), 2007, pages 345-368; first in ICDM 2005.

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[2, 1, 1], [3, 1, 1]])
    >>> ConfidenceBounding(bounds=0.5, sensitive="disease").satisfied_by(groups)
    array([ True, False])
    """

    name = "confidence-bounding"
    reference = "Wang, Fung, Yu 2007, Knowledge and Information Systems 11(3)"
    bound = "max"
    monotone = True
    stricter: ClassVar = {"bounds": "smaller"}
    description = ModelDescription(
        title="confidence bounding",
        level="largest share, or quotient of a share and its bound, in the worst group",
        promise="In {group}, values of “{sensitive}” hold at most this share of the records: {bounds}.",
        stops="Probabilistic inference: guessing a value with more confidence than its bound allows.",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
    )

    bounds: float | Mapping[str, float] = field(hash=False)
    sensitive: str

    def __post_init__(self) -> None:
        if isinstance(self.bounds, Mapping):
            check_mapping(self, "bounds", self.bounds, "numbers above 0 and at most 1", _is_share)
            object.__setattr__(self, "bounds", dict(self.bounds))
        else:
            expected = "a number above 0 and at most 1, or one such number per value"
            require(_is_share(self.bounds), self, "bounds", expected, self.bounds)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    def __repr__(self) -> str:
        bounds = f"<{len(self.bounds)} values>" if isinstance(self.bounds, Mapping) else self.bounds
        return f"ConfidenceBounding(bounds={bounds}, sensitive={self.sensitive!r})"

    @property
    def limit(self) -> float:
        """The largest share; 1 if every value has its own bound."""
        return 1 if isinstance(self.bounds, Mapping) else self.bounds

    @property
    def protected_values(self) -> tuple[str, ...]:
        """The values with a bound of their own."""
        return tuple(self.bounds) if isinstance(self.bounds, Mapping) else ()

    @property
    def min_group_size(self) -> int:
        """A value that occurs has at least one record."""
        return 1 if isinstance(self.bounds, Mapping) else math.ceil(1 / self.bounds - ROUNDING)

    def levels(self, groups: Groups) -> Levels:
        """Compute the largest share, or the largest ratio of a share to its bound, of every group."""
        counts = groups.histograms[self.sensitive]
        rows, sizes = counts.rows, np.maximum(counts.sizes, 1)
        shares = (counts.counts + counts.missing[rows]) / sizes[rows]
        unseen = counts.missing / sizes
        if isinstance(self.bounds, Mapping):
            domain = get_domain(self, groups, self.sensitive)
            bounds = np.full(counts.width, np.inf)
            bounds[: len(domain)] = [self.bounds.get(text, np.inf) for text in domain.texts]
            if domain.same is not None:  # the smallest bound of all that look alike
                of_values = np.flatnonzero(domain.same != domain.missing)
                np.minimum.at(bounds, domain.same[of_values], bounds[of_values])
            shares, unseen = shares / bounds[counts.codes], unseen / min(self.bounds.values())
        return np.maximum(counts.reduce(np.maximum, shares), unseen)


def _is_share(value: object) -> bool:
    return is_finite_number(value) and 0 < value <= 1  # type: ignore[operator]  # a number
