"""`sfumato buckets`: parting, joining and spelling out, by hand and back."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

import sfumato as sf

PUBLISHED = pa.table(
    {
        "age": [20, 30, 40, 50],
        "disease": ["flu", "cold", "flu", "ulcer"],
        "_bucket_disease": [0, 0, 1, 1],
    }
)
ROLES = ("--quasi", "age", "--sensitive", "disease")


@pytest.fixture
def table(tmp_path):
    sf.write(PUBLISHED, tmp_path / "table.csv")
    return tmp_path / "table.csv"


def test_parts_hold_no_linked_value_and_join_to_the_same_buckets(run, table, tmp_path):
    parts, joined = tmp_path / "parts", tmp_path / "joined.csv"
    assert run("buckets", "split", table, *ROLES, "--out", parts).exit_code == 0
    assert sf.read(parts / "records.csv").column_names == ["age", "_bucket_disease"]
    assert sf.read(parts / "values disease.csv").num_rows == 4
    assert run("buckets", "join", parts, "--out", joined).exit_code == 0
    cells = [tuple(row[name] for name in ("_bucket_disease", "disease")) for row in sf.read(joined).to_pylist()]
    assert Counter(cells) == Counter([(0, "flu"), (0, "cold"), (1, "flu"), (1, "ulcer")])


def test_every_record_is_spelled_out_with_probabilities(run, table, tmp_path):
    assert run("buckets", "spell-out", table, *ROLES, "--out", tmp_path / "long.csv").exit_code == 0
    rows = sf.read(tmp_path / "long.csv").to_pylist()
    assert len(rows) == 8
    assert {row["_probability"] for row in rows} == {0.5}


def test_nothing_is_overwritten_and_strange_folders_are_refused(run, table, tmp_path):
    (tmp_path / "empty").mkdir()
    refused = run("buckets", "join", tmp_path / "empty", "--out", tmp_path / "new.csv")
    assert refused.exit_code == 2
    assert "has no records.csv" in refused.stderr
    again = run("buckets", "spell-out", table, *ROLES, "--out", table)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine", encoding="utf-8")
    assert run("buckets", "split", table, *ROLES, "--out", tmp_path / "full").exit_code == 2
    assert (tmp_path / "full/mine.txt").read_text("utf-8") == "mine"
