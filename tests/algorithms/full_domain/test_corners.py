"""Corners of a table: groups in them are whole, and a search that looks at them first finds the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import any_tasks, make_task
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.errors import InfeasibleError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.full_domain import _recodings as core
from sfumato.tables.algorithms.full_domain import _recodings as module
from sfumato.tables.algorithms.full_domain._lattice import is_specialization
from sfumato.tables.algorithms.full_domain._recodings import RareCombinations, Recodings
from sfumato.tables.algorithms.full_domain.datafly import Datafly
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.algorithms.full_domain.samarati import Samarati
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.testing._requests import MaxGroupSize

K3 = (KAnonymity(k=3),)
SEARCHES = (Optimal(), Optimal(loss="precision"), Optimal(loss="discernibility"), Datafly(), Samarati())


def looking(least=0.0, stored=1):
    """Look at corners of every table, however small."""
    return patch.multiple(module, LEAST=least, SMALLER=1, STORED=stored), patch.object(core, "LARGE", 0)


def cells(combinations, ladders, levels):
    """Count records by the nodes of all columns, one combination after the other."""
    nodes = [
        ladder.levels[h][combinations.column(j)] for j, (ladder, h) in enumerate(zip(ladders, levels, strict=True))
    ]
    counted = Counter()
    for cell, weight in zip(zip(*(each.tolist() for each in nodes), strict=True), combinations.weights, strict=True):
        counted[cell] += int(weight)
    return counted


@examples(60)
@given(task=any_tasks(), least=st.sampled_from([0.0, 0.1, 0.4]), stored=st.sampled_from([0, 1]))
def test_groups_in_a_corner_are_whole(task, least, stored):
    recodings = Recodings(task)
    base = recodings.sources[0].combinations
    some, other = looking(least, stored)
    with some, other:
        corners = RareCombinations(base, recodings.ladders, recodings.histograms)
        for levels in recodings.lattice.nodes():
            inside, whole = cells(corners.of(levels), recodings.ladders, levels), cells(base, recodings.ladders, levels)
            assert inside
            assert inside.items() <= whole.items()


@examples(60)
@given(task=any_tasks(), least=st.sampled_from([0.0, 0.1, 0.4]))
def test_what_a_corner_rules_out_is_no_solution_and_nothing_below_is(task, least):
    task = replace(task, most_suppressed=0)
    oracle, recodings = Oracle(task), Recodings(task)
    some, other = looking(least)
    with some, other:
        for levels, node in oracle.nodes.items():
            check = recodings.check(levels, sparing=True)
            assert check.allowed == (levels in oracle.feasible)
            if not check.whole:
                assert 0 < check.suppressed == check.lost_below <= len(node.suppressed)
                assert check.suppressed == check.sizes[~check.satisfied].sum() == check.sizes[check.surely_valid].sum()
                assert not any(is_specialization(lower, levels) for lower in oracle.feasible)
    assert recodings.checked == len(oracle.nodes)


@pytest.mark.parametrize("search", SEARCHES, ids=repr)
@examples(25)
@given(task=any_tasks(), least=st.sampled_from([0.0, 0.1, 0.4]))
def test_a_search_that_looks_at_corners_publishes_the_same(search, task, least):
    assume(search.refusal(task) is None)
    some, other = looking(least)
    plain = outcome(search, task)
    with some, other:
        assert outcome(search, task) == plain


def outcome(search, task):
    """Search, and tell all that is published and proven; or the refusal."""
    try:
        found = search.search(replace(task, rng=np.random.default_rng(0)))
    except InfeasibleError as error:
        return str(error)
    recoded = {name: (list(each.labels), each.by_group.tolist()) for name, each in found.recoded.items()}
    return found.group.tolist(), recoded, found.proof


def skewed_task(models=K3, limit=0):
    """Make two columns of which one value is rare, and 400 rows."""
    leaves = [f"leaf {i}" for i in range(6)]
    tree = Hierarchy.from_levels(leaves, [leaves, ["many"] * 5 + ["rare"]], ordered=True)
    rng = np.random.default_rng(2)
    codes = [np.where(rng.random(400) < 0.05, 5, rng.integers(0, 5, 400)).astype(np.uint8) for _ in range(2)]
    quasi = [CodedColumn(Domain(f"q{j}", Scale.CATEGORICAL, pa.array(leaves), tree), codes[j]) for j in range(2)]
    return make_task(CodedTable(400, tuple(quasi), ()), models, limit)


def test_a_corner_holds_rare_values_and_rules_out_a_node():
    with patch.object(core, "LARGE", 10), patch.object(module, "LEAST", 0.002):
        check = Recodings(skewed_task()).check((0, 0), sparing=True)
    assert not check.whole
    assert not check.allowed
    assert check.source.combinations.column(0).tolist() == [5]


@pytest.mark.parametrize(
    ("models", "limit", "asked"),
    [
        (K3, 1, {"sparing": True}),
        ((MaxGroupSize(k=4), KAnonymity(k=3)), 0, {"sparing": True}),
        (K3, 0, {}),
        (K3, 0, {"sparing": True, "fully": True}),
    ],
)
def test_corners_are_not_looked_at_where_more_must_be_known(models, limit, asked):
    with patch.object(core, "LARGE", 10), patch.object(module, "LEAST", 0.002):
        assert Recodings(skewed_task(models, limit)).check((0, 0), **asked).whole


def test_corners_of_small_tables_and_corners_that_are_not_small_are_not_looked_at():
    assert Recodings(skewed_task()).check((0, 0), sparing=True).whole
    with patch.object(core, "LARGE", 10), patch.object(module, "LEAST", 0.6):
        assert Recodings(skewed_task()).check((0, 0), sparing=True).whole


def test_stored_corners_take_bounded_memory():
    recodings = Recodings(skewed_task())
    base = recodings.sources[0].combinations
    some, other = looking(stored=0.5)
    with some, other:
        corners = RareCombinations(base, recodings.ladders, recodings.histograms)
        for levels in recodings.lattice.nodes():
            corners.of(levels)
            kept = [len(each) for each in corners._stored.values()]
            assert len(kept) <= 1 or sum(kept) <= len(base) / 2
