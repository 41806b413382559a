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


def matching(table: pa.Table) -> list[list[object]]:
    """Give for every record the sensitive values of all records that it cannot be told from."""
    rows = list(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    values = table["disease"].to_pylist()
    return [
        [
            value
            for theirs, value in zip(rows, values, strict=True)
            if all(a == b or a is None or b is None for a, b in zip(mine, theirs, strict=True))
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
    matches = [sum(a == b or a is None or b is None for b in cells) for a in cells]
    assert sf.audit(table, Schema(quasi=[name], missing="matches-all")).level("k-anonymity") == min(matches)
