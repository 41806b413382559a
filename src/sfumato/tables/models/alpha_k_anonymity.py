"""(alpha,k)-anonymity: every group has at least k records, and no sensitive value more than a share alpha of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.errors import InvalidParameterError
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True, repr=False)
class AlphaKAnonymity(Conjunction):
    r"""Require at least $k$ records in every group, and at most a share alpha of each sensitive value [1]_.

    An adversary who knows a person's group then guesses a protected value with a chance of at most $\alpha$.
    With `values` given, only these are protected (simple $(\alpha, k)$-anonymity); otherwise every value is
    (general). It is `KAnonymity` and `ConfidenceBounding` at once: monotone, but not extendable, because records
    of one value can join. It does not stop an adversary from learning that a value has become more likely than
    it is in the table; see `BetaLikeness`.

    Missing values that may be anything (policy matches-all) are all taken to be one protected value. A protected
    value that is not in the table is not an error, so check the spelling.

    Parameters
    ----------
    alpha : the largest share of a protected value, a number above 0 and at most 1.
    k : the smallest number of records in a group.
    sensitive : the name of the sensitive attribute.
    values : the texts of the protected values, or a single text; by default all values.

    References
    ----------
    .. [1] Wong, Li, Fu, Wang, "(alpha,k)-anonymity: an enhanced k-anonymity model for privacy preserving data
       publishing", KDD 2006. https://doi.org/10.1145/1150402.1150499

    Examples
    --------
    >>> from sfumato.tables.published.groups import Groups
    >>> groups = Groups.from_counts(disease=[[2, 1, 1], [3, 1, 0], [1, 1, 0]])
    >>> AlphaKAnonymity(alpha=0.5, k=3, sensitive="disease").satisfied_by(groups)
    array([ True, False, False])
    """

    name = "alpha-k-anonymity"
    reference = "Wong, Li, Fu, Wang 2006, https://doi.org/10.1145/1150402.1150499"
    monotone = True
    stricter: ClassVar = {"alpha": "smaller", "k": "larger"}
    description = ModelDescription(
        title="(alpha,k)-anonymity",
        level=SHARE,
        promise="{Group} holds at least {k} records, and no value of “{sensitive}” accounts for more than "
        "a share of {alpha} of them.",
        stops="Linkage and probabilistic inference: finding a person's record, or guessing a value because too large a "
        "share of the group has it.",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
        further={
            "values": "Only values that were named are protected.",
        },
    )

    alpha: float
    k: int
    sensitive: str
    values: Sequence[str] | None = None

    def __post_init__(self) -> None:
        expected = "a number above 0 and at most 1"
        require(is_finite_number(self.alpha) and 0 < self.alpha <= 1, self, "alpha", expected, self.alpha)
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        if self.values is not None:
            values = (self.values,) if isinstance(self.values, str) else self.values
            if not (isinstance(values, list | tuple) and values and all(isinstance(value, str) for value in values)):
                raise InvalidParameterError(
                    "AlphaKAnonymity.values must be a list with the text of at least one value."
                )
            object.__setattr__(self, "values", tuple(values))

    def __repr__(self) -> str:
        values = "" if self.values is None else f", values=<{len(self.values)} values>"
        return f"AlphaKAnonymity(alpha={self.alpha}, k={self.k}, sensitive={self.sensitive!r}{values})"

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """The number of records, and the share of every protected value."""
        bounds = self.alpha if self.values is None else dict.fromkeys(self.values, self.alpha)
        return KAnonymity(k=self.k), ConfidenceBounding(bounds=bounds, sensitive=self.sensitive)
