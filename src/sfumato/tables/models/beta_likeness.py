"""Beta-likeness: no sensitive value is much more frequent in a group than in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models._distances import relative_gains
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups

ROUNDED_DOWN = 1 - 1e-15


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(GroupModel):
    r"""Bound the gain of each sensitive value in every group, relative to its share in the table, by beta [1]_.

    With $q$ the share of a value in a group and $p$ its share in the table, every value with $q > p$ must satisfy

    $$\frac{q - p}{p} \le \beta ,$$

    so a rare value stays rare: an adversary who finds a person's group cannot become more than $1 + \beta$ times
    as sure of it. If `enhanced`, the gain must also be at most $-\ln p$, which keeps frequent values from becoming
    certain; the gain of such a value then counts $\beta / (-\ln p)$ times. The level is the largest gain.

    The gain is convex, so merged groups have at most the largest gain of their parts: the model is monotone
    as long as the table's distribution stays the same. It is not extendable. It does not stop an adversary from
    learning that a value has become *less* likely; see `DeltaDisclosure`.

    Missing values that may be anything (policy matches-all) are all assumed to be the worst possible value, of the
    group or the rarest of the table; the table's distribution is that of its known values. A gain within rounding
    of $-\ln p$ is refused.

    Parameters
    ----------
    beta : the largest gain, a number above 0.
    sensitive : the name of the sensitive attribute.
    enhanced : whether to also bound the gain of frequent values by $-\ln p$.

    References
    ----------
    .. [1] Cao, Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012, pages 1388-1399.

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[4, 0], [2, 2]])
    >>> BetaLikeness(beta=0.2, sensitive="disease").levels(groups).round(3)
    array([0.333, 1.   ])
    """

    name = "beta-likeness"
    reference = "Cao, Karras 2012, PVLDB 5(11), pages 1388-1399"
    bound = "max"
    compares_with_table = True
    monotone = True
    stricter: ClassVar = {"beta": "smaller"}
    description = ModelDescription(
        title="beta-likeness",
        level="largest gain over the table, in the worst group",
        promise="In {group}, the share of a value of “{sensitive}” exceeds its share in the whole table by at most "
        "{beta} times the latter.",
        stops="Gain: learning from a group that a value, even a rare one, is many times as likely for a person as in "
        "the whole table.",
        open="An attacker may still rule out values that are rare in a group or absent from it.",
        further={
            "enhanced": "Frequent values are bounded more tightly, so that none becomes certain.",
        },
    )

    beta: float
    sensitive: str
    enhanced: bool = False

    def __post_init__(self) -> None:
        require(is_finite_number(self.beta) and self.beta > 0, self, "beta", "a number above 0", self.beta)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        require(isinstance(self.enhanced, bool), self, "enhanced", "true or false", self.enhanced)

    @property
    def limit(self) -> float:
        """The largest gain."""
        return self.beta

    def levels(self, groups: Groups) -> Levels:
        """Compute the largest gain of every group."""
        counts, totals = groups.histograms[self.sensitive], groups.totals[self.sensitive]
        rows, sizes, table = counts.rows, counts.sizes, int(totals.sum())
        shares = self._shares_of_beta(totals)
        gains = relative_gains(counts.counts + counts.missing[rows], sizes[rows], totals[counts.codes], table)
        level = counts.reduce(np.maximum, np.maximum(gains, 0) / shares[counts.codes])
        lost = np.flatnonzero(counts.missing)
        rarest = np.where(
            totals > 0, totals, table + 1
        ).argmin()  # the value that gains most, also relative to its bound
        unseen = relative_gains(counts.missing[lost], sizes[lost], np.full(len(lost), totals[rarest]), table)
        level[lost] = np.maximum(level[lost], unseen / shares[rarest])
        return level

    def _shares_of_beta(self, totals: Counts) -> Levels:
        """Return the bound of every value as a share of beta: 1 unless the enhanced bound is tighter."""
        shares = np.ones(len(totals))
        occurs = np.flatnonzero((totals > 0) & (totals < totals.sum()) & self.enhanced)
        information = np.log1p((totals.sum() - totals[occurs]) / totals[occurs]) * ROUNDED_DOWN
        shares[occurs] = np.minimum(1, information / self.beta)
        return shares
