"""The classic searches on the field's standard table: Incognito finds the known optimum, Samarati the lowest nodes."""

from __future__ import annotations

import pytest

import sfumato as sf
from adult import COLUMNS, read_adult
from lattice_tasks import make_task
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.full_domain.datafly import Datafly
from sfumato.tables.algorithms.full_domain.incognito import Incognito
from sfumato.tables.algorithms.full_domain.samarati import Samarati

pytestmark = pytest.mark.shared_data


@pytest.fixture(scope="module")
def adult(shared_data):
    table, trees = read_adult(shared_data)
    return encode_table(table, Schema(quasi_identifiers=COLUMNS, hierarchies=trees))


@pytest.mark.parametrize(
    ("limit", "levels", "loss"),
    [(0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0.635544), (603, (0, 3, 0, 2, 2, 1, 1, 2, 0), 0.357482)],
)
def test_incognito_finds_the_optimum_and_samarati_the_lowest_of_all_minimal_nodes(adult, limit, levels, loss):
    task = make_task(adult, [sf.models.KAnonymity(k=5)], limit)
    found = Incognito().explore(task).exploration
    assert found.node(found.best) == levels
    assert found.proof.found == pytest.approx(loss, abs=1e-6)
    assert found.proof.optimal
    assert found.proof.checked < len(found) / 5
    minimal = found.minimal()
    least = min(map(sum, minimal))
    lowest = Samarati().explore(task).exploration
    assert {node for node in lowest.anonymous if sum(node) == least} == {node for node in minimal if sum(node) == least}
    assert lowest.proof.bound <= found.proof.found + 1e-12 <= lowest.proof.found + 2e-12
    assert Datafly().search(task).suppressed(task.table) <= limit
