"""What privacy models allow attacks: the rates that a release may show although its guarantee holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato._validation import is_finite_number
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models._distinct_categories import DistinctCategories
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.series.models._base import UniformGroups

ROUNDING = 1e-9


@dataclass(frozen=True)
class Guarantee:
    """What is promised of a table, as limits on attacks.

    Parameters
    ----------
    models : the privacy models.
    quasi : the quasi-identifiers that the adversary uses.
    """

    models: tuple[GroupModel, ...] = ()
    quasi: tuple[str, ...] = ()

    @property
    def min_group_size(self) -> int:
        """The least number of records that match a person; 1 if nothing is promised.

        >>> from sfumato.tables.models.k_anonymity import KAnonymity
        >>> Guarantee((KAnonymity(k=5),), ("age",)).min_group_size
        5
        """
        return max((each.min_group_size for each in self._parts() if not each.sensitive_attributes), default=1)

    def max_share(self, sensitive: str) -> float:
        """Return the largest share that one value may have among the records that match a person.

        >>> Guarantee((FrequencyLDiversity(l=4, sensitive="disease"),)).max_share("disease")
        0.25
        """
        return min((share for each in self._parts() for share in _shares(each, sensitive)), default=1.0)

    def min_values(self, sensitive: str) -> int:
        """Return the least number of different values among the records that match a person.

        >>> Guarantee((DistinctLDiversity(l=3, sensitive="disease"),)).min_values("disease")
        3
        """
        parts = [each for each in self._parts() if sensitive in each.sensitive_attributes]
        return max((_min_values(each) for each in parts), default=1)

    def _parts(self) -> Iterator[GroupModel]:
        for model in self.models:
            if not model.scope or set(model.scope) >= set(self.quasi):
                yield from _flatten(model)


def _flatten(model: GroupModel) -> Iterator[GroupModel]:
    if isinstance(model, Conjunction):
        for part in model.parts:
            yield from _flatten(part)
    else:
        yield model


def _shares(model: GroupModel, sensitive: str) -> Sequence[float]:
    if sensitive not in model.sensitive_attributes:
        return ()
    if isinstance(model, FrequencyLDiversity):
        return (1 / model.l,)
    if isinstance(model, UniformGroups):
        return (1 / model.m,)
    return (model.bounds,) if isinstance(model, ConfidenceBounding) and is_finite_number(model.bounds) else ()  # type: ignore[return-value]  # a number


def _min_values(model: GroupModel) -> int:
    if isinstance(model, UniformGroups):
        return model.m
    if isinstance(model, DistinctLDiversity | DistinctCategories | RecursiveLDiversity):
        return model.l
    if isinstance(model, FrequencyLDiversity | EntropyLDiversity):
        return math.ceil(model.l - ROUNDING)
    return 1
