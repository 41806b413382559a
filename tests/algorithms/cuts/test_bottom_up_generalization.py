"""Bottom-up generalization takes the steps of its definition, and none too many."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cuts_oracle as oracle
import sfumato as sf
from adult import COLUMNS, read_adult
from cut_tasks import OWN, RELATIVE, TARGETS, task_of, texts
from drawn_examples import examples
from sfumato._progress import ignore_progress
from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.subtree import bottom_up_generalization
from sfumato.tables.algorithms.subtree._gain import choose_gain
from sfumato.tables.algorithms.subtree._groups import TableCombinations
from sfumato.tables.algorithms.subtree.bottom_up_generalization import BottomUpGeneralization, BottomUpSearch
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import JOBS, described_tables

SHARES = st.sampled_from([0.0, 0.15, 0.4])


def ascent_of(task, target=None):
    combinations, _ = TableCombinations.of(task)
    return BottomUpSearch(combinations, choose_gain(task, combinations.trees, target))


def as_set(part):
    return frozenset(code for first, last in part.runs for code in range(first, last + 1))


def as_sets(cuts):
    return [[as_set(part) for part in cut.parts] for cut in cuts]


@given(drawn=described_tables(most_rows=14), models=st.sampled_from(OWN), target=TARGETS, share=SHARES)
@examples(40)
def test_every_step_costs_least_per_record_that_leaves_a_bad_group(drawn, models, target, share):
    task = task_of(*drawn, models, int(share * drawn[0].num_rows), target)
    table = oracle.Table(task, target)
    assume(table.bad(table.top) == 0)
    assert oracle.same(as_sets(ascent_of(task, target).run(ignore_progress)), oracle.bottom_up(table))


@given(drawn=described_tables(most_rows=20), models=st.sampled_from(OWN), target=TARGETS)
def test_what_is_kept_in_mind_is_what_counting_gives(drawn, models, target):
    task = task_of(*drawn, models, target=target)
    table = oracle.Table(task, target)
    ascent = ascent_of(task, target)
    while ascent.bad > 0 and (found := ascent._cheapest()) is not None:
        ascent._make(*found)
        cuts = as_sets(ascent.cuts)
        bad = table.bad(cuts)
        assert ascent.bad == bad
        assert ascent.count == len(set(table.labels(cuts)))
        assert ascent.ceiling == pytest.approx(table.worth(cuts, suppressing=False))
        for column, possible in enumerate(ascent.joins):
            for number in np.flatnonzero(np.isfinite(possible.cost)).tolist():
                joined = as_set(possible.parts(number)[1])
                own = [*(part for part in cuts[column] if not part <= joined), joined]
                after = [*cuts[:column], own, *cuts[column + 1 :]]
                assert ascent.profits[ascent._offsets[column] + number] == bad - table.bad(after)


@given(
    drawn=described_tables(most_rows=16),
    models=st.sampled_from(OWN + RELATIVE),
    scheme=st.sampled_from(["subtree", "sibling"]),
    target=TARGETS,
    share=st.sampled_from([0.0, 0.15, 0.4, 1.0]),
)
def test_the_result_is_allowed_and_no_step_can_be_taken_back(drawn, models, scheme, target, share):
    task = task_of(*drawn, models, int(share * drawn[0].num_rows), target)
    table = oracle.Table(task, target)
    assume(table.bad(table.top) == 0)
    publication = BottomUpGeneralization(scheme=scheme, target=target).search(task)
    cuts = oracle.published_cuts(publication, table)
    assert table.allows(cuts)
    assert publication.suppressed(task.table) == table.bad(cuts)
    before = table.worth(cuts)
    for *_, after in table.partings(cuts, scheme):
        assert not table.allows(after) or table.worth(after) <= before + 1e-8
    assert scheme == "sibling" or all(
        attribute.ordered or set(cut) <= attribute.nodes for attribute, cut in zip(table.attributes, cuts, strict=True)
    )


def test_cheap_joins_that_help_come_first():
    table = pa.table({"job": ["clerk", "lawyer", "farmer", "farmer"], "sex": ["F", "F", "M", "M"]})
    task = task_of(table, Schema(quasi_identifiers=["job", "sex"], hierarchies={"job": JOBS}))
    publication = BottomUpGeneralization().search(task)
    assert texts(publication, "sex")[:2] == ["F", "M"]
    shown = dict(zip(task.table.quasi[0].domain.texts, texts(publication, "job"), strict=False))
    assert (shown["clerk"], shown["lawyer"], shown["farmer"]) == ("office", "office", "farmer")


def test_neighboring_numbers_are_joined():
    table = pa.table({"age": [20, 21, 40, 41]})
    shown = texts(BottomUpGeneralization().search(task_of(table, Schema(quasi_identifiers=["age"]))), "age")
    assert shown == ["[20, 21]"] * 2 + ["[40, 41]"] * 2 + [None]


def test_many_numbers_start_in_ranges_and_end_apart_if_they_may(monkeypatch):
    monkeypatch.setattr(bottom_up_generalization, "MOST_RANGES", 4)
    ages = [age for age in range(30) for _ in range(2)] + [None] * 2
    task = task_of(pa.table({"age": ages}), Schema(quasi_identifiers=["age"]))
    ascent = ascent_of(task)
    assert sorted(part.first for part in ascent.cuts[0].parts) == [0, 7, 15, 22, 30]
    assert texts(BottomUpGeneralization().search(task), "age") == [str(age) for age in range(30)] + [None]


def test_of_all_allowed_cuts_on_the_way_the_best_is_taken():
    table = pa.table({"age": [20] * 4 + [21, 22, 23, 24] + [30] * 4, "sex": ["F", "M"] * 6})
    task = task_of(table, Schema(quasi_identifiers=["age", "sex"]), (KAnonymity(k=2),), suppressed=12)
    publication = BottomUpGeneralization().search(task)
    assert publication.suppressed(task.table) < 12
    judged = oracle.Table(task)
    assert judged.worth(oracle.published_cuts(publication, judged)) >= judged.worth(oracle.bottom_up(judged))


def test_a_table_that_no_cut_protects_is_not_published():
    task = task_of(pa.table({"age": [1, 2, 3]}), Schema(quasi_identifiers=["age"]), (KAnonymity(k=4),), suppressed=1)
    assert BottomUpGeneralization().search(task).suppressed(task.table) == 3


@pytest.mark.parametrize("wrong", [{"scheme": "cell"}, {"target": 3}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="BottomUpGeneralization"):
        BottomUpGeneralization(**wrong)


@pytest.mark.shared_data
@pytest.mark.parametrize(("scheme", "share", "loss"), [("subtree", 0.02, 0.349658), ("sibling", 0.0, 0.478480)])
def test_adult_loses_what_it_lost_before(shared_data, scheme, share, loss):
    table, trees = read_adult(shared_data)
    release = sf.anonymize(
        table,
        sf.Schema(quasi_identifiers=COLUMNS, hierarchies=trees),
        [KAnonymity(k=5)],
        BottomUpGeneralization(scheme=scheme),
        max_suppressed=share,
    )
    assert release.metrics["loss"] == pytest.approx(loss, abs=1e-6)
