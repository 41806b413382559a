"""(k,l)-anonymity: identity and sensitive values protected independently, by groups and by buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class KLAnonymity(Conjunction):
    r"""Require that nobody's record is found with more than $1/k$, and no sensitive value with more than $1/l$ [1]_.

    An adversary who knows a person's quasi-identifiers finds a group of at least $k$ records. If values are
    published in buckets, unlinked from the records, she expects value $s$ for a record of group $G$ with probability

    $$p(s \mid G) = \sum_B \frac{|G \cap B|}{|G|} \cdot \frac{n_B(s)}{|B|},$$

    which must be at most $1/l$; without buckets it is the share of the value in the group. Both parts are monotone.
    It does not stop an adversary who knows the values of the other members of a bucket.

    Parameters
    ----------
    k : the smallest number of records in a group, a whole number of at least 1.
    l : one over the highest probability of a value, a number of at least 1.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Li, Liu, Han et al., "Cross-Bucket Generalization for Information and Privacy Preservation", IEEE
       Transactions on Knowledge and Data Engineering 30(3), 2018, pages 449-459.
    .. [2] "Research on Privacy-Preserving Data Publishing Algorithms Based on Different Anonymity Requests", doctoral
       thesis, Jilin University, 2018, chapter 3.

    Examples
    --------
    >>> from sfumato.tables.published.groups import Groups
    >>> KLAnonymity(k=4, l=2, sensitive="disease").satisfied_by(Groups.from_counts(disease=[[2, 2], [3, 1]]))
    array([ True, False])
    """

    name = "kl-anonymity"
    reference = "Li, Liu, Han et al. 2018, IEEE TKDE 30(3), pages 449-459"
    monotone = True
    extendable = False
    stricter: ClassVar = {"k": "larger", "l": "larger"}
    description = ModelDescription(
        title="(k,l)-anonymity",
        level=SHARE,
        promise="Nobody's record is found with a chance above one in {k}, and nobody's value of “{sensitive}” is "
        "learned with a chance above one in {l}.",
        stops="Linkage and probabilistic inference: finding a person's record, or guessing the value, by groups, "
        "buckets or both.",
        open="An attacker who knows the values of other persons in the same bucket or group can rule these out.",
    )

    k: int
    l: float
    sensitive: str

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(is_finite_number(self.l) and self.l >= 1, self, "l", "a number of at least 1", self.l)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def min_group_size(self) -> int:
        """No group below k can be valid; one below l can, if buckets have more values than the group has records."""
        return self.k

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """Identity by k-anonymity, values by frequency."""
        return KAnonymity(k=self.k), FrequencyLDiversity(l=self.l, sensitive=self.sensitive)
