"""Cuts between two seeds are those of algorithm 5.3 of the thesis, read line by line."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local._ncp import choose_penalty
from sfumato.tables.algorithms.local.top_down_ncp import SeedPartitioning
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import JOBS

SCHEMA = sf.Schema(
    quasi_identifiers=["age", "job", "color", "rank"],
    hierarchies={"job": JOBS},
    orders={"rank": ["low", "middle", "high"]},
)
PEOPLE = st.lists(
    st.tuples(
        st.integers(20, 30),
        st.sampled_from(["clerk", "lawyer", "farmer", "sailor", "diver"]),
        st.sampled_from(["red", "green", "blue"]),
        st.sampled_from(["low", "middle", "high"]),
    ),
    min_size=1,
    max_size=24,
)


def task(table: pa.Table, k: int) -> TableRequest:
    coded, rng = encode_table(table, SCHEMA), np.random.default_rng(0)
    return TableRequest(
        table=coded, models=(KAnonymity(k=k),), max_suppressed=0, missing=MissingPolicy.OWN_VALUE, rng=rng
    )


def algorithm_5_3(asked: TableRequest, k: int) -> set[frozenset[int]]:
    """Follow the thesis: lines 6 to 23, one set after the other."""
    columns = [(column.codes.astype(np.int64), choose_penalty(column.domain)) for column in asked.table.quasi]

    def distance(one: int, other: int) -> float:
        return sum(float(penalty.pair(codes[[one]], codes[[other]])[0]) for codes, penalty in columns)

    def find_nodes(records: list[int]) -> tuple[int, int]:
        """Look three times for the record farthest from the last one, as in Xu et al. 2006."""
        before = after = records[0]
        for _ in range(3):
            before, after = after, max(records, key=lambda record: distance(record, after))
        return before, after

    finished, waiting = set(), [list(range(asked.table.rows))]
    while waiting:
        records = waiting.pop()
        if len(records) < 2 * k:
            finished.add(frozenset(records))
            continue
        one, other = find_nodes(records)
        nearer = [record for record in records if distance(record, one) < distance(record, other)]
        rest = [record for record in records if record not in nearer]
        if len(nearer) >= k and len(rest) >= k:
            waiting += [nearer, rest]
        else:
            finished.add(frozenset(records))
    return finished


@given(PEOPLE, st.integers(1, 4))
def test_groups_are_those_of_the_thesis(people, k):
    columns = zip(*people, strict=True)
    asked = task(pa.table(dict(zip(SCHEMA.quasi_identifiers, map(list, columns), strict=True))), k)
    cutting = SeedPartitioning(asked)
    cutting.run()
    found = {frozenset(np.flatnonzero(cutting.leaf_of == leaf).tolist()) for leaf in range(cutting.leaves)}
    assert found == algorithm_5_3(asked, k)


def test_an_uneven_side_ends_the_cutting_where_a_cheaper_cut_goes_on():
    """Fourteen ages in two heaps with one far away: seeds part the far one, which is fewer than k."""
    ages = [*range(20, 27), *range(40, 46), 99]
    table, schema = pa.table({"age": ages}), sf.Schema(quasi_identifiers=["age"])
    sizes = {
        mechanism: sorted(
            sf.anonymize(
                table, schema, [KAnonymity(k=3)], sf.algorithms.LocalAnatomyGeneralization(mechanism=mechanism)
            ).audit.sizes.tolist()
        )
        for mechanism in ("cuts", "seeds", "cheapest")
    }
    assert sizes["seeds"] == [14]
    assert len(sizes["cuts"]) == len(sizes["cheapest"]) == 4


@pytest.mark.parametrize("mechanism", ["seeds", "cheapest"])
def test_equal_records_end_the_cutting(mechanism):
    table, schema = pa.table({"age": [30] * 9}), sf.Schema(quasi_identifiers=["age"])
    release = sf.anonymize(
        table, schema, [KAnonymity(k=2)], sf.algorithms.LocalAnatomyGeneralization(mechanism=mechanism), seed=1
    )
    assert release.audit.sizes.tolist() == [9]
