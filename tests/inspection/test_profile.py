"""What a column looks like."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.inspection._profiles import SAMPLE, CellType, profile_column

CELLS = st.lists(st.none() | st.integers(0, 5), min_size=1, max_size=12)


@given(CELLS)
def test_figures_are_those_of_their_definitions(cells):
    found = profile_column("x", pa.chunked_array([cells], pa.int64()))
    pairs = list(itertools.combinations(cells, 2))
    separated = sum(a != b for a, b in pairs)
    assert found.distinct == len(set(cells) - {None})
    assert found.missing == cells.count(None)
    assert found.distinction == len(set(cells)) / len(cells)
    assert found.separation == pytest.approx(separated / len(pairs) if pairs else 1.0)


@given(CELLS)
def test_codes_tell_the_values_back(cells):
    found = profile_column("x", pa.chunked_array([cells], pa.int64()))
    values = [*found.values.to_pylist(), None]
    assert [values[code] for code in found.codes.tolist()] == cells
    assert found.counts.tolist() == [cells.count(value) for value in values]


def test_pieces_of_a_column_are_coded_alike():
    found = profile_column("x", pa.chunked_array([["a", "b"], ["b", None], []], pa.string()))
    assert found.codes.tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (pa.string(), CellType.TEXT),
        (pa.int64(), CellType.WHOLE),
        (pa.float64(), CellType.REAL),
        (pa.date32(), CellType.DATE),
        (pa.timestamp("us"), CellType.MOMENT),
        (pa.bool_(), CellType.BOOLEAN),
    ],
)
def test_the_type_tells_what_cells_hold(type_, kind):
    found = profile_column("x", pa.chunked_array([pa.nulls(3, type_)]))
    assert (found.kind, found.distinct, found.missing, found.typical_length) == (kind, 0, 3, 0.0)


def test_the_sample_is_spread_over_all_distinct_values():
    found = profile_column("x", pa.chunked_array([np.arange(10 * SAMPLE)]))
    sample = [int(text) for text in found.sample.to_pylist()]
    assert len(set(sample)) == SAMPLE
    assert (sample[0], sample[-1]) == (0, 10 * SAMPLE - 1)
    assert max(b - a for a, b in itertools.pairwise(sample)) <= 11


def test_no_cell_stands_in_the_repr():
    assert "canary" not in repr(profile_column("x", pa.chunked_array([["canary"]])))
