"""Damage that tests of several ways do."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.tables.out_of_core import _segment_results


@pytest.fixture
def swap_cells(monkeypatch):
    """Return what makes parts be written with the cells of a column moved by a row."""
    write = _segment_results.write_part

    def swap(column):
        def wrong(part, shown):
            at = shown.schema.get_field_index(column)
            cells = shown[column].cast(pa.string()).to_pylist()
            write(part, shown.set_column(at, column, pa.array([*cells[1:], cells[0]]).cast(shown[column].type)))

        monkeypatch.setattr(_segment_results, "write_part", wrong)

    return swap
