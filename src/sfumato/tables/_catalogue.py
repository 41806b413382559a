"""All models, algorithms and masking steps, by the names used in recipes and on the command line.

Other packages add them by the entry points `sfumato.models`, `sfumato.algorithms` and `sfumato.steps`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import partial
from inspect import isabstract
from typing import Any

from sfumato._locale.messages import load_messages
from sfumato._plugins import Registry
from sfumato.core.model import parameter_name
from sfumato.tables.algorithms.base import FACTS, TableAlgorithm
from sfumato.tables.algorithms.bucketization.anatomy import Anatomy
from sfumato.tables.algorithms.bucketization.cross_bucket_generalization import CrossBucketGeneralization
from sfumato.tables.algorithms.bucketization.local_anatomy import LocalAnatomy
from sfumato.tables.algorithms.bucketization.local_anatomy_generalization import LocalAnatomyGeneralization
from sfumato.tables.algorithms.bucketization.m_invariant_buckets import MInvariantBuckets
from sfumato.tables.algorithms.bucketization.slicing import Slicing
from sfumato.tables.algorithms.full_domain.datafly import Datafly
from sfumato.tables.algorithms.full_domain.fixed_levels import FixedLevels
from sfumato.tables.algorithms.full_domain.identity import Identity
from sfumato.tables.algorithms.full_domain.incognito import Incognito
from sfumato.tables.algorithms.full_domain.min_gen import MinGen
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.algorithms.full_domain.samarati import Samarati
from sfumato.tables.algorithms.local.local_recoding import LocalRecoding
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.algorithms.local.sabre import SABRE
from sfumato.tables.algorithms.local.top_down_ncp import TopDownNCP
from sfumato.tables.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.tables.algorithms.microaggregation.k_member import KMember
from sfumato.tables.algorithms.microaggregation.maa_slie import MAASLIE
from sfumato.tables.algorithms.microaggregation.mdav import MDAV
from sfumato.tables.algorithms.microaggregation.v_mdav import VMDAV
from sfumato.tables.algorithms.subtree.bottom_up_generalization import BottomUpGeneralization
from sfumato.tables.algorithms.subtree.k_optimize import KOptimize
from sfumato.tables.algorithms.subtree.top_down_specialization import TopDownSpecialization
from sfumato.tables.masking.add_noise import AddNoise
from sfumato.tables.masking.base import MaskingStep
from sfumato.tables.masking.pram import PRAM
from sfumato.tables.masking.rotate_numbers import RotateNumbers
from sfumato.tables.masking.round_numbers import RoundNumbers
from sfumato.tables.masking.suppress_cells import SuppressCells
from sfumato.tables.masking.swap_ranks import SwapRanks
from sfumato.tables.masking.swap_records import SwapRecords
from sfumato.tables.masking.top_bottom_coding import BottomCode, TopCode
from sfumato.tables.metrics.base import Metric, MetricInput
from sfumato.tables.metrics.information_loss import (
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    Loss,
    LostPrecision,
    MinimalDistortion,
    NormalizedCertaintyPenalty,
    SuppressedShare,
)
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.models.base import FACTS as MODEL_FACTS
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.beta_likeness import BetaLikeness
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.delta_disclosure import DeltaDisclosure
from sfumato.tables.models.delta_presence import DeltaPresence
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.k_map import KMap
from sfumato.tables.models.ke_anonymity import KEAnonymity
from sfumato.tables.models.kl_anonymity import KLAnonymity
from sfumato.tables.models.nt_closeness import NTCloseness
from sfumato.tables.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.models.xy_anonymity import XYAnonymity
from sfumato.tables.series.models.bounded_series_disclosure import BoundedSeriesDisclosure
from sfumato.tables.series.models.m_distinct import MDistinct
from sfumato.tables.series.models.m_invariance import MInvariance

RECOMMENDED = ("mondrian", "optimal", "anatomy")  # algorithms to start with, each for another purpose
REQUIRED_FACTS = {"name": str, "reference": str, "bound": str, "stricter": Mapping}
PLAIN = (str, int, float, tuple, type(None))


def _find_defect(kind: type, loaded: object) -> str | None:
    """Say why something is no choice of this kind."""
    if not isinstance(loaded, type) or not issubclass(loaded, kind):
        return f"is no subclass of {kind.__name__}"
    if isabstract(loaded):
        return f"does not define {' and '.join(sorted(getattr(loaded, '__abstractmethods__', ())))}"
    if not is_dataclass(loaded):
        return "is no dataclass"
    needed = {fact: form for fact, form in REQUIRED_FACTS.items() if fact in kind.__annotations__}
    lacking = [fact for fact, form in needed.items() if not isinstance(getattr(loaded, fact, None), form)]
    return f"has no {' and no '.join(lacking)}" if lacking else None


_BUILT_IN_MODELS: tuple[type[GroupModel], ...] = (
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
    MInvariance,
    BoundedSeriesDisclosure,
    MDistinct,
)
_BUILT_IN_ALGORITHMS: tuple[type[TableAlgorithm], ...] = (
    Mondrian,
    Optimal,
    MinGen,
    Samarati,
    Incognito,
    Datafly,
    TopDownSpecialization,
    BottomUpGeneralization,
    KOptimize,
    LocalRecoding,
    FixedLevels,
    Identity,
    Anatomy,
    CrossBucketGeneralization,
    LocalAnatomy,
    LocalAnatomyGeneralization,
    MInvariantBuckets,
    TopDownNCP,
    SABRE,
    Slicing,
    MDAV,
    VMDAV,
    KMember,
    GreedyPKClustering,
    MAASLIE,
)
MODELS: Registry[type[GroupModel]] = Registry(
    what="model",
    group="sfumato.models",
    built_in={model.name: model for model in _BUILT_IN_MODELS},
    flaw=partial(_find_defect, GroupModel),
)
ALGORITHMS: Registry[type[TableAlgorithm]] = Registry(
    what="algorithm",
    group="sfumato.algorithms",
    built_in={algorithm.name: algorithm for algorithm in _BUILT_IN_ALGORITHMS},
    flaw=partial(_find_defect, TableAlgorithm),
)
_BUILT_IN_MASKING: tuple[type[MaskingStep], ...] = (
    SuppressCells,
    PRAM,
    SwapRanks,
    SwapRecords,
    AddNoise,
    RotateNumbers,
    TopCode,
    BottomCode,
    RoundNumbers,
)
MASKING_STEPS: Registry[type[MaskingStep]] = Registry(
    what="step",
    group="sfumato.steps",
    built_in={step.name: step for step in _BUILT_IN_MASKING},
    flaw=partial(_find_defect, MaskingStep),
)
METRICS: dict[str, Metric] = {
    each.name: each
    for each in (
        Loss(),
        NormalizedCertaintyPenalty(),
        LostPrecision(),
        MinimalDistortion(),
        Discernibility(),
        AverageClassSize(),
        ClassificationMetric(),
        SuppressedShare(),
    )
}


def compute_metrics(measured: MetricInput, *, covers: bool = True) -> dict[str, float]:
    """Compute all measures that mean something; `covers` says whether published cells cover their originals."""
    meaningful = {
        name: each
        for name, each in METRICS.items()
        if (covers or not each.of_covers) and (measured.minorities or not each.of_sensitive)
    }
    return {name: each.compute(measured) for name, each in meaningful.items()}


def merge_metrics(pieces: Sequence[tuple[int, Mapping[str, float]]], whole: MetricInput) -> dict[str, float]:
    """Put together the measures of disjoint pieces of a table, each with its number of records; see `Measure.unite`."""
    names = pieces[0][1]
    return {name: METRICS[name].combine([(many, found[name]) for many, found in pieces], whole) for name in names}


def describe_choice(choice: type[GroupModel | TableAlgorithm | MaskingStep]) -> dict[str, object]:
    """Describe a model, algorithm or masking step: name, first sentence, parameters with defaults, facts, reference."""
    parameters: dict[str, Any] = {}
    for field in fields(choice):  # type: ignore[arg-type]  # every choice is a dataclass
        name = parameter_name(field)
        parameters[name] = {"type": format_field_type(field)}
        if field.default is not MISSING:
            parameters[name]["default"] = field.default if isinstance(field.default, PLAIN) else str(field.default)
    return {
        "name": choice.name,
        "class": choice.__name__,
        "summary": " ".join((choice.__doc__ or "").strip().split("\n\n")[0].split()),
        "parameters": parameters,
        "facts": _class_properties(choice),
        "reference": choice.reference,
    }


def format_field_type(field: Field[Any]) -> str:
    """Write the type of a parameter as it reads in a signature, whether it was declared as a text or as a type.

    >>> from dataclasses import make_dataclass
    >>> from collections.abc import Sequence
    >>> [format_field_type(field) for field in fields(make_dataclass("Made", [("k", int), ("quasi", Sequence[str])]))]
    ['int', 'Sequence[str]']
    """
    written = field.type.__name__ if type(field.type) is type else str(field.type)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", written)


def _class_properties(choice: type[GroupModel | TableAlgorithm | MaskingStep]) -> dict[str, object]:
    """List the declared facts; those that depend on parameters as they are by default, if there is a default."""
    if issubclass(choice, MaskingStep):
        return {"promise": choice.description.promise, "open": choice.description.open}
    names = FACTS if issubclass(choice, TableAlgorithm) else dict(zip(MODEL_FACTS, MODEL_FACTS, strict=True))
    complete = all(field.default is not MISSING for field in fields(choice))  # type: ignore[arg-type]  # each is a dataclass
    source = choice() if issubclass(choice, TableAlgorithm) and complete else choice
    declared = {name: getattr(source, attribute) for name, attribute in names.items()}
    return {name: value for name, value in declared.items() if not isinstance(value, property)} | _localized_texts(
        choice
    )


def _localized_texts(choice: type[GroupModel | TableAlgorithm]) -> dict[str, object]:
    """Say which attack a model stops, and what an algorithm of ours gives."""
    if issubclass(choice, TableAlgorithm):
        say, key = load_messages("en"), f"algorithms.gives.{choice.name}"
        return {"gives": say(key)} if choice.name in ALGORITHMS.built_in and key in say else {}
    return {} if choice.description is None else {"stops": choice.description.stops}
