"""Stage PROMISE: privacy models, one file each."""

from __future__ import annotations

from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.models.t_closeness import TCloseness

__all__ = [
    "DistinctLDiversity",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "KAnonymity",
    "RecursiveLDiversity",
    "TCloseness",
]
