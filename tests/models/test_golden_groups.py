"""The models on tables that the thesis and the MAA-SLIE paper print; facts from tests/golden/README.md."""

from __future__ import annotations

import csv
import math

import pyarrow as pa
import pytest

from golden_files import GOLDEN
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.models.beta_likeness import BetaLikeness
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.delta_disclosure import DeltaDisclosure
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.nt_closeness import NTCloseness
from sfumato.tables.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups

TWO_ANONYMOUS = ["thesis_2_1", "thesis_3_3"]
FOUR_DIVERSE = ["thesis_2_2", "thesis_3_4"]
ORIGINALS = ["thesis_1_1", "thesis_3_2", "maa_slie_1"]
LEVELS = {"Cancer": "high", "HIV": "high", "Diabetes": "medium", "Hepatitis": "medium", "Flu": "low", "Fever": "low"}


def groups_of(name: str) -> Groups:
    """Count diseases in groups of equal quasi-identifiers, in the order in which the groups are printed."""
    with (GOLDEN / f"{name}.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    quasi = [tuple(record.get(column) for column in ("age", "sex", "zip")) for record in records]
    diseases = sorted({record["disease"] for record in records})
    matrix = [[0] * len(diseases) for _ in dict.fromkeys(quasi)]
    for values, record in zip(quasi, records, strict=True):
        matrix[list(dict.fromkeys(quasi)).index(values)][diseases.index(record["disease"])] += 1
    domain = Domain("disease", Scale.NOMINAL, pa.array(diseases))
    return Groups.from_counts(disease=matrix, domains={"disease": domain})


def entropy_level(groups: Groups) -> list[float]:
    return EntropyLDiversity(l=2, sensitive="disease").levels(groups).tolist()


@pytest.mark.parametrize("name", TWO_ANONYMOUS)
def test_tables_with_k_2_give_bronchitis_away(name):
    groups = groups_of(name)
    assert KAnonymity(k=2).levels(groups).tolist() == [3, 2, 3]
    assert KAnonymity(k=2).satisfied_by(groups).all()
    assert not KAnonymity(k=3).satisfied_by(groups).all()
    assert DistinctLDiversity(l=2, sensitive="disease").levels(groups).tolist() == [3, 1, 3]
    assert FrequencyLDiversity(l=3, sensitive="disease").levels(groups).tolist() == [3, 1, 3]
    assert entropy_level(groups) == [3, 1, 3]
    assert RecursiveLDiversity(c=2, l=2, sensitive="disease").levels(groups).tolist() == [0.5, math.inf, 0.5]
    assert TCloseness(t=0.5, sensitive="disease").levels(groups).tolist() == [1 / 2, 3 / 4, 1 / 2]
    assert TCloseness(t=0.5, sensitive="disease").satisfied_by(groups).tolist() == [True, False, True]


@pytest.mark.parametrize("name", TWO_ANONYMOUS)
def test_a_disclosed_value_gains_three_times_its_share(name):
    groups = groups_of(name)
    assert BetaLikeness(beta=2, sensitive="disease").levels(groups).tolist() == [5 / 3, 3, 5 / 3]
    assert TCloseness(t=0.5, sensitive="disease", distance="variational").levels(groups).tolist() == [0.5, 0.75, 0.5]
    assert ConfidenceBounding(bounds=0.5, sensitive="disease").levels(groups).tolist() == [1 / 3, 1, 1 / 3]
    assert AlphaKAnonymity(alpha=0.5, k=2, sensitive="disease").satisfied_by(groups).tolist() == [True, False, True]
    bits = DeltaDisclosure(delta=3, sensitive="disease", present_only=True).levels(groups)
    assert bits == pytest.approx([math.log2(8 / 3), 2, math.log2(8 / 3)])
    divergence = TCloseness(t=2, sensitive="disease", distance="kl").levels(groups)
    first = (math.log(4 / 3) + 2 * math.log(8 / 3)) / 3
    assert divergence == pytest.approx([first, math.log(4), first])
    assert NTCloseness(n=3, t=0.5, sensitive="disease").levels(groups).tolist() == [0, 0.75, 0]


@pytest.mark.parametrize("name", FOUR_DIVERSE)
def test_no_value_of_the_4_diverse_tables_gains_more_than_its_share(name):
    groups = groups_of(name)
    assert BetaLikeness(beta=1, sensitive="disease").levels(groups).tolist() == [1, 1]
    assert BetaLikeness(beta=1, sensitive="disease").satisfied_by(groups).all()
    assert DeltaDisclosure(delta=1.5, sensitive="disease", present_only=True).levels(groups).tolist() == [1, 1]
    assert DeltaDisclosure(delta=1.5, sensitive="disease").levels(groups).tolist() == [math.inf, math.inf]
    assert AlphaKAnonymity(alpha=0.25, k=4, sensitive="disease").levels(groups).tolist() == [1, 1]


@pytest.mark.parametrize("name", FOUR_DIVERSE)
def test_tables_with_l_4_are_4_diverse_in_every_way(name):
    groups = groups_of(name)
    assert KAnonymity(k=4).satisfied_by(groups).tolist() == [True, True]
    assert DistinctLDiversity(l=4, sensitive="disease").satisfied_by(groups).all()
    assert FrequencyLDiversity(l=4, sensitive="disease").satisfied_by(groups).all()
    assert EntropyLDiversity(l=4, sensitive="disease").satisfied_by(groups).all()
    assert entropy_level(groups) == [4, 4]
    assert TCloseness(t=0.25, sensitive="disease").levels(groups).tolist() == [1 / 4, 1 / 4]
    assert TCloseness(t=0.25, sensitive="disease").satisfied_by(groups).all()
    assert RecursiveLDiversity(c=1, l=4, sensitive="disease").levels(groups).tolist() == [1, 1]
    assert not RecursiveLDiversity(c=1, l=4, sensitive="disease").satisfied_by(groups).any()


@pytest.mark.parametrize("name", ORIGINALS)
def test_originals_are_unique_and_support_at_most_l_4(name):
    groups = groups_of(name)
    assert KAnonymity(k=1).levels(groups).tolist() == [1] * 8
    whole = groups.merge_groups(groups.sizes * 0)
    assert FrequencyLDiversity(l=4, sensitive="disease").levels(whole).tolist() == [4]
    assert entropy_level(whole) == pytest.approx([2**2.5])
    assert TCloseness(t=0, sensitive="disease").satisfied_by(whole).all()


@pytest.mark.parametrize("name", ["maa_slie_2", "maa_slie_3"])
def test_the_papers_releases_are_2_anonymous_and_2_sensitive(name):
    groups = groups_of(name)
    assert KAnonymity(k=2).levels(groups).tolist() == [2, 2, 2, 2]
    assert DistinctLDiversity(l=2, sensitive="disease").levels(groups).tolist() == [2, 2, 2, 2]
    assert FrequencyLDiversity(l=2, sensitive="disease").satisfied_by(groups).all()
    assert PSensitiveKAnonymity(p=2, k=2, sensitive="disease").levels(groups).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("name", "levels"), [("maa_slie_2", [1, 2, 2, 2]), ("maa_slie_3", [2, 2, 2, 2])])
def test_a_similarity_attack_shows_a_serious_disease_unless_levels_are_mixed(name, levels):
    groups, of_disease = groups_of(name), {"sensitive": "disease"}
    model = HPKAnonymity(h=2, p=2, k=2, sensitivity_levels=LEVELS, **of_disease)
    assert [part.levels(groups).tolist() for part in model.parts] == [[2] * 4, [2] * 4, levels]
    assert model.satisfied_by(groups).tolist() == [level == 2 for level in levels]
    assert HPKAnonymity(h=1, p=2, k=2, sensitivity_levels=LEVELS, **of_disease).satisfied_by(groups).all()
    plus = PPlusSensitiveKAnonymity(p=2, k=2, categories=LEVELS, **of_disease)
    assert plus.satisfied_by(groups).tolist() == model.satisfied_by(groups).tolist()
