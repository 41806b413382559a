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

from sfumato.algorithms.base import FACTS, Algorithm
from sfumato.algorithms.buckets.anatomy import Anatomy
from sfumato.algorithms.buckets.cross_bucket import CrossBucket
from sfumato.algorithms.buckets.local_anatomy import LocalAnatomy
from sfumato.algorithms.buckets.local_anatomy_generalization import LocalAnatomyGeneralization
from sfumato.algorithms.buckets.m_invariant_buckets import MInvariantBuckets
from sfumato.algorithms.buckets.slicing import Slicing
from sfumato.algorithms.cuts.bottom_up_generalization import BottomUpGeneralization
from sfumato.algorithms.cuts.k_optimize import KOptimize
from sfumato.algorithms.cuts.top_down_specialization import TopDownSpecialization
from sfumato.algorithms.full_domain.as_is import AsIs
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
    ClassificationMetric,
    Discernibility,
    Loss,
    LostPrecision,
    Measure,
    Measured,
    MinimalDistortion,
    NormalizedCertaintyPenalty,
    SuppressedShare,
)
from sfumato.masking.add_noise import AddNoise
from sfumato.masking.base import MaskingStep
from sfumato.masking.bottom_code import BottomCode
from sfumato.masking.pram import Pram
from sfumato.masking.rotate_numbers import RotateNumbers
from sfumato.masking.round_numbers import RoundNumbers
from sfumato.masking.suppress_cells import SuppressCells
from sfumato.masking.swap_ranks import SwapRanks
from sfumato.masking.swap_records import SwapRecords
from sfumato.masking.top_code import TopCode
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
from sfumato.models.m_distinct import MDistinct
from sfumato.models.m_invariance import MInvariance
from sfumato.models.nt_closeness import NTCloseness
from sfumato.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.models.series_exposure import SeriesExposure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.xy_anonymity import XYAnonymity
from sfumato.plugins import Choices
from sfumato.words import words_in

RECOMMENDED = ("mondrian", "optimal", "anatomy")  # algorithms to start with, each for another purpose
NEEDED = {"name": str, "reference": str, "bound": str, "stricter": Mapping}
PLAIN = (str, int, float, tuple, type(None))


def _flaw(kind: type, loaded: object) -> str | None:
    """Say why something is no choice of this kind."""
    if not isinstance(loaded, type) or not issubclass(loaded, kind):
        return f"is no subclass of {kind.__name__}"
    if isabstract(loaded):
        return f"does not define {' and '.join(sorted(getattr(loaded, '__abstractmethods__', ())))}"
    if not is_dataclass(loaded):
        return "is no dataclass"
    needed = {fact: form for fact, form in NEEDED.items() if fact in kind.__annotations__}
    lacking = [fact for fact, form in needed.items() if not isinstance(getattr(loaded, fact, None), form)]
    return f"has no {' and no '.join(lacking)}" if lacking else None


_OUR_MODELS: tuple[type[PrivacyModel], ...] = (
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
    SeriesExposure,
    MDistinct,
)
_OUR_ALGORITHMS: tuple[type[Algorithm], ...] = (
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
    AsIs,
    Anatomy,
    CrossBucket,
    LocalAnatomy,
    LocalAnatomyGeneralization,
    MInvariantBuckets,
    NCPTopDown,
    Sabre,
    Slicing,
    Mdav,
    VMdav,
    KMember,
    GreedyPKClustering,
    MaaSlie,
)
MODELS: Choices[type[PrivacyModel]] = Choices(
    what="model",
    group="sfumato.models",
    built_in={model.name: model for model in _OUR_MODELS},
    flaw=partial(_flaw, PrivacyModel),
)
ALGORITHMS: Choices[type[Algorithm]] = Choices(
    what="algorithm",
    group="sfumato.algorithms",
    built_in={algorithm.name: algorithm for algorithm in _OUR_ALGORITHMS},
    flaw=partial(_flaw, Algorithm),
)
_OUR_STEPS: tuple[type[MaskingStep], ...] = (
    SuppressCells,
    Pram,
    SwapRanks,
    SwapRecords,
    AddNoise,
    RotateNumbers,
    TopCode,
    BottomCode,
    RoundNumbers,
)
STEPS: Choices[type[MaskingStep]] = Choices(
    what="step",
    group="sfumato.steps",
    built_in={step.name: step for step in _OUR_STEPS},
    flaw=partial(_flaw, MaskingStep),
)
MEASURES: dict[str, Measure] = {
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


def measure(measured: Measured, *, covers: bool = True) -> dict[str, float]:
    """Compute all measures that mean something; `covers` says whether published cells cover their originals."""
    meaningful = {
        name: each
        for name, each in MEASURES.items()
        if (covers or not each.of_covers) and (measured.minorities or not each.of_sensitive)
    }
    return {name: each.compute(measured) for name, each in meaningful.items()}


def unite_measures(pieces: Sequence[tuple[int, Mapping[str, float]]], whole: Measured) -> dict[str, float]:
    """Put together the measures of disjoint pieces of a table, each with its number of records; see `Measure.unite`."""
    names = pieces[0][1]
    return {name: MEASURES[name].unite([(many, found[name]) for many, found in pieces], whole) for name in names}


def describe_choice(choice: type[PrivacyModel | Algorithm | MaskingStep]) -> dict[str, object]:
    """Describe a model, algorithm or masking step: name, first sentence, parameters with defaults, facts, reference."""
    parameters: dict[str, Any] = {}
    for field in fields(choice):  # type: ignore[arg-type]  # every choice is a dataclass
        parameters[field.name] = {"type": declared_type(field)}
        if field.default is not MISSING:
            parameters[field.name]["default"] = (
                field.default if isinstance(field.default, PLAIN) else str(field.default)
            )
    return {
        "name": choice.name,
        "class": choice.__name__,
        "summary": " ".join((choice.__doc__ or "").strip().split("\n\n")[0].split()),
        "parameters": parameters,
        "facts": _facts(choice),
        "reference": choice.reference,
    }


def declared_type(field: Field[Any]) -> str:
    """Write the type of a parameter as it reads in a signature, whether it was declared as a text or as a type.

    >>> from dataclasses import make_dataclass
    >>> from collections.abc import Sequence
    >>> [declared_type(field) for field in fields(make_dataclass("Made", [("k", int), ("quasi", Sequence[str])]))]
    ['int', 'Sequence[str]']
    """
    written = field.type.__name__ if type(field.type) is type else str(field.type)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", written)


def _facts(choice: type[PrivacyModel | Algorithm | MaskingStep]) -> dict[str, object]:
    """List the declared facts; those that depend on parameters as they are by default, if there is a default."""
    if issubclass(choice, MaskingStep):
        return {"promise": choice.words.promise, "open": choice.words.open}
    names = FACTS if issubclass(choice, Algorithm) else MODEL_FACTS
    complete = all(field.default is not MISSING for field in fields(choice))  # type: ignore[arg-type]  # each is a dataclass
    source = choice() if issubclass(choice, Algorithm) and complete else choice
    declared = {name: getattr(source, name) for name in names}
    return {name: value for name, value in declared.items() if not isinstance(value, property)} | _said(choice)


def _said(choice: type[PrivacyModel | Algorithm]) -> dict[str, object]:
    """Say which attack a model stops, and what an algorithm of ours gives."""
    if issubclass(choice, Algorithm):
        say, key = words_in("en"), f"algorithms.gives.{choice.name}"
        return {"gives": say(key)} if choice.name in ALGORITHMS.built_in and key in say else {}
    return {} if choice.words is None else {"stops": choice.words.stops}
