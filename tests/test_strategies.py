"""The shared strategies draw what they promise."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding.coded_table import encode_table
from strategies import described_tables, group_counts, hierarchies


@given(described_tables(least_rows=2, most_rows=8))
def test_a_described_table_can_be_coded(drawn):
    table, schema = drawn
    coded = encode_table(table, schema)
    assert coded.rows == table.num_rows
    for column in (*coded.quasi, *coded.sensitive):
        missing = (column.codes == column.domain.missing).sum()
        assert missing == table[column.name].null_count


@given(st.integers(1, 8).flatmap(lambda n: hierarchies(range(n))))
def test_a_hierarchy_gets_coarser_until_one_node_is_left(hierarchy):
    nodes = [level.max() + 1 for level in hierarchy.levels]
    assert nodes == sorted(nodes, reverse=True)
    assert nodes[0] == len(hierarchy.leaves)
    assert nodes[-1] == 1
    assert all((np.diff(level) >= 0).all() for level in hierarchy.levels)


@given(group_counts())
def test_no_group_is_empty(matrix):
    assert all(sum(row) > 0 for row in matrix)
    assert len({len(row) for row in matrix}) == 1
