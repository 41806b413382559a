"""How many records an algorithm may leave out, and what is said when it would leave out more."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution

SCHEMA = sf.Schema(quasi_identifiers=["age"], insensitive=["born"])


@dataclass(frozen=True, kw_only=True)
class LeavesOut(sf.algorithms.Mondrian):
    """Leave out some records, whatever is allowed."""

    records: int

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish, and leave some of it out."""
        found = super().search(task)
        return replace(found, group=np.where(np.arange(task.table.rows) < self.records, NOT_PUBLISHED, found.group))


def people(rows: int) -> pa.Table:
    return pa.table({"age": np.arange(rows) % 2, "born": pa.array(np.arange(rows), pa.int32()).cast(pa.date32())})


def publish(rows: int, records: int, allowed: float) -> sf.Release:
    return sf.anonymize(
        people(rows), SCHEMA, [sf.models.KAnonymity(k=1)], LeavesOut(records=records), max_suppressed=allowed
    )


@pytest.mark.parametrize(("rows", "allowed"), [(100, 0.29), (1000, 0.001), (7, 0.15), (300, 0.57), (10, 0.3)])
def test_the_share_that_may_be_left_out_is_taken_exactly(rows, allowed):
    most = round(allowed * rows) if round(allowed * rows) <= allowed * rows + 1e-9 else round(allowed * rows) - 1
    assert publish(rows, most, allowed).suppressed == most
    with pytest.raises(sf.errors.InfeasibleError, match=f"more than the {most} allowed"):
        publish(rows, most + 1, allowed)


@pytest.mark.parametrize(("rows", "records"), [(3, 1), (7, 3), (30_000, 10_000), (11, 10)])
def test_the_share_that_is_named_as_enough_is_enough(rows, records):
    with pytest.raises(sf.errors.InfeasibleError, match="max_suppressed=") as refused:
        publish(rows, records, 0.0)
    named = re.search(r"max_suppressed=([0-9.]+) ", str(refused.value))
    assert named
    assert publish(rows, records, float(named[1])).suppressed == records


def test_leaving_out_everybody_is_refused():
    with pytest.raises(sf.errors.InfeasibleError, match="would suppress all records"):
        publish(5, 5, 1.0)


def test_what_is_left_out_is_nowhere_in_the_release():
    release = publish(10, 4, 0.4)
    assert sorted(release.correspondence.tolist()) == [4, 5, 6, 7, 8, 9]
    assert release.frame["born"].to_pylist() == people(10)["born"].take(release.correspondence).to_pylist()
    assert release.audit.sizes.sum() == 6
    aligned = release.aligned()
    assert aligned["age"].to_pylist()[:4] == ["*"] * 4
    assert aligned["born"].to_pylist()[:4] == [None] * 4
    assert aligned["born"].to_pylist()[4:] == people(10)["born"].to_pylist()[4:]


def test_a_schema_that_publishes_nothing_is_refused():
    with pytest.raises(sf.errors.SchemaError, match="nothing to publish"):
        sf.anonymize(people(5), sf.Schema(identifiers=["age"]), [sf.models.KAnonymity(k=2)])
