"""Everything there is to choose from, by the name used in recipes and on the command line."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from sfumato.algorithms.base import FACTS, Algorithm
from sfumato.algorithms.buckets.anatomy import Anatomy
from sfumato.algorithms.buckets.cross_bucket import CrossBucket
from sfumato.algorithms.buckets.local_anatomy import LocalAnatomy
from sfumato.algorithms.buckets.local_anatomy_generalization import LocalAnatomyGeneralization
from sfumato.algorithms.buckets.slicing import Slicing
from sfumato.algorithms.cuts.bottom_up_generalization import BottomUpGeneralization
from sfumato.algorithms.cuts.top_down_specialization import TopDownSpecialization
from sfumato.algorithms.full_domain.datafly import Datafly
from sfumato.algorithms.full_domain.fixed_levels import FixedLevels
from sfumato.algorithms.full_domain.incognito import Incognito
from sfumato.algorithms.full_domain.min_gen import MinGen
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.full_domain.samarati import Samarati
from sfumato.algorithms.local.local_recoding import LocalRecoding
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.ncp_top_down import NCPTopDown
from sfumato.algorithms.local.sabre import Sabre
from sfumato.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.algorithms.microaggregation.k_member import KMember
from sfumato.algorithms.microaggregation.maa_slie import MaaSlie
from sfumato.algorithms.microaggregation.mdav import Mdav
from sfumato.algorithms.microaggregation.v_mdav import VMdav
from sfumato.judging.measures import (
    AverageClassSize,
    Discernibility,
    Loss,
    Measure,
    NormalizedCertaintyPenalty,
    SuppressedShare,
)
from sfumato.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.models.base import FACTS as MODEL_FACTS
from sfumato.models.base import PrivacyModel
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

MODELS: dict[str, type[PrivacyModel]] = {
    model.name: model
    for model in (
        KAnonymity,
        DistinctLDiversity,
        FrequencyLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        PSensitiveKAnonymity,
        PPlusSensitiveKAnonymity,
        HPKAnonymity,
        AlphaKAnonymity,
        ConfidenceBounding,
        KEAnonymity,
        EpsilonMAnonymity,
        NTCloseness,
        BetaLikeness,
        DeltaDisclosure,
        KLAnonymity,
        XYAnonymity,
        KMap,
        DeltaPresence,
    )
}
ALGORITHMS: dict[str, type[Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (
        Mondrian,
        Optimal,
        MinGen,
        Samarati,
        Incognito,
        Datafly,
        TopDownSpecialization,
        BottomUpGeneralization,
        LocalRecoding,
        FixedLevels,
        Anatomy,
        CrossBucket,
        LocalAnatomy,
        LocalAnatomyGeneralization,
        NCPTopDown,
        Sabre,
        Slicing,
        Mdav,
        VMdav,
        KMember,
        GreedyPKClustering,
        MaaSlie,
    )
}
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Loss(),
        NormalizedCertaintyPenalty(),
        Discernibility(),
        AverageClassSize(),
        SuppressedShare(),
    )
}


def describe_choice(choice: type[PrivacyModel | Algorithm]) -> dict[str, object]:
    """Describe a model or an algorithm: name, first sentence, parameters with defaults, facts, reference."""
    parameters: dict[str, Any] = {}
    for field in fields(choice):  # type: ignore[arg-type]  # every choice is a dataclass
        parameters[field.name] = {"type": str(field.type)}
        if field.default is not MISSING:
            parameters[field.name]["default"] = field.default
    return {
        "name": choice.name,
        "class": choice.__name__,
        "summary": " ".join((choice.__doc__ or "").strip().split("\n\n")[0].split()),
        "parameters": parameters,
        "facts": _facts(choice),
        "reference": choice.reference,
    }


def _facts(choice: type[PrivacyModel | Algorithm]) -> dict[str, object]:
    """List the declared facts; those that depend on parameters as they are by default, if there is a default."""
    names = FACTS if issubclass(choice, Algorithm) else MODEL_FACTS
    if issubclass(choice, Algorithm) and all(field.default is not MISSING for field in fields(choice)):  # type: ignore[arg-type]  # every choice is a dataclass
        return {name: getattr(choice(), name) for name in names}
    declared = {name: getattr(choice, name) for name in names}
    return {name: value for name, value in declared.items() if not isinstance(value, property)}
