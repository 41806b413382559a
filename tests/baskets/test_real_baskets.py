"""The figures of the specification on two real tables."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.transactions._itemsets import ItemsetCounter

pytestmark = pytest.mark.shared_data
FIGURES = {
    ("bms1", 1): (497, 41, None),
    ("bms1", 2): (63_973, 31_345, 3_702),
    ("bms1", 3): (4_796_411, 3_813_039, None),
    ("retail", 1): (16_470, 5_482, None),
    ("retail", 2): (3_586_797, 3_410_846, 75_374),
}
SHAPES = {"bms1": (59_602, 497, 267), "retail": (88_162, 16_470, 76)}


@pytest.mark.parametrize("name", SHAPES)
def test_real_tables_read_as_they_should(shared_data, name):
    baskets = sf.transactions.read(shared_data / "baskets" / f"{name}.dat")
    assert (len(baskets), len(baskets.items), baskets.lengths.max()) == SHAPES[name]


@pytest.mark.parametrize(("name", "size"), FIGURES)
def test_rare_sets_are_those_of_the_specification(shared_data, name, size):
    baskets = sf.transactions.read(shared_data / "baskets" / f"{name}.dat")
    found = ItemsetCounter(baskets.codes, baskets.offsets, len(baskets.items)).count(size, 5, mark=True)
    sets, rare, marked = FIGURES[name, size]
    assert (found.sets, found.violations) == (sets, rare)
    assert marked is None or found.marks.sum() == marked


def test_apriori_anonymization_loses_no_more_than_asked(shared_data):
    baskets = sf.transactions.read(shared_data / "baskets" / "bms1.dat")
    search = sf.transactions.AprioriAnonymization(taxonomy=sf.transactions.balanced_taxonomy(baskets.items))
    release = sf.transactions.anonymize(baskets, models=[sf.transactions.KmAnonymity(k=5, m=2)], algorithm=search)
    assert release.audit.holds
    assert release.metrics["ncp"] <= 0.058
