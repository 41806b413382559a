"""Sfumato publishes tables about persons: it measures risk, keeps a stated promise, and proves it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AlphaKAnonymity": "sfumato.models.alpha_k_anonymity",
    "Anatomy": "sfumato.algorithms.anatomy",
    "Audit": "sfumato.auditing.audit",
    "BetaLikeness": "sfumato.models.beta_likeness",
    "BottomUpGeneralization": "sfumato.algorithms.bottom_up_generalization",
    "BrokenPromiseError": "sfumato.exceptions",
    "Cardinalities": "sfumato.data.census",
    "Condensation": "sfumato.condensing.condensation",
    "CondensationStream": "sfumato.condensing.stream",
    "ConfidenceBounding": "sfumato.models.confidence_bounding",
    "CrossBucket": "sfumato.algorithms.cross_bucket",
    "Datafly": "sfumato.algorithms.datafly",
    "DeltaDisclosure": "sfumato.models.delta_disclosure",
    "DeltaPresence": "sfumato.models.delta_presence",
    "DistinctLDiversity": "sfumato.models.distinct_l_diversity",
    "EntropyLDiversity": "sfumato.models.entropy_l_diversity",
    "EpsilonMAnonymity": "sfumato.models.epsilon_m_anonymity",
    "Estimate": "sfumato.answering.estimation",
    "FixedLevels": "sfumato.algorithms.fixed_levels",
    "FrequencyLDiversity": "sfumato.models.frequency_l_diversity",
    "GreedyPKClustering": "sfumato.algorithms.microaggregation.greedy_pk_clustering",
    "HPKAnonymity": "sfumato.models.hpk_anonymity",
    "HierarchyError": "sfumato.exceptions",
    "Incognito": "sfumato.algorithms.incognito",
    "InfeasibleError": "sfumato.exceptions",
    "Intervals": "sfumato.hierarchies.intervals",
    "InvalidParameterError": "sfumato.exceptions",
    "KAnonymity": "sfumato.models.k_anonymity",
    "KEAnonymity": "sfumato.models.ke_anonymity",
    "KLAnonymity": "sfumato.models.kl_anonymity",
    "KMap": "sfumato.models.k_map",
    "KMember": "sfumato.algorithms.microaggregation.k_member",
    "LatticeNode": "sfumato.solutions",
    "LocalAnatomy": "sfumato.algorithms.local_anatomy",
    "LocalAnatomyGeneralization": "sfumato.algorithms.local_anatomy_generalization",
    "LocalRecoding": "sfumato.algorithms.local_recoding",
    "MaaSlie": "sfumato.algorithms.microaggregation.maa_slie",
    "Mdav": "sfumato.algorithms.microaggregation.mdav",
    "MinGen": "sfumato.algorithms.min_gen",
    "Mondrian": "sfumato.algorithms.mondrian",
    "NCPTopDown": "sfumato.algorithms.ncp_top_down",
    "NTCloseness": "sfumato.models.nt_closeness",
    "Optimal": "sfumato.algorithms.optimal",
    "OrderedGroups": "sfumato.hierarchies.ordered_groups",
    "PPlusSensitiveKAnonymity": "sfumato.models.p_plus_sensitive_k_anonymity",
    "PSensitiveKAnonymity": "sfumato.models.p_sensitive_k_anonymity",
    "Party": "sfumato.fusing.party",
    "Prefixes": "sfumato.hierarchies.prefixes",
    "ProtocolError": "sfumato.exceptions",
    "Query": "sfumato.answering.query",
    "QueryErrors": "sfumato.answering.workload",
    "ReadError": "sfumato.exceptions",
    "Recipe": "sfumato.recipe",
    "RecipeError": "sfumato.exceptions",
    "RecodedRows": "sfumato.later_rows",
    "Recoding": "sfumato.recoding_rules",
    "RecursiveLDiversity": "sfumato.models.recursive_l_diversity",
    "Release": "sfumato.release",
    "Requirement": "sfumato.fusing.requirements",
    "Sabre": "sfumato.algorithms.sabre",
    "Samarati": "sfumato.algorithms.samarati",
    "Schema": "sfumato.attributes.schema",
    "SchemaError": "sfumato.exceptions",
    "SfumatoError": "sfumato.exceptions",
    "Slicing": "sfumato.algorithms.slicing",
    "Solutions": "sfumato.solutions",
    "TCloseness": "sfumato.models.t_closeness",
    "Taxonomy": "sfumato.hierarchies.taxonomy",
    "TopDownSpecialization": "sfumato.algorithms.top_down_specialization",
    "UnsupportedModelError": "sfumato.exceptions",
    "VMdav": "sfumato.algorithms.microaggregation.v_mdav",
    "Workload": "sfumato.answering.workload",
    "WriteError": "sfumato.exceptions",
    "XYAnonymity": "sfumato.models.xy_anonymity",
    "anonymize": "sfumato.release",
    "assess_risk": "sfumato.risk.assess",
    "audit": "sfumato.auditing.audit",
    "automatic": "sfumato.hierarchies.automatic",
    "carry_out": "sfumato.release",
    "compare_classifiers": "sfumato.comparing.classification",
    "compare_moments": "sfumato.comparing.moments",
    "draw": "sfumato.hierarchies.drawing",
    "estimate": "sfumato.answering.estimation",
    "estimate_all": "sfumato.answering.estimation",
    "explore": "sfumato.solutions",
    "exposure": "sfumato.auditing.exposure",
    "flag": "sfumato.attributes.flagging",
    "fuse": "sfumato.fusing.fuse",
    "generate": "sfumato.data.population",
    "generate_census": "sfumato.data.census",
    "hold_out": "sfumato.comparing.classification",
    "inspect": "sfumato.inspection.detect",
    "join_tables": "sfumato.bucket_tables",
    "long_form": "sfumato.answering.long_form",
    "long_form_views": "sfumato.answering.views",
    "nearest_originals": "sfumato.comparing.nearest",
    "read": "sfumato.data.read",
    "recode": "sfumato.later_rows",
    "relative_errors": "sfumato.answering.workload",
    "split_tables": "sfumato.bucket_tables",
    "without_implied": "sfumato.models.requirements",
    "write": "sfumato.data.write",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - names of _HOMES are texts


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
