"""Entropy l-diversity: the sensitive values of every group are spread out."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups

NEAR = 1e-9  # far above the rounding error of a level
MOST_BITS = 1 << 17
DIGITS = 60
DOUBT = Decimal("1e-40")


@dataclass(frozen=True, kw_only=True)
class EntropyLDiversity(GroupModel):
    r"""Require the effective number of sensitive values in every group to reach $\ell$ [1]_.

    With $p(s)$ the share of value $s$ in a group, every group must satisfy

    $$\exp\Bigl(-\sum_s p(s) \ln p(s)\Bigr) \ge \ell .$$

    Entropy is concave, so merged groups have at least the smallest entropy of their parts: the model is
    monotone. It is not extendable. It is stricter than `DistinctLDiversity` of the same $\ell$, but the most
    frequent value may account for more than $1/\ell$ of a group; see `FrequencyLDiversity`.

    A level within $10^{-9}$ of $\ell$ is compared in whole numbers, $n^n$ with $\ell^n \prod_s n(s)^{n(s)}$ for $n$
    records, or with 60 digits if these are too long; a difference below $10^{-40}$ counts as a violation. Missing
    values that may be anything (policy matches-all) are all assumed to be the most frequent value.

    Parameters
    ----------
    l : the smallest effective number of values, a number of at least 1.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity",
       ACM TKDD 1(1), 2007. https://doi.org/10.1145/1217299.1217302

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[1, 1, 1], [2, 1, 1]])
    >>> EntropyLDiversity(l=3, sensitive="disease").satisfied_by(groups)
    array([ True, False])
    """

    name = "entropy-l-diversity"
    reference = "Machanavajjhala et al. 2007, https://doi.org/10.1145/1217299.1217302"
    bound = "min"
    monotone = True
    stricter: ClassVar = {"l": "larger"}
    description = ModelDescription(
        title="entropy l-diversity",
        level="effective number of values in the worst group",
        promise="In {group}, the values of “{sensitive}” are at least as spread out as {l} equally frequent values.",
        stops="Probabilistic inference: guessing a person's value because a few values dominate the group.",
        open="The most frequent value may hold more than one in l records of a group, so that a guess can be better "
        "than the number suggests.",
    )

    l: float
    sensitive: str

    def __post_init__(self) -> None:
        require(is_finite_number(self.l) and self.l >= 1, self, "l", "a number of at least 1", self.l)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def limit(self) -> float:
        """The smallest effective number of values."""
        return self.l

    @property
    def min_group_size(self) -> int:
        """The effective number of values is at most the number of records."""
        return math.ceil(self.l)

    def levels(self, groups: Groups) -> Levels:
        """Compute the effective number of values of every group."""
        values = groups.histograms[self.sensitive].worst_case
        sizes, distinct = values.reduce(np.add, values.counts), np.diff(values.offsets)
        spent = values.reduce(np.add, values.counts * np.log(values.counts)) / np.maximum(sizes, 1)
        level = np.exp(np.log(np.maximum(sizes, 1)) - spent)
        even = values.reduce(np.maximum, values.counts) * distinct == sizes
        level[even] = distinct[even]
        limit, too_low = Fraction(str(self.l)), np.nextafter(self.l, 0)
        for group in np.flatnonzero((np.abs(level - self.l) <= NEAR * self.l) & ~even):
            counts = values.counts[values.offsets[group] : values.offsets[group + 1]]
            reduced = tuple(np.sort(counts // np.gcd.reduce(counts)).tolist())
            level[group] = max(level[group], self.l) if _reaches(reduced, limit) else min(level[group], too_low)
        return level


@lru_cache(maxsize=1024)
def _reaches(counts: tuple[int, ...], limit: Fraction) -> bool:
    """Return whether an effective number of values close to the limit reaches it."""
    size, often = sum(counts), Counter(counts)
    if size * (size * limit.denominator).bit_length() <= MOST_BITS:
        product = math.prod(pow(count, count * times) for count, times in often.items())
        return bool(pow(size * limit.denominator, size) >= pow(limit.numerator, size) * product)
    with localcontext(prec=DIGITS):
        spent = sum(count * times * Decimal(count).ln() for count, times in often.items()) / Decimal(size)
        asked = Decimal(limit.numerator).ln() - Decimal(limit.denominator).ln()
        return Decimal(size).ln() - spent - asked > DOUBT
