"""Stage PROMISE: privacy models, one file each."""

from __future__ import annotations

from sfumato.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.confidence_bounding import ConfidenceBounding
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.delta_presence import DeltaPresence
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.models.hpk_anonymity import HPKAnonymity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.ke_anonymity import KEAnonymity
from sfumato.models.kl_anonymity import KLAnonymity
from sfumato.models.nt_closeness import NTCloseness
from sfumato.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.models.xy_anonymity import XYAnonymity

__all__ = [
    "AlphaKAnonymity",
    "BetaLikeness",
    "ConfidenceBounding",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "FrequencyLDiversity",
    "HPKAnonymity",
    "KAnonymity",
    "KEAnonymity",
    "KLAnonymity",
    "KMap",
    "NTCloseness",
    "PPlusSensitiveKAnonymity",
    "PSensitiveKAnonymity",
    "RecursiveLDiversity",
    "TCloseness",
    "XYAnonymity",
]
