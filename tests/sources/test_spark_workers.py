"""What runs in the workers of Spark, run here: rows are packed, cut into parts and written as they are published."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.odd_columns import MOMENT

from sfumato import __version__
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines import _spark_workers
from sfumato.tables.engines._packing import PackedField
from sfumato.tables.engines._spark_workers import (
    CHANGED,
    PartWriter,
    make_worker_probe,
    pack_rows,
    rebatch,
    sort_rows,
    unpack_rows,
)


@pytest.mark.parametrize("sizes", [[3, 4, 5], [12], [1] * 12, [0, 12, 0]])
def test_rows_are_regrouped_in_their_order(sizes):
    ends = np.cumsum(sizes)
    tables = [pa.table({"a": np.arange(end - size, end)}) for end, size in zip(ends, sizes, strict=True)]
    found = list(rebatch(iter(tables), 5))
    assert [each.num_rows for each in found] == [5, 5, 2]
    assert pa.concat_tables(found)["a"].to_pylist() == list(range(12))


@pytest.mark.parametrize("most", [2, 3, 100])
def test_rows_are_packed_and_unpacked(most, monkeypatch):
    monkeypatch.setattr(_spark_workers, "SHIPPED", most)
    batches = pa.table({"a": [1, 2, 3, None], "b": list("wxyz")}).to_batches(max_chunksize=1)
    cells = [cell for sent in pack_rows(iter(batches)) for cell in sent["sent"].to_pylist()]
    assert len(cells) == -(-4 // most)
    assert pa.concat_tables(map(unpack_rows, cells)).to_batches() == pa.Table.from_batches(batches).to_batches()


def test_workers_tell_what_they_have(tmp_path):
    here, missing = str(tmp_path), str(tmp_path / "missing")
    for folders, unseen in (([], None), ([here], None), ([here, missing], missing)):
        (answer,) = make_worker_probe(folders)(iter([]))
        assert answer.to_pylist() == [{"version": __version__, "unseen": unseen}]


def test_a_worker_without_sfumato_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sfumato", None)
    (answer,) = make_worker_probe([])(iter(pa.table({"id": [1]}).to_batches()))
    assert answer.to_pylist() == [{"version": None, "unseen": None}]


def writing(folder, *, ordered=True) -> PartWriter:
    labels = pa.array(["young", "old"])
    return PartWriter(
        folder=str(folder),
        sent=(PackedField("", 2, lambda ranks: {"age": labels.take(pa.array(ranks))}), "at"),
        types={"at": pa.timestamp("us")},
        zones={"at": "UTC"},
        names=("age", "at"),
        ordered=ordered,
    )


def test_every_part_becomes_a_file(tmp_path):
    sent = pa.table(
        {
            "part": pa.array([0, 0, 2, 2, 2], pa.int32()),
            "hashed": pa.array([-1, 2**40 + 5, 0, -(2**63), 2**63 - 1]),
            "o0": pa.array([0, 1, 1, 1, 1]),
            "o1": pa.array([MOMENT] * 4 + [None], pa.timestamp("us")),
        }
    )
    reports = list(writing(tmp_path)(iter(sent.to_batches(max_chunksize=3))))
    told = [row for report in reports for row in report.to_pylist()]
    assert [(row["part"], row["rows"]) for row in told] == [(0, 2), (2, 3)]
    hashes = [-1 + 2**40 + 5, -1]
    assert [row["high"] * 2**32 + row["low"] + row["rows"] * 2**31 for row in told] == hashes
    files = [tmp_path / row["file"] for row in told]
    assert [row["bytes"] for row in told] == [file.stat().st_size for file in files]
    assert len({file.parent for file in files}) == 2
    assert [pq.read_table(file)["age"].to_pylist() for file in files] == [["young", "old"], ["old"] * 3]
    assert pq.read_schema(files[0]).field("at").type == pa.timestamp("us", "UTC")


def test_a_combination_that_nobody_counted_is_reported(tmp_path):
    ranks, parts = pa.array([None], pa.int64()), pa.array([0], pa.int32())
    sent = pa.table({"part": parts, "hashed": [1], "o0": ranks, "o1": pa.array([MOMENT])})
    for ordered in (True, False):
        (report,) = writing(tmp_path, ordered=ordered)(iter(sent.to_batches()))
        assert report["rows"].to_pylist() == [CHANGED]


@given(seed=st.integers(0, 1000), rows=st.integers(1, 60), largest=st.sampled_from([2**62, 50, 1]))
@examples(30)
def test_rows_are_ordered_by_all_columns_with_missing_cells_last(seed, rows, largest):
    rng = np.random.default_rng(seed)
    columns = {
        "hashed": pa.array(rng.integers(0, 9, rows)),
        "rank": pa.array(rng.integers(0, 3, rows)),
        "text": pa.array(np.array(["é", "z", "Z", "zz"])[rng.integers(0, 4, rows)], mask=rng.random(rows) < 0.3),
        "number": pa.array(rng.integers(-2, 2, rows) / 2, mask=rng.random(rows) < 0.3),
        "truth": pa.array(rng.random(rows) < 0.5, mask=rng.random(rows) < 0.3),
        "day": pa.array(rng.integers(0, 3, rows).astype(np.int32)).cast(pa.date32()),
    }
    wide = {f"wide {at}": pa.array(rng.integers(0, 2**40, rows)) for at in range(13)}  # more than one number holds
    table = pa.table(columns | wide)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_spark_workers, "LARGEST", largest)
        found = sort_rows(table.slice(start, 7) for start in range(0, rows, 7))
    by = [(name, "ascending") for name in table.column_names[1:]]
    expected = table.take(pc.sort_indices(table, sort_keys=by))
    assert strip_metadata(found).equals(expected)


def test_a_worker_that_does_not_see_the_folder_makes_none(tmp_path):
    sent = pa.table({"part": pa.array([0], pa.int32()), "hashed": [1], "o0": pa.array([0]), "o1": pa.array([MOMENT])})
    with pytest.raises(FileNotFoundError):
        list(writing(tmp_path / "elsewhere")(iter(sent.to_batches())))
    assert not (tmp_path / "elsewhere").exists()
