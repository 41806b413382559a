"""Under the policy matches-all, groups are compared with a look at every pair of records."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import sfumato as sf
from drawn_examples import examples
from sfumato.schema.schema import Schema
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import CELLS, tables

QUASI = ("sex", "job", "age")
UNHEARD_OF = object()
SCHEMA = Schema(quasi_identifiers=QUASI, sensitive=["disease"], missing="matches-all")


def is_hollow(row: tuple[object, ...]) -> bool:
    """Return whether a record is missing in all quasi-identifiers."""
    return all(cell is None for cell in row)


def matching(table: pa.Table) -> list[list[list[object]]]:
    """Give for every record the sensitive values of all records that its person may be, for every person it may be.

    What a missing cell would say is any value of the column, or one that nobody else has.
    """
    rows = list(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    values = table["disease"].to_pylist()
    found = []
    for mine in rows:
        columns = zip(mine, zip(*rows, strict=True), strict=True)
        choices = [{*theirs, UNHEARD_OF} - {None} if cell is None else {cell} for cell, theirs in columns]
        found.append(
            [
                [
                    value
                    for theirs, value in zip(rows, values, strict=True)
                    if all(cell is None or cell == own for cell, own in zip(theirs, person, strict=True))
                    and (not is_hollow(theirs) or is_hollow(mine))
                ]
                for person in itertools.product(*choices)
            ]
        )
    return found


def worst_counts(values: list[object]) -> list[int]:
    """Give the most frequent known value to every missing one."""
    counts = Counter(value for value in values if value is not None)
    if not counts:
        return [len(values)]
    top = counts.most_common(1)[0][0]
    counts[top] += values.count(None)
    return list(counts.values())


def distance(values: list[object], totals: Counter[object]) -> Fraction:
    """Move unknown values from end to end, and known ones as far as they are."""
    unknown = Fraction(values.count(None), len(values))
    if unknown == 1:
        return Fraction(1)
    counts = Counter(value for value in values if value is not None)
    known = oracles.equal_distance([counts[value] for value in totals], list(totals.values()))
    return (1 - unknown) * known + unknown


def levels(matches: list[list[object]], known: Counter[object]) -> dict[str, float]:
    """Give the levels of the worst of some groups."""
    counts = [worst_counts(values) for values in matches]
    found = {
        "k-anonymity": min(map(len, matches)),
        "distinct-l-diversity": min(map(oracles.distinct_values, counts)),
        "frequency-l-diversity": float(min(map(oracles.inverse_largest_share, counts))),
        "entropy-l-diversity": min(map(oracles.effective_values, counts)),
    }
    return {**found, "t-closeness": float(max(distance(v, known) for v in matches))} if known else found


@examples(60)
@given(tables([*QUASI, "disease"], missing=True, most_rows=10), st.sampled_from([0, 1, 2]))
def test_levels_are_those_of_the_worst_that_missing_cells_may_be(table, complete):
    for name in QUASI[:complete]:  # with one column that misses cells, or none, levels are exact
        table = table.set_column(table.schema.get_field_index(name), name, table[name].fill_null(table[name][0]))
        assume(not table[name].null_count)
    audit = sf.audit(table, SCHEMA, [KAnonymity(k=3), DistinctLDiversity(l=2, sensitive="disease")])
    matches = matching(table)
    known = Counter(value for value in table["disease"].to_pylist() if value is not None)
    exact = levels([values for each in matches for values in each], known)
    rows = list(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    values = table["disease"].to_pylist()
    alone = levels([[v for mine, v in zip(rows, values, strict=True) if mine == row] for row in rows], known)
    assert audit.level("k-anonymity") == exact["k-anonymity"]
    assert audit.verdicts[0].records == sum(min(map(len, each)) < 3 for each in matches)
    for name, level in exact.items():
        found = audit.level(name)
        if complete == len(QUASI) - 1:
            assert found == pytest.approx(level)
        elif name == "t-closeness":
            assert level - 1e-12 <= found <= alone[name] + 1e-12
        else:
            assert alone[name] - 1e-12 <= found <= level + 1e-12


def test_somebody_who_knows_what_a_missing_cell_would_say_finds_one_record():
    table = pa.table({"age": [30, 30, 30, None], "disease": ["flu", "cold", "ulcer", "flu"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"], missing="matches-all")
    audit = sf.audit(table, schema, [KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")])
    assert audit.level("k-anonymity") == 1
    assert audit.level("distinct-l-diversity") == 1
    assert [verdict.records for verdict in audit.verdicts] == [1, 1]
    assert sf.audit(table.slice(0, 3), schema, [KAnonymity(k=2)]).level("k-anonymity") == 3
    assert sf.assess_risk(table, schema).to_dict()["smallest_group"] == 1
    for algorithm in (
        sf.algorithms.Mondrian(),
        sf.algorithms.TopDownNCP(),
        sf.algorithms.SABRE(),
        sf.algorithms.Optimal(),
        sf.algorithms.LocalRecoding(),
    ):
        release = sf.anonymize(table, schema, [KAnonymity(k=2)], algorithm, seed=1)
        assert release.audit.level("k-anonymity") >= 2


def test_whoever_fits_two_groups_lends_its_value_to_neither():
    """An adversary whose target is 30 and lives in 100 meets two records with flu and one with a cold."""
    table = pa.table(
        {
            "age": [30, None, None],
            "zip": [None, 100, None],
            "sex": ["f", "f", "f"],
            "disease": ["flu", "flu", "cold"],
        }
    )
    schema = Schema(quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"], missing="matches-all")
    audit = sf.audit(table, schema, [KAnonymity(k=2)])
    assert audit.level("k-anonymity") == 1
    assert audit.level("frequency-l-diversity") <= 3 / 2


@given(tables([*QUASI, "disease"], missing=True, most_rows=16))
def test_groups_stay_those_of_equal_cells(table):
    rows = Counter(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    assert sorted(sf.audit(table, SCHEMA).sizes.tolist()) == sorted(rows.values())


@given(tables([*QUASI, "disease"], most_rows=16))
def test_without_missing_cells_both_policies_agree(table):
    own = Schema(quasi_identifiers=QUASI, sensitive=["disease"])
    assert sf.audit(table, SCHEMA).to_dict() == sf.audit(table, own).to_dict()


def test_records_that_are_missing_everywhere_hide_nobody():
    cells = [*range(100), *[None] * 4]
    schema = Schema(quasi_identifiers=["age", "zip"], missing="matches-all")
    audit = sf.audit(pa.table({"age": cells, "zip": cells}), schema, [KAnonymity(k=5)])
    assert not audit.holds
    assert audit.level("k-anonymity") == 1
    assert audit.verdicts[0].records == 104


@pytest.mark.parametrize(
    "algorithm",
    [sf.algorithms.Mondrian(), sf.algorithms.Mondrian(strict=False), sf.algorithms.TopDownNCP(), sf.algorithms.SABRE()],
    ids=repr,
)
def test_searches_do_not_hide_anybody_behind_them_either(algorithm):
    cells = [*range(100), *[None] * 4]
    table = pa.table({"age": cells, "zip": cells, "disease": ["flu", "cold"] * 52})
    schema = Schema(quasi_identifiers=["age", "zip"], sensitive=["disease"], missing="matches-all")
    release = sf.anonymize(table, schema, [KAnonymity(k=5)], algorithm, seed=1)
    assert min(release.audit.sizes) >= 5


@pytest.mark.parametrize(
    "algorithm", [sf.algorithms.Mondrian(), sf.algorithms.TopDownNCP(), sf.algorithms.SABRE()], ids=repr
)
def test_a_table_of_nothing_but_missing_cells_is_published(algorithm):
    table = pa.table({"age": pa.nulls(6, pa.int64()), "disease": ["flu", "cold"] * 3})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"], missing="matches-all")
    assert sf.anonymize(table, schema, [KAnonymity(k=5)], algorithm, seed=1).audit.level("k-anonymity") == 6


def test_a_set_of_quasi_identifiers_that_is_missing_hides_nobody_in_a_search():
    rng = np.random.default_rng(4)
    zips = [
        None if lost else int(code) for lost, code in zip(rng.random(80) < 0.4, rng.integers(0, 9, 80), strict=True)
    ]
    table = pa.table({"age": rng.integers(20, 60, 80), "zip": zips})
    schema = Schema(quasi_identifiers=["age", "zip"], missing="matches-all")
    models = [KAnonymity(k=3), KAnonymity(k=6, quasi=["zip"])]
    assert sf.anonymize(table, schema, models, seed=1).audit.holds


def test_a_record_that_misses_less_is_no_help():
    table = pa.table(
        {"sex": ["F", None, "M"], "job": ["clerk"] * 3, "age": [20] * 3, "disease": ["flu", "cold", "ulcer"]}
    )
    audit = sf.audit(table, SCHEMA, [KAnonymity(k=2)])
    assert audit.level("k-anonymity") == 1
    assert audit.verdicts[0].records == 1


def test_many_groups_that_miss_different_cells_are_matched_in_little_memory():
    """Every group of one half matches every group of the other half: 10 to the 10 pairs."""
    many = 100_000
    numbers = np.arange(many)
    lost = pa.nulls(many, pa.int64())
    left = pa.chunked_array([pa.array(numbers), lost])
    right = pa.chunked_array([lost, pa.array(numbers)])
    table = pa.table({"a": left, "b": right, "s": pa.array(["x", "y"] * many)})
    audit = sf.audit(table, Schema(quasi_identifiers=["a", "b"], sensitive=["s"], missing="matches-all"))
    assert audit.level("k-anonymity") == 1


@given(st.data())
def test_a_column_of_any_type_may_miss_cells(data):
    name = data.draw(st.sampled_from([name for name in CELLS if name != "disease"]))
    table = data.draw(tables([name], missing=True, most_rows=12))
    cells = table[name].to_pylist()
    lost = cells.count(None)
    matches = [lost if a is None else cells.count(a) for a in cells]
    assert sf.audit(table, Schema(quasi_identifiers=[name], missing="matches-all")).level("k-anonymity") == min(matches)
