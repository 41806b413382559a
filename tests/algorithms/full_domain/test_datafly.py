"""Datafly walks up by its rule, and stops as soon as it may."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import assume, given

import sfumato as sf
from lattice_oracle import Oracle, partition
from lattice_tasks import make_task, tasks
from sfumato.tables.algorithms.full_domain.datafly import Datafly
from sfumato.tables.published.solution import NOT_PUBLISHED
from sfumato.testing._requests import MaxGroupSize
from worked_lattices import age_and_zip

PATIENTS = pa.table(
    {
        "age": [21, 22, 23, 31, 32, 33],
        "zip": ["111", "111", "112", "221", "221", "222"],
        "sex": ["f", "f", "f", "m", "m", "m"],
    }
)
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "zip", "sex"],
    hierarchies={"age": sf.hierarchies.Intervals(10), "zip": sf.hierarchies.Prefixes()},
)


def published(table, schema, k, **how):
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=k)], Datafly(), **how)
    return list(zip(*(release.frame[name].to_pylist() for name in schema.quasi_identifiers), strict=True))


def test_the_walk_by_hand():
    # Distinct values are 6, 4, 2: ages go first. Then they are 2, 4, 2: zips go next, and all groups are good.
    assert published(PATIENTS, SCHEMA, 2) == [("[20, 30)", "11*", "f")] * 3 + [("[30, 40)", "22*", "m")] * 3


def test_the_walk_stops_where_few_enough_are_left_over():
    # After the first step one record of each decade is alone with its zip.
    expected = [("[20, 30)", "111", "f")] * 2 + [("[30, 40)", "221", "m")] * 2
    assert published(PATIENTS, SCHEMA, 2, max_suppressed=0.34) == expected
    assert published(PATIENTS, SCHEMA, 2, max_suppressed=0.33) != expected


@pytest.mark.parametrize(("order", "expected"), [(["a", "b"], {"*"}), (["b", "a"], {"1", "2"})])
def test_of_equally_many_values_the_first_attribute_of_the_schema_is_taken(order, expected):
    table = pa.table({"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"]})
    schema = sf.Schema(quasi_identifiers=order)
    assert {row[order.index("a")] for row in published(table, schema, 2)} == expected


def walked(oracle):
    """Walk up by the definitions: one set of cells per attribute, one step at a time."""
    levels = [0] * len(oracle.shape)
    while not oracle.allows(oracle.nodes[tuple(levels)]):
        distinct = [len(set(cells[level])) for cells, level in zip(oracle.cells, levels, strict=True)]
        free = [j for j, height in enumerate(oracle.shape) if levels[j] < height - 1]
        if not free:
            return None
        levels[next(j for j in free if distinct[j] == max(distinct[i] for i in free))] += 1
    return oracle.nodes[tuple(levels)]


@given(task=tasks())
def test_the_walk_is_that_of_the_definition(task):
    assume(Datafly().check(task) is None)
    node = walked(Oracle(task))
    assume(node is not None)
    found = Datafly().search(task)
    kept = [row for cell in node.kept for row in node.groups[cell]]
    assert sorted(node.suppressed) == [row for row, group in enumerate(found.group) if group == NOT_PUBLISHED]
    labels = {row: cell for cell in node.kept for row in node.groups[cell]}
    assert partition(labels[row] for row in sorted(kept)) == partition(found.group[row] for row in sorted(kept))
    assert set(found.by_value) == {column.name for column in task.table.quasi}


def test_fewer_records_are_lost_by_recoding_them_again():
    table = pa.table({"zip": ["111", "111", "121", "122", "131", "131"]})
    schema = sf.Schema(quasi_identifiers=["zip"], hierarchies={"zip": sf.hierarchies.Prefixes()})
    once, again = (
        sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], Datafly(refine=refine)) for refine in (False, True)
    )
    assert set(once.frame["zip"].to_pylist()) == {"11*", "12*", "13*"}
    assert set(again.frame["zip"].to_pylist()) == {"111", "12*", "131"}


def test_models_that_generalizing_may_break_are_refused():
    task = make_task(age_and_zip().table, [MaxGroupSize(k=3)], 1)
    assert Datafly().check(task) == (
        "Datafly does not support FewerThan(k=3), because merging valid groups can break it; use Optimal."
    )


def test_progress_follows_the_steps():
    told = []
    Datafly().search(age_and_zip(progress=lambda done, _note="": told.append(done)))
    assert told == [1 / 5, 2 / 5, 1.0]
