"""The search of local recoding: never worse than without worths, the same in all threads, and with a true bound."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adult import COLUMNS, read_adult
from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._reading import read
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local import _initial_groups, local_recoding
from sfumato.tables.algorithms.local._forest import HierarchyForest
from sfumato.tables.algorithms.local._initial_groups import GroupEvaluator, merge_invalid_groups, merge_under_nodes
from sfumato.tables.algorithms.local._regrouping import RowGroups, choose_regrouper
from sfumato.tables.algorithms.local.local_recoding import LocalRecoding, RegroupingSearch, improve_grouping
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.solution import LossBound
from strategies import described_tables

JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}})
SCHEMA = Schema(
    quasi_identifiers=["age", "job", "color"], sensitive=["disease"], hierarchies={"age": Intervals(5, 20), "job": JOBS}
)
DIVERSE, CLOSE = DistinctLDiversity(l=2, sensitive="disease"), TCloseness(t=0.3, sensitive="disease")


def task_of(table, schema, models):
    rng = np.random.default_rng(0)
    coded = encode_table(table, schema)
    return TableRequest(table=coded, models=models, max_suppressed=0, missing=MissingPolicy(schema.missing), rng=rng)


def drawn_rows(seed, rows):
    rng = np.random.default_rng(seed)
    cells = {
        "age": np.clip(rng.normal(40, 12, rows), 18, 79).astype(int),
        "job": rng.choice(["clerk", "lawyer", "farmer", "sailor", "diver"], rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
        "color": rng.choice(["red", "green", "blue", "gray"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        "disease": rng.choice(["flu", "cold", "ulcer"], rows),
    }
    return pa.table(cells)


def loss_without_worths(task):
    """Gather, settle and improve, as if there were no worths."""
    trees, judge, regrouper = (
        HierarchyForest.of(task.table.quasi),
        GroupEvaluator(task),
        choose_regrouper(task.table.rows),
    )
    leaves = trees.places(task.table.quasi)
    label = merge_under_nodes(regrouper, trees, leaves, judge, lambda _: None)
    grouping = merge_invalid_groups(regrouper, RowGroups.from_labels(leaves, trees.forest, label), judge)
    for _, grouping in improve_grouping(regrouper, grouping, judge):  # noqa: B007, B020 - the last is the best
        pass
    return grouping.loss


@given(described_tables(most_rows=30), st.sampled_from([(KAnonymity(k=2),), (KAnonymity(k=4), DIVERSE), (CLOSE,)]))
@examples(25)
def test_small_tables_lose_no_more_than_without_worths(drawn, models):
    task = task_of(*drawn, models)
    assert RegroupingSearch(task).run()[0].loss <= loss_without_worths(task)


@pytest.mark.parametrize("models", [[KAnonymity(k=2)], [KAnonymity(k=5)], [KAnonymity(k=5), DIVERSE]], ids=str)
@pytest.mark.parametrize(("seed", "rows"), [(0, 700), (1, 2000)])
def test_tables_lose_no_more_than_without_worths_and_some_lose_less(seed, rows, models):
    task = task_of(drawn_rows(seed, rows), SCHEMA, models)
    grouping, proof = RegroupingSearch(task).run()
    before = loss_without_worths(task)
    assert grouping.loss <= before
    if len(models) == 1:
        assert grouping.loss < before
    assert 0.5 * proof.found < proof.bound < proof.found


@pytest.mark.parametrize("rows", [700, 1500])
def test_any_number_of_threads_finds_the_same(rows, monkeypatch):
    found = []
    for workers in (1, 2, 5):
        for module in (
            "tables.algorithms.local._compiled_covering",
            "tables.algorithms.local._compiled_regrouping",
            "tables.algorithms.local._initial_groups",
            "_threads",
        ):
            monkeypatch.setattr(f"sfumato.{module}.count_workers", lambda workers=workers: workers)
        publication = LocalRecoding().search(task_of(drawn_rows(3, rows), SCHEMA, [KAnonymity(k=4)]))
        found.append((publication.group.tolist(), publication.proof))
    assert found[0] == found[1] == found[2]


def test_the_other_start_is_tried_unless_the_guided_one_is_close_to_the_bound(monkeypatch):
    task, starts = task_of(drawn_rows(4, 600), SCHEMA, [KAnonymity(k=3)]), []
    improved = RegroupingSearch._improved

    def seen(search, label, begin, end):
        starts.append(label is not None)
        return improved(search, label, begin, end)

    monkeypatch.setattr(RegroupingSearch, "_improved", seen)
    monkeypatch.setattr(local_recoding, "BOTH_STARTS", 100)
    for close, expected in ((10**6, [True]), (0, [True, False])):
        starts.clear()
        monkeypatch.setattr(local_recoding, "CLOSE", close)
        RegroupingSearch(task).run()
        assert starts == expected
    monkeypatch.setattr(local_recoding, "BOTH_STARTS", 600)
    monkeypatch.setattr(local_recoding, "CLOSE", 10**6)
    starts.clear()
    RegroupingSearch(task).run()
    assert starts == [True, False]


def test_tables_that_are_too_wide_or_too_large_are_not_guided(monkeypatch):
    alone, others = [KAnonymity(k=3)], [KAnonymity(k=3), DIVERSE]
    for models, module, name in (
        (alone, _initial_groups, "MAX_NODE_COMBINATIONS"),
        (alone, _initial_groups, "MOST_POINTS"),
        (others, local_recoding, "LARGE"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 10)
            patch.setattr(local_recoding, "find_guided_start", lambda *_: pytest.fail("guided"))
            grouping, proof = RegroupingSearch(task_of(drawn_rows(5, 300), SCHEMA, models)).run()
        assert 0 < proof.bound < proof.found
        assert grouping.sizes[grouping.sizes > 0].min() >= 3


def test_the_bound_is_proven_when_it_is_reached():
    table = pa.table({"age": [21, 21, 22, 22, 40, 40]})
    release = anonymize(table, Schema(quasi_identifiers=["age"]), [KAnonymity(k=2)], LocalRecoding())
    assert release.proof == LossBound("loss", 0.0, 0.0)
    assert str(release.proof) == "Proven best: loss 0; no local recoding of this table loses less."


def test_the_bound_is_rounded_down_and_stated_in_release_and_report(tmp_path):
    release = anonymize(drawn_rows(7, 200), SCHEMA, [KAnonymity(k=3)], LocalRecoding(), seed=1)
    bound = release.proof.bound
    assert bound == float(f"{bound:.6f}")
    assert release.metrics["loss"] == pytest.approx(release.proof.found, abs=1e-7)
    sentence = (
        f"Best found: loss {release.proof.found:.6g}; no local recoding of this table loses less than {bound:.6g}."
    )
    assert sentence in repr(release)
    release.write(tmp_path / "out")
    assert sentence in (tmp_path / "out/internal/report.html").read_text()


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("k", "most", "bound"), [(2, 0.0191, 0.0176), (5, 0.0480, 0.0433), (10, 0.0731, 0.064), (25, 0.1119, 0.095)]
)
def test_adult_loses_less_than_without_worths(shared_data, k, most, bound):
    table, trees = read_adult(shared_data)
    _loses(table, Schema(quasi_identifiers=COLUMNS, hierarchies=trees), k, most, bound)


@pytest.mark.shared_data
def test_fars_and_ihis_lose_less_than_without_worths(shared_data):
    for name, file, kind, rows, most, bound in (
        ("fars", "fars_subset.csv", "", 10_093, 0.0717, 0.0676),
        ("ihis", "ihis_syn.csv.gz", "int_", 50_000, 1.0, 0.2),
    ):
        table = read(shared_data / name / file).slice(0, rows)
        trees = {
            column: Taxonomy.read_csv(shared_data / name / f"{name}_{kind}hierarchy_{column}.csv")
            for column in table.column_names
        }
        _loses(table, Schema(quasi_identifiers=table.column_names, hierarchies=trees), 5, most, bound)


def _loses(table, schema, k, most, bound):
    task = task_of(table, schema, [KAnonymity(k=k)])
    grouping, proof = RegroupingSearch(task).run()
    assert grouping.loss <= loss_without_worths(task)
    assert bound <= proof.bound <= proof.found <= most
