"""Distinct combinations: whatever way they are grouped, groups and counts are those of the rows."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lattice_oracle import partition
from lattice_tasks import codes, quasi_columns
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.full_domain import _combinations as engine
from sfumato.tables.algorithms.full_domain._combinations import combine_columns
from sfumato.tables.algorithms.full_domain._lattice import LevelMap

WAYS = {
    "as it comes": {},
    "hashed": {"DENSE_LEAST": 0, "DENSE_SHARE": 0},
    "compiled": {"DENSE_LEAST": 0, "DENSE_SHARE": 0, "COMPILED_ROWS": 0},
    "every column apart": {"PACKED": 1},
    "packed in pairs": {"PACKED": 20},
    "nothing remembered": {"CACHE_SIZE": 0},
    "little remembered": {"CACHE_SIZE": 64 * 30},
    "keys too long": {"LARGEST_KEY": 4},
    "every row apart": {"REDUCTION_SHARE": 0.0},
    "all equal rows together": {"REDUCTION_SHARE": 1.0},
    "in few places": {"DENSE_LEAST": 0, "DENSE_SHARE": 0, "MIXER": np.uint64(0)},
}


@st.composite
def columns(draw, most_rows=25):
    """Draw quasi-identifiers and columns that come along."""
    rows = draw(st.integers(1, most_rows))
    quasi = [draw(quasi_columns(rows=rows, name=f"q{j}")) for j in range(draw(st.integers(1, 4)))]
    domain = Domain("s", Scale.NOMINAL, pa.array(["a", "b"]))
    along = [CodedColumn(domain, draw(codes(3, rows))) for _ in range(draw(st.integers(0, 2)))]
    return quasi, along


def changed(way):
    stack = ExitStack()
    for name, value in WAYS[way].items():
        stack.enter_context(patch.object(engine, name, value))
    return stack


def combined(quasi, along, weights=None):
    """Combine columns; also return the combination of every case."""
    found, reduction = combine_columns(quasi, [LevelMap.of(column.domain).levels for column in quasi], along, weights)
    return found, reduction.expand(np.arange(len(found), dtype=np.int32))


def levels_of(data, quasi, least=None):
    least = least or [0] * len(quasi)
    tops = [LevelMap.of(column.domain).height for column in quasi]
    return tuple(data.draw(st.integers(low, top)) for low, top in zip(least, tops, strict=True))


def cells(quasi, levels):
    """Give the nodes of every row."""
    parts = [LevelMap.of(c.domain).levels[level][c.codes].tolist() for c, level in zip(quasi, levels, strict=True)]
    return list(zip(*parts, strict=True))


def assert_groups_are_those_of_rows(found, of_row, quasi, along, levels):
    counted = found.group(levels)
    labels = counted.labels[of_row].tolist()
    assert partition(labels) == partition(cells(quasi, levels))
    assert counted.sizes.tolist() == [labels.count(group) for group in range(len(counted.sizes))]
    assert counted.sizes.dtype == np.int64
    for size in range(1, len(of_row) + 2):
        assert counted.count_in_small_groups(size) == counted.sizes[counted.sizes < size].sum()
    for mine, theirs in zip(found.along, along, strict=True):
        here = Counter(zip(labels, theirs.codes.tolist(), strict=True))
        weighted = Counter()
        for group, code, weight in zip(counted.labels.tolist(), mine.codes.tolist(), found.weights, strict=True):
            weighted[group, code] += int(weight)
        assert weighted == here


@pytest.mark.parametrize("way", WAYS)
@given(drawn=columns(), data=st.data())
def test_groups_are_those_of_the_rows(way, drawn, data):
    quasi, along = drawn
    with changed(way):
        found, of_row = combined(quasi, along)
        for _ in range(3):
            assert_groups_are_those_of_rows(found, of_row, quasi, along, levels_of(data, quasi))


@pytest.mark.parametrize("way", WAYS)
@given(drawn=columns(), data=st.data())
def test_rolled_up_combinations_group_as_the_rows_do(way, drawn, data):
    quasi, along = drawn
    with changed(way):
        found, of_row = combined(quasi, along)
        lower = levels_of(data, quasi)
        counted = found.group(lower)
        rolled = found.rolled_up(counted)
        assert len(rolled) <= len(found)
        assert rolled.weights.sum() == len(of_row)
        kinds = set(zip(counted.labels.tolist(), *(column.codes.tolist() for column in found.along), strict=True))
        assert len(rolled) == len(kinds)
        upper = levels_of(data, quasi, least=lower)
        below, above = found.group(upper), rolled.group(upper)
        assert sorted(above.sizes.tolist()) == sorted(below.sizes.tolist())
        for number, column in enumerate(quasi):
            ladder = LevelMap.of(column.domain)
            exact = np.bincount(ladder.levels[upper[number]], found.histograms()[number])
            assert np.bincount(ladder.levels[upper[number]], rolled.histograms()[number]).tolist() == exact.tolist()
        again = rolled.rolled_up(above)
        assert sorted(again.group(upper).sizes.tolist()) == sorted(below.sizes.tolist())
        assert classes(again, upper) == classes(found, upper)


def classes(found, levels):
    """Count the values of every column that came along in every group, groups in any order."""
    labels = found.group(levels).labels.tolist()
    result = []
    for column in found.along:
        counts = {}
        for group, code, weight in zip(labels, column.codes.tolist(), found.weights, strict=True):
            counts.setdefault(group, Counter())[code] += int(weight)
        result.append(sorted(tuple(sorted(counter.items())) for counter in counts.values()))
    return result


@pytest.mark.parametrize("way", WAYS)
@given(drawn=columns(), data=st.data())
def test_weighted_cases_are_grouped_as_their_records_are(way, drawn, data):
    quasi, along = drawn
    cases = len(quasi[0].codes)
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=cases, max_size=cases)))
    with changed(way):
        found, of_case = combined(quasi, along, weights)
        case_of = np.repeat(np.arange(cases), weights)
        records, carried = ([column.take(case_of) for column in columns] for columns in (quasi, along))
        assert_groups_are_those_of_rows(found, of_case[case_of], records, carried, levels_of(data, quasi))


@given(columns(), st.data())
def test_histograms_count_codes_of_rows(drawn, data):
    quasi, along = drawn
    found, of_row = combined(quasi, along)
    chosen = data.draw(st.sets(st.integers(0, len(found) - 1)))
    rows = [row for row in range(len(of_row)) if of_row[row] in chosen]
    for number, column in enumerate(quasi):
        width = len(column.domain) + 1
        assert found.histograms()[number].tolist() == np.bincount(column.codes, minlength=width).tolist()
        some = found.histograms(np.array(sorted(chosen), dtype=np.intp))[number]
        assert some.tolist() == np.bincount(column.codes[rows], minlength=width).tolist()
        assert found.column(number)[of_row].tolist() == column.codes.tolist()


@given(columns())
def test_equal_rows_are_one_combination(drawn):
    quasi, along = drawn
    with changed("all equal rows together"):
        found, of_row = combined(quasi, along)
    rows = list(zip(*(column.codes.tolist() for column in [*quasi, *along]), strict=True))
    assert partition(of_row.tolist()) == partition(rows)
    assert found.weights.tolist() == np.bincount(of_row).tolist()


def test_remembered_nodes_take_bounded_memory():
    rng = np.random.default_rng(0)
    domain = Domain("b", Scale.NOMINAL, pa.array(["x", "y"]))
    quasi = [CodedColumn(domain, rng.integers(0, 2, 200).astype(np.uint8)) for _ in range(8)]
    with patch.object(engine, "CACHE_SIZE", 64 * 200):
        found, _ = combined(quasi, [])
        for node in np.ndindex(*(2,) * 8):
            found.group(node)
        assert sum(len(nodes) for nodes, _ in found._remembered.values()) <= 64 * 200 + len(found)


def test_keys_beyond_64_bits():
    rng = np.random.default_rng(0)
    domain = Domain("w", Scale.NOMINAL, pa.array([f"v{i:02}" for i in range(60)]))
    rows = np.repeat(rng.integers(0, 60, (1500, 14)), 2, axis=0)
    rows[::300, 3] = 60
    quasi = [CodedColumn(domain, rows[:, j].astype(np.uint8)) for j in range(14)]
    found, of_row = combined(quasi, [])
    widths = [found._pack_nodes(number, pack, (0,) * 14)[1] for number, pack in enumerate(found.packs)]
    assert np.prod([float(width) for width in widths]) > 2.0**63
    assert partition(found.group((0,) * 14).labels[of_row].tolist()) == partition(map(tuple, rows.tolist()))
    one_up = (1, *(0,) * 13)
    assert partition(found.group(one_up).labels[of_row].tolist()) == partition(map(tuple, rows[:, 1:].tolist()))


@pytest.mark.parametrize("values", [300, 70_000])
def test_columns_wider_than_a_pack(values):
    domain = Domain("w", Scale.NOMINAL, pa.array([f"v{i:05}" for i in range(values)]))
    other = Domain("x", Scale.NOMINAL, pa.array([f"v{i:02}" for i in range(50)]))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, values + 1, 5000), rng.integers(0, 50, 5000)
    quasi = [CodedColumn(domain, drawn[0].astype(np.uint32)), CodedColumn(other, drawn[1].astype(np.uint8))]
    found, of_row = combined(quasi, [])
    for number in (0, 1):
        assert found.column(number)[of_row].tolist() == drawn[number].tolist()
    assert partition(found.group((0, 0)).labels[of_row].tolist()) == partition(zip(*map(list, drawn), strict=True))
    assert partition(found.group((0, 1)).labels[of_row].tolist()) == partition(drawn[0].tolist())
