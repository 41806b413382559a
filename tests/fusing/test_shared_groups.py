"""The common state of all parties refuses whatever does not fit it, or breaks a requirement."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ProtocolError
from sfumato.fusion import _specialization as module
from sfumato.fusion._specialization import EquivalenceClasses
from sfumato.fusion.session import KAnonymityRequirement

OWNERS = {"job": "a", "sex": "b", "note": "b"}
BOTH = [KAnonymityRequirement(quasi=["job", "sex"], k=2), KAnonymityRequirement(quasi=["sex"], k=3)]


@pytest.fixture
def partition() -> EquivalenceClasses:
    return EquivalenceClasses(8, OWNERS, BOTH)


def halves(*ones: int) -> np.ndarray:
    return np.isin(np.arange(8), ones).astype(np.int64)


def test_a_split_is_shown_in_the_table(partition):
    partition.split("job", 0, ["clerk", "boss"], halves(0, 1, 2, 3))
    partition.split("sex", 0, ["f", "m"], halves(0, 1, 4, 5))
    table = partition.table("class", pa.array(["yes"] * 8))
    assert table.column_names == ["job", "sex", "note", "class"]
    assert Counter(zip(*(column.to_pylist() for column in table.columns), strict=True)) == {
        ("boss", "m", "*", "yes"): 2,
        ("boss", "f", "*", "yes"): 2,
        ("clerk", "m", "*", "yes"): 2,
        ("clerk", "f", "*", "yes"): 2,
    }


def test_groups_of_all_attributes_of_a_requirement_count(partition):
    everybody = np.arange(8)
    assert partition.allows_split("job", everybody, halves(0, 1))
    assert not partition.allows_split("job", everybody, halves(0))
    assert not partition.allows_split("sex", everybody, halves(0, 1))
    assert partition.allows_split("sex", everybody, halves(0, 1, 2))
    partition.split("job", 0, ["clerk", "boss"], halves(0, 1, 2, 3))
    assert partition.allows_split("sex", everybody, halves(0, 1, 4, 5))
    assert not partition.allows_split("sex", everybody, halves(0, 1, 2, 4, 5))
    assert partition.allows_split("sex", everybody, halves(0, 1, 2, 3)), "an empty part harms nobody"


def test_an_attribute_without_a_requirement_keeps_the_least_k(partition):
    assert partition.allows_split("note", np.arange(8), halves(0, 1))
    assert not partition.allows_split("note", np.arange(8), halves(0))


@pytest.mark.parametrize(
    ("node", "labels", "children"),
    [
        (7, ["f", "m"], halves(0, 1, 2)),
        (0, ["f", "m"], halves(0, 1, 2)[:-1]),
        (0, ["f"], halves(0, 1, 2)),
        (0, [], np.zeros(8, dtype=np.int64)),
        (0, ["f", "m"], halves(0, 1, 2) - 1),
        (0, ["f", "m"], halves(0, 1, 2).reshape(8, 1)),
        (0, ["f", "m"], np.zeros(0, dtype=np.int64)),
    ],
    ids=["no such node", "too few records", "no such child", "no children", "negative", "a matrix", "nobody"],
)
def test_a_split_that_does_not_fit_is_refused(partition, node, labels, children):
    with pytest.raises(ProtocolError, match="does not fit the common records"):
        partition.split("sex", node, labels, children)


def test_a_node_without_records_or_one_that_is_gone_cannot_be_split(partition):
    partition.split("job", 0, ["clerk", "boss", "sailor"], halves(0, 1, 2, 3))
    for node in (0, 3):
        with pytest.raises(ProtocolError, match="does not fit the common records"):
            partition.split("job", node, ["one"], np.zeros(0 if node else 8, dtype=np.int64))


def test_a_split_that_breaks_a_requirement_is_refused_and_changes_nothing(partition):
    before = partition.table("class", pa.array(["yes"] * 8))
    with pytest.raises(ProtocolError, match="breaks a requirement; nothing is published"):
        partition.split("sex", 0, ["f", "m"], halves(0))
    assert partition.table("class", pa.array(["yes"] * 8)).equals(before)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=20), st.sampled_from([0, 1000]))
def test_keys_are_numbered_alike_by_counting_and_by_sorting(keys, sparse):
    numbers, sizes = numbered(np.array(keys), sparse)
    distinct = sorted(set(keys))
    assert numbers.tolist() == [distinct.index(key) for key in keys]
    assert sizes.tolist() == [keys.count(key) for key in distinct]


def numbered(keys, sparse):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SPARSE", sparse)
        return module._numbered(keys, 41)
