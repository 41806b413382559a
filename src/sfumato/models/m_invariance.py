"""m-invariance: every group shows at least m values equally often, in all releases the same for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.core.groups import Groups
from sfumato.models.base import Levels, PrivacyModel
from sfumato.models.words import ModelWords
from sfumato.validation import is_whole, require


@dataclass(frozen=True, kw_only=True)
class MInvariance(PrivacyModel):
    r"""Require at least $m$ different sensitive values in every group, each equally often [1]_.

    This is what can be seen of m-invariance in one release. Its other half, that everybody's group shows the same set
    of values in every release of a series, is kept by a ledger.

    Parameters
    ----------
    m : the smallest number of different values in a group, a whole number of at least 2.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
       https://doi.org/10.1145/1247480.1247556

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[2, 2, 0], [2, 1, 1]])
    >>> MInvariance(m=2, sensitive="disease").kept_by(groups)
    array([ True, False])
    """

    name = "m-invariance"
    reference = "Xiao, Tao 2007, https://doi.org/10.1145/1247480.1247556"
    bound = "min"
    monotone = False
    of_buckets = True
    stricter: ClassVar = {"m": "larger"}
    words = ModelWords(
        title="m-invariance",
        level="different values, each equally often, in the least diverse group",
        promise="Every bucket, or group of records if there are none, shows at least {m} different values of "
        "“{sensitive}”, each equally often.",
        stops="Intersection: finding a person's value because two releases share no other.",
        open="Two persons may be proved to have the same value, so that who learns one learns the other.",
    )

    m: int
    sensitive: str

    def __post_init__(self) -> None:
        require(is_whole(self.m) and self.m >= 2, self, "m", "a whole number of at least 2", self.m)  # noqa: PLR2004 - one value hides nothing
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def limit(self) -> float:
        """The smallest number of different values."""
        return self.m

    @property
    def smallest_group(self) -> int:
        """A group has at most as many values as records."""
        return self.m

    def level(self, groups: Groups) -> Levels:
        """Count the different values of every group; 1 if they do not occur equally often."""
        counts = groups.histograms[self.sensitive].folded
        rows, largest = counts.rows, counts.reduce(np.maximum, counts.counts)
        uneven = counts.reduce(np.maximum, (counts.counts != largest[rows]).astype(np.int64))
        return np.where(uneven > 0, np.minimum(np.diff(counts.offsets), 1), np.diff(counts.offsets)).astype(np.float64)
