"""Sfumato publishes tables about persons: it measures risk, keeps a stated promise, and proves it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AlphaKAnonymity": "sfumato.models.alpha_k_anonymity",
    "Audit": "sfumato.auditing.audit",
    "BetaLikeness": "sfumato.models.beta_likeness",
    "BrokenPromiseError": "sfumato.exceptions",
    "ConfidenceBounding": "sfumato.models.confidence_bounding",
    "DeltaDisclosure": "sfumato.models.delta_disclosure",
    "DeltaPresence": "sfumato.models.delta_presence",
    "DistinctLDiversity": "sfumato.models.distinct_l_diversity",
    "EntropyLDiversity": "sfumato.models.entropy_l_diversity",
    "EpsilonMAnonymity": "sfumato.models.epsilon_m_anonymity",
    "FrequencyLDiversity": "sfumato.models.frequency_l_diversity",
    "HPKAnonymity": "sfumato.models.hpk_anonymity",
    "HierarchyError": "sfumato.exceptions",
    "InfeasibleError": "sfumato.exceptions",
    "Intervals": "sfumato.hierarchies.intervals",
    "InvalidParameterError": "sfumato.exceptions",
    "KAnonymity": "sfumato.models.k_anonymity",
    "KEAnonymity": "sfumato.models.ke_anonymity",
    "KLAnonymity": "sfumato.models.kl_anonymity",
    "KMap": "sfumato.models.k_map",
    "Mondrian": "sfumato.algorithms.mondrian",
    "NTCloseness": "sfumato.models.nt_closeness",
    "OrderedGroups": "sfumato.hierarchies.ordered_groups",
    "PPlusSensitiveKAnonymity": "sfumato.models.p_plus_sensitive_k_anonymity",
    "PSensitiveKAnonymity": "sfumato.models.p_sensitive_k_anonymity",
    "Prefixes": "sfumato.hierarchies.prefixes",
    "ReadError": "sfumato.exceptions",
    "Recipe": "sfumato.recipe",
    "RecipeError": "sfumato.exceptions",
    "RecursiveLDiversity": "sfumato.models.recursive_l_diversity",
    "Release": "sfumato.release",
    "Schema": "sfumato.attributes.schema",
    "SchemaError": "sfumato.exceptions",
    "SfumatoError": "sfumato.exceptions",
    "TCloseness": "sfumato.models.t_closeness",
    "Taxonomy": "sfumato.hierarchies.taxonomy",
    "UnsupportedModelError": "sfumato.exceptions",
    "WriteError": "sfumato.exceptions",
    "XYAnonymity": "sfumato.models.xy_anonymity",
    "anonymize": "sfumato.release",
    "assess_risk": "sfumato.risk.assess",
    "audit": "sfumato.auditing.audit",
    "automatic": "sfumato.hierarchies.automatic",
    "carry_out": "sfumato.release",
    "draw": "sfumato.hierarchies.drawing",
    "exposure": "sfumato.auditing.exposure",
    "generate": "sfumato.data.population",
    "inspect": "sfumato.inspection.detect",
    "read": "sfumato.data.read",
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
