"""Attacks on a population that changes: they succeed on releases made one by one, and fail on those of a ledger."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sfumato as sf

SCHEMA = sf.Schema(identifiers=["patient"], quasi_identifiers=["age", "sex", "zip"], sensitive=["condition"])
COLUMNS = [*SCHEMA.identifiers, *SCHEMA.quasi_identifiers, *SCHEMA.sensitive]
DIVERSE = [sf.models.FrequencyLDiversity(l=2, sensitive="condition")]
INVARIANT = [sf.models.MInvariance(m=2, sensitive="condition")]


def growing(persons: int, versions: int) -> list[pa.Table]:
    """Make up quarters in which persons come and move, and none leaves."""
    found: list[pa.Table] = []
    for quarter in sf.datasets.generate_hospital_series(persons, versions, seed=1):
        table = quarter.select(COLUMNS)
        if found:
            gone = pc.invert(pc.is_in(found[-1]["patient"], table["patient"]))
            table = pa.concat_tables([table, found[-1].filter(gone)])
        found.append(table)
    return found


def kept(place, tables, models, algorithm) -> list[sf.Release]:
    """Release tables one after the other with a ledger."""
    ledger, found = sf.Series.create(place / "ledger"), []
    for number, table in enumerate(tables):
        found.append(sf.anonymize(table, SCHEMA, models, algorithm, max_suppressed=0.3, ledger=ledger))
        found[-1].write(place / f"q{number}", report=False)
    return found


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    tables = growing(200, 2)
    alone = [sf.anonymize(table, SCHEMA, DIVERSE) for table in tables]
    together = kept(tmp_path_factory.mktemp("grown"), tables, DIVERSE, sf.algorithms.Mondrian())
    return tuple(sf.attacks.attack_series(each, seed=1) for each in (alone, together))


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    tables = [quarter.select(COLUMNS) for quarter in sf.datasets.generate_hospital_series(50, 5, seed=1)]
    alone = [
        sf.anonymize(table, SCHEMA, DIVERSE, sf.algorithms.Anatomy(), max_suppressed=0.3, secret="ab" * 32)
        for table in tables
    ]
    together = kept(tmp_path_factory.mktemp("changed"), tables, INVARIANT, sf.algorithms.MInvariantBuckets())
    return tuple(sf.attacks.attack_series(each, seed=1) for each in (alone, together))


@pytest.mark.parametrize(
    "attack", ["intersection", "difference", "forward-comparison", "cross-comparison", "backward-comparison"]
)
def test_where_none_leaves_attacks_succeed_on_mondrian_alone_and_fail_on_atoms(grown, attack):
    alone, together = (each.result(attack) for each in grown)
    assert alone.gains
    assert alone.successes == alone.claims > 0
    assert together.claims == 0


@pytest.mark.parametrize("attack", ["intersection", "critical-absence", "forward-comparison", "cross-comparison"])
def test_where_persons_leave_attacks_succeed_on_anatomy_alone_and_fail_on_invariant_buckets(changed, attack):
    alone, together = (each.result(attack) for each in changed)
    assert alone.gains
    assert alone.successes == alone.claims > 0
    assert together.claims == 0


def test_value_equivalence_is_not_stopped_and_reported_instead(changed):
    assert changed[1].result("value-equivalence").claims > 0
