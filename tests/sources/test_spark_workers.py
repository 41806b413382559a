"""What runs in the workers of Spark, run here: rows are packed, cut into parts and written as they are published."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.odd_columns import MOMENT

from sfumato import __version__
from sfumato.sources import spark_workers
from sfumato.sources.packing import Digit
from sfumato.sources.spark_workers import CHANGED, PartWriting, asking, pack, regrouped, unpack


@pytest.mark.parametrize("sizes", [[3, 4, 5], [12], [1] * 12, [0, 12, 0]])
def test_rows_are_regrouped_in_their_order(sizes):
    ends = np.cumsum(sizes)
    tables = [pa.table({"a": np.arange(end - size, end)}) for end, size in zip(ends, sizes, strict=True)]
    found = list(regrouped(iter(tables), 5))
    assert [each.num_rows for each in found] == [5, 5, 2]
    assert pa.concat_tables(found)["a"].to_pylist() == list(range(12))


@pytest.mark.parametrize("most", [2, 3, 100])
def test_rows_are_packed_and_unpacked(most, monkeypatch):
    monkeypatch.setattr(spark_workers, "SHIPPED", most)
    batches = pa.table({"a": [1, 2, 3, None], "b": list("wxyz")}).to_batches(max_chunksize=1)
    cells = [cell for sent in pack(iter(batches)) for cell in sent["sent"].to_pylist()]
    assert len(cells) == -(-4 // most)
    assert pa.concat_tables(map(unpack, cells)).to_batches() == pa.Table.from_batches(batches).to_batches()


def test_workers_tell_what_they_have(tmp_path):
    for folder, sees in ((None, True), (str(tmp_path), True), (str(tmp_path / "missing"), False)):
        (answer,) = asking(folder)(iter([]))
        assert answer.to_pylist() == [{"version": __version__, "sees": sees}]


def test_a_worker_without_sfumato_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sfumato", None)
    (answer,) = asking(None)(iter(pa.table({"id": [1]}).to_batches()))
    assert answer.to_pylist() == [{"version": None, "sees": True}]


def writing(folder) -> PartWriting:
    labels = pa.array(["young", "old"])
    return PartWriting(
        folder=str(folder),
        sent=(Digit("", 2, lambda ranks: {"age": labels.take(pa.array(ranks))}), "at"),
        types={"at": pa.timestamp("us")},
        zones={"at": "UTC"},
        names=("age", "at"),
    )


def test_every_part_becomes_a_file(tmp_path):
    sent = pa.table(
        {
            "part": pa.array([0, 0, 2, 2, 2], pa.int32()),
            "o0": pa.array([0, 1, 1, 1, 1]),
            "o1": pa.array([MOMENT] * 4 + [None], pa.timestamp("us")),
        }
    )
    reports = list(writing(tmp_path)(iter(sent.to_batches(max_chunksize=3))))
    told = [row for report in reports for row in report.to_pylist()]
    assert [(row["part"], row["rows"]) for row in told] == [(0, 2), (2, 3)]
    files = [tmp_path / row["file"] for row in told]
    assert [row["bytes"] for row in told] == [file.stat().st_size for file in files]
    assert len({file.parent for file in files}) == 2
    assert [pq.read_table(file)["age"].to_pylist() for file in files] == [["young", "old"], ["old"] * 3]
    assert pq.read_schema(files[0]).field("at").type == pa.timestamp("us", "UTC")


def test_a_combination_that_nobody_counted_is_reported(tmp_path):
    sent = pa.table({"part": pa.array([0], pa.int32()), "o0": pa.array([None], pa.int64()), "o1": pa.array([MOMENT])})
    (report,) = writing(tmp_path)(iter(sent.to_batches()))
    assert report["rows"].to_pylist() == [CHANGED]


def test_a_worker_that_does_not_see_the_folder_makes_none(tmp_path):
    sent = pa.table({"part": pa.array([0], pa.int32()), "o0": pa.array([0]), "o1": pa.array([MOMENT])})
    with pytest.raises(FileNotFoundError):
        list(writing(tmp_path / "elsewhere")(iter(sent.to_batches())))
    assert not (tmp_path / "elsewhere").exists()
