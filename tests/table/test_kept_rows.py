"""Rows in a mapped file: any part of them is what the table holds."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.workbench import _row_store
from sfumato.workbench._row_store import RowStore, write_rows


@given(rows=st.lists(st.none() | st.integers(0, 99), max_size=30), first=st.integers(0, 40), count=st.integers(0, 40))
@examples(60)
def test_a_page_is_a_part_of_the_table(rows, first, count, tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "rows.arrow"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_store, "BATCH", 7)
        write_rows(pa.table({"a": pa.array(rows, pa.int64()), "b": pa.array(map(str, rows), pa.string())}), path)
    kept = RowStore(path)
    part = rows[first : first + count]
    assert kept.count == len(rows)
    assert kept.texts(first, count) == [[None if cell is None else str(cell) for cell in part], [*map(str, part)]]


def test_types_and_metadata_survive(tmp_path):
    field = pa.field("when", pa.timestamp("us"), metadata={"zone": "Europe/Berlin"})
    table = pa.table([pa.array([0, None], pa.timestamp("us"))], schema=pa.schema([field], metadata={"a": "b"}))
    write_rows(table, tmp_path / "rows.arrow")
    assert RowStore(tmp_path / "rows.arrow").table().equals(table, check_metadata=True)


@given(rows=st.lists(st.none() | st.sampled_from("abc"), max_size=30), first=st.integers(0, 40))
@examples(40)
def test_columns_of_codes_are_told_as_their_values(rows, first, tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "rows.arrow"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_store, "BATCH", 7)
        write_rows(pa.table({"a": pa.array(rows, pa.string()).dictionary_encode()}), path)
    assert RowStore(path).texts(first, 9) == [rows[first : first + 9]]
