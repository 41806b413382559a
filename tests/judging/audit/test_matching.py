"""Under the policy matches-all, groups are compared with a look at every pair of records."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import sfumato as sf
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.schema.schema import Schema
from strategies import CELLS, tables

QUASI = ("sex", "job", "age")
SCHEMA = Schema(quasi=QUASI, sensitive=["disease"], missing="matches-all")


def is_hollow(row: tuple[object, ...]) -> bool:
    """Return whether a record is missing in all quasi-identifiers."""
    return all(cell is None for cell in row)


def matching(table: pa.Table) -> list[list[object]]:
    """Give for every record the sensitive values of all records that it cannot be told from."""
    rows = list(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    values = table["disease"].to_pylist()
    return [
        [
            value
            for theirs, value in zip(rows, values, strict=True)
            if all(a == b or a is None or b is None for a, b in zip(mine, theirs, strict=True))
            and (not is_hollow(theirs) or is_hollow(mine))
        ]
        for mine in rows
    ]


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


@given(tables([*QUASI, "disease"], missing=True, most_rows=16))
def test_every_record_is_judged_with_all_that_match_it(table):
    audit = sf.audit(table, SCHEMA, [KAnonymity(k=3), DistinctLDiversity(l=2, sensitive="disease")])
    matches = matching(table)
    counts = [worst_counts(values) for values in matches]
    assert audit.level("k-anonymity") == min(map(len, matches))
    assert audit.level("distinct-l-diversity") == min(map(oracles.distinct_values, counts))
    assert audit.level("frequency-l-diversity") == pytest.approx(float(min(map(oracles.inverse_largest_share, counts))))
    assert audit.level("entropy-l-diversity") == pytest.approx(min(map(oracles.effective_values, counts)))
    known = Counter(value for value in table["disease"].to_pylist() if value is not None)
    if known:
        assert audit.level("t-closeness") == pytest.approx(float(max(distance(v, known) for v in matches)))
    assert audit.verdicts[0].records == sum(len(values) < 3 for values in matches)
    assert audit.verdicts[1].records == sum(oracles.distinct_values(c) < 2 for c in counts)


@given(tables([*QUASI, "disease"], missing=True, most_rows=16))
def test_groups_stay_those_of_equal_cells(table):
    rows = Counter(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    assert sorted(sf.audit(table, SCHEMA).sizes.tolist()) == sorted(rows.values())


@given(tables([*QUASI, "disease"], most_rows=16))
def test_without_missing_cells_both_policies_agree(table):
    own = Schema(quasi=QUASI, sensitive=["disease"])
    assert sf.audit(table, SCHEMA).to_dict() == sf.audit(table, own).to_dict()


def test_records_that_are_missing_everywhere_hide_nobody():
    cells = [*range(100), *[None] * 4]
    schema = Schema(quasi=["age", "zip"], missing="matches-all")
    audit = sf.audit(pa.table({"age": cells, "zip": cells}), schema, [KAnonymity(k=5)])
    assert not audit.holds
    assert audit.level("k-anonymity") == 1
    assert audit.verdicts[0].records == 100


@pytest.mark.parametrize("algorithm", [sf.Mondrian(), sf.Mondrian(strict=False), sf.NCPTopDown(), sf.Sabre()], ids=repr)
def test_searches_do_not_hide_anybody_behind_them_either(algorithm):
    cells = [*range(100), *[None] * 4]
    table = pa.table({"age": cells, "zip": cells, "disease": ["flu", "cold"] * 52})
    schema = Schema(quasi=["age", "zip"], sensitive=["disease"], missing="matches-all")
    release = sf.anonymize(table, schema, [KAnonymity(k=5)], algorithm, seed=1)
    assert min(release.audit.groups.sizes[release.audit.sizes != 4]) >= 5
    assert release.published["age"].null_count == 4
    with pytest.raises(sf.InfeasibleError, match="All records with any quasi-identifier"):
        sf.anonymize(table, schema, [KAnonymity(k=101)], algorithm, seed=1)


@pytest.mark.parametrize("algorithm", [sf.Mondrian(), sf.NCPTopDown(), sf.Sabre()], ids=repr)
def test_a_table_of_nothing_but_missing_cells_is_published(algorithm):
    table = pa.table({"age": pa.nulls(6, pa.int64()), "disease": ["flu", "cold"] * 3})
    schema = Schema(quasi=["age"], sensitive=["disease"], missing="matches-all")
    assert sf.anonymize(table, schema, [KAnonymity(k=5)], algorithm, seed=1).audit.level("k-anonymity") == 6


def test_a_set_of_quasi_identifiers_that_is_missing_hides_nobody_in_a_search():
    rng = np.random.default_rng(4)
    zips = [
        None if lost else int(code) for lost, code in zip(rng.random(80) < 0.4, rng.integers(0, 9, 80), strict=True)
    ]
    table = pa.table({"age": rng.integers(20, 60, 80), "zip": zips})
    schema = Schema(quasi=["age", "zip"], missing="matches-all")
    models = [KAnonymity(k=3), KAnonymity(k=6, quasi=["zip"])]
    assert sf.anonymize(table, schema, models, seed=1).audit.holds


def test_matching_is_not_transitive():
    table = pa.table(
        {"sex": ["F", None, "M"], "job": ["clerk"] * 3, "age": [20] * 3, "disease": ["flu", "cold", "ulcer"]}
    )
    audit = sf.audit(table, SCHEMA, [KAnonymity(k=3)])
    assert audit.level("k-anonymity") == 2
    assert audit.verdicts[0].records == 2


def test_many_groups_that_miss_different_cells_are_matched_in_little_memory():
    """Every group of one half matches every group of the other half: 10 to the 10 pairs."""
    many = 100_000
    numbers = np.arange(many)
    lost = pa.nulls(many, pa.int64())
    left = pa.chunked_array([pa.array(numbers), lost])
    right = pa.chunked_array([lost, pa.array(numbers)])
    table = pa.table({"a": left, "b": right, "s": pa.array(["x", "y"] * many)})
    audit = sf.audit(table, Schema(quasi=["a", "b"], sensitive=["s"], missing="matches-all"))
    assert audit.level("k-anonymity") == many + 1


@given(st.data())
def test_a_column_of_any_type_may_miss_cells(data):
    name = data.draw(st.sampled_from([name for name in CELLS if name != "disease"]))
    table = data.draw(tables([name], missing=True, most_rows=12))
    cells = table[name].to_pylist()
    matches = [len(cells) if a is None else cells.count(a) for a in cells]
    assert sf.audit(table, Schema(quasi=[name], missing="matches-all")).level("k-anonymity") == min(matches)
