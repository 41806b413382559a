"""Delta-disclosure privacy: no sensitive value is much more or much less frequent in a group than in the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models._distances import relative_gains
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups, Histogram

DOUBT = 1e-14


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(GroupModel):
    r"""Bound the logarithm of the ratio between a value's share in a group and in the table by delta [1]_.

    With $q$ the share of a value in a group and $p$ its share in the table, every value of the table must satisfy

    $$\left| \log_2 \frac{q}{p} \right| < \delta ,$$

    so an adversary who finds a person's group gains less than $\delta$ bits about each value, for or against it. A
    value that is absent from a group breaks the promise, because the adversary can rule it out. The shares that
    keep the promise form an interval, so the model is monotone as long as the table's distribution stays the same.
    It is not extendable.

    With `present_only`, values absent from a group are ignored, as in ARX. This is weaker, and **not monotone**: a
    value that is absent from one group may be too rare in a merged one.

    Missing values that may be anything (policy matches-all) are assumed to be present or absent, whichever is
    worse; the table's distribution is that of its known values. A level within rounding of $\delta$ is refused.

    Parameters
    ----------
    delta : the bound that the logarithm must stay below, a number above 0.
    sensitive : the name of the sensitive attribute.
    present_only : whether values that are absent from a group are ignored.

    References
    ----------
    .. [1] Brickell, Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
       publishing", KDD 2008. https://doi.org/10.1145/1401890.1401904

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[3, 3], [2, 4], [1, 0]])
    >>> DeltaDisclosure(delta=1, sensitive="disease").levels(groups).round(2)
    array([0.12, 0.47,  inf])
    >>> DeltaDisclosure(delta=1.5, sensitive="disease", present_only=True).satisfied_by(groups)
    array([ True,  True,  True])
    """

    name = "delta-disclosure"
    reference = "Brickell, Shmatikov 2008, https://doi.org/10.1145/1401890.1401904"
    bound = "max"
    compares_with_table = True
    strict = True
    stricter: ClassVar = {"delta": "smaller"}
    description = ModelDescription(
        title="delta-disclosure privacy",
        level="largest change from the table, in bits, in the worst group",
        promise="In {group}, each value of “{sensitive}” is less than 2 to the power of {delta} times as frequent, or "
        "as rare, as in the whole table.",
        stops="Gain and exclusion: learning that a value is many times as likely for a person as in the whole table, "
        "or can be ruled out.",
        open="It says nothing about who is in the table.",
        further={
            "present_only": "Values that are absent from a group were not looked at.",
        },
    )

    delta: float
    sensitive: str
    present_only: bool = False

    def __post_init__(self) -> None:
        require(is_finite_number(self.delta) and self.delta > 0, self, "delta", "a number above 0", self.delta)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        require(isinstance(self.present_only, bool), self, "present_only", "true or false", self.present_only)

    @property
    def monotone(self) -> bool:  # type: ignore[override]  # only one of the two readings is
        """Whether merging valid groups gives a valid group: not if absent values are ignored."""
        return not self.present_only

    @property
    def limit(self) -> float:
        """The bound that the logarithm must stay below."""
        return self.delta

    def levels(self, groups: Groups) -> Levels:
        """Compute the largest absolute logarithm of every group."""
        counts, totals = groups.histograms[self.sensitive], groups.totals[self.sensitive]
        rows, table = counts.rows, int(totals.sum())
        sizes, expected = counts.sizes[rows], totals[counts.codes]
        level = counts.reduce(np.maximum, _bits(counts.counts, sizes, expected, table))
        if counts.missing.any():
            more = _bits(counts.counts + counts.missing[rows], sizes, expected, table)
            level = np.maximum(level, counts.reduce(np.maximum, more))
            if self.present_only:
                level = np.maximum(level, _bound_for_missing_values(counts, totals))
        if not self.present_only:
            present = counts.reduce(np.add, (expected > 0).astype(np.int64))
            level[present < np.count_nonzero(totals)] = np.inf
        return np.where(np.abs(level - self.delta) <= DOUBT * self.delta, self.delta, level)


def _bound_for_missing_values(counts: Histogram, totals: Counts) -> Levels:
    """Bound the logarithm of a value that one or all missing cells may have, in groups with missing cells."""
    table, lost, sizes = int(totals.sum()), counts.missing > 0, counts.sizes
    rarest, commonest = totals.min(initial=table, where=totals > 0), totals.max(initial=0)
    one = _bits(np.ones_like(sizes), np.maximum(sizes, 1), np.full_like(sizes, commonest), table)
    all_ = _bits(counts.missing, np.maximum(sizes, 1), np.full_like(sizes, rarest), table)
    return np.where(lost, np.maximum(one, all_), 0)


def _bits(counts: Counts, sizes: Counts, expected: Counts, table: int) -> Levels:
    with np.errstate(divide="ignore"):
        return np.abs(np.log1p(relative_gains(counts, sizes, expected, table))) / math.log(2)
