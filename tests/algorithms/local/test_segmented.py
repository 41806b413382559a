"""A table that is cut in batches and finished segment by segment is published as in memory."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._segments import streamed
from sfumato.tables.algorithms._segments import streamed as batching
from sfumato.tables.algorithms._segments.streamed import Batch
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local import _streaming_mondrian
from sfumato.tables.algorithms.local._streaming_mondrian import SegmentedSearch, SegmentPlan
from sfumato.tables.algorithms.local._top_down import MedianPartitioning
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from strategies import JOBS, described_tables

PROMISES = st.sampled_from(
    [
        (KAnonymity(k=1),),
        (KAnonymity(k=2),),
        (KAnonymity(k=3),),
        (KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")),
        (EntropyLDiversity(l=1.5, sensitive="disease"),),
        (KAnonymity(k=2), TCloseness(t=0.4, sensitive="disease")),
    ]
)
ALGORITHMS = st.builds(
    Mondrian, publish=st.sampled_from(["nodes", "sets"]), bounds=st.sampled_from(["hierarchy", "exact"])
)


def task_of(coded, models, missing):
    return TableRequest(table=coded, models=models, max_suppressed=0, missing=missing, rng=np.random.default_rng(0))


def search_of(coded, models, missing, algorithm):
    return SegmentedSearch(
        algorithm=algorithm,
        quasi=tuple(column.domain for column in coded.quasi),
        sensitive=tuple(column.domain for column in coded.sensitive),
        models=models,
        missing=missing,
    )


def whole_batch(coded, search):
    return Batch.from_columns(
        [column.codes for column in coded.quasi],
        [column.codes for column in coded.sensitive if column.name in search.model_columns],
    )


def texts_of_rows(publication):
    columns = []
    for recoded in publication.recoded.values():
        texts = [label.text for label in recoded.labels]
        columns.append([texts[recoded.by_group[group]] for group in publication.group.tolist()])
    return list(zip(*columns, strict=True))


def finished(search, plan, batch):
    """Finish all segments, the last one first, and give the texts of every row."""
    segments = plan.tree.descend(batch.codes)
    found = [None] * len(batch)
    for segment in np.unique(segments)[::-1].tolist():
        rows = np.flatnonzero(segments == segment)
        texts = texts_of_rows(search.finish(batch.take(rows), plan.totals))
        for row, published in zip(rows.tolist(), texts, strict=True):
            found[row] = published
    return found


@dataclass(frozen=True)
class Run:
    """How a table is cut: rows in batches of some size and any order, counts of so many cells together."""

    most_rows: int
    size: int
    cells: int
    seed: int

    def parts(self, batch):
        """Deal the rows into batches."""
        order = np.random.default_rng(self.seed).permutation(len(batch))
        return [batch.take(order[begin : begin + self.size]) for begin in range(0, len(batch), self.size)]

    def plan(self, search, batch, **how):
        """Cut the rows of a batch."""
        parts = self.parts(batch)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_streaming_mondrian, "MOST_CELLS", self.cells)
            return search.cut(search.pass_over(lambda: parts), most_rows=self.most_rows, **how)


RUNS = st.builds(Run, st.integers(1, 12), st.integers(1, 15), st.sampled_from([1, 100, 1 << 22]), st.integers(0, 99))


def published(algorithm, task):
    """Search in memory; nothing if all records break a model as one group, or those with any quasi-identifier."""
    try:
        return texts_of_rows(algorithm.search(task)) if satisfy_all(task.as_one_group(), task.models)[0] else None
    except InfeasibleError:
        return None


@pytest.mark.parametrize("long", [0, 10**9], ids=["compiled", "plain"])
@given(drawn=described_tables(most_rows=40), models=PROMISES, algorithm=ALGORITHMS, run=RUNS)
def test_segments_are_published_as_in_memory(long, drawn, models, algorithm, run):
    coded, missing = encode_table(*drawn), MissingPolicy(drawn[1].missing)
    search = search_of(coded, models, missing, algorithm)
    batch = whole_batch(coded, search)
    assert search.refusal() is None
    expected = published(algorithm, task_of(coded, models, missing))
    with pytest.MonkeyPatch.context() as patch:
        for module in (batching, streamed):
            patch.setattr(module, "LONG_BATCH", long)
        if expected is None:
            with pytest.raises(InfeasibleError, match="break"):
                run.plan(search, batch)
        else:
            assert finished(search, run.plan(search, batch), batch) == expected


@given(drawn=described_tables(most_rows=40), models=PROMISES, run=RUNS, depth=st.integers(0, 3))
def test_segments_can_be_written_apart_and_cut_on(drawn, models, run, depth):
    coded, missing = encode_table(*drawn), MissingPolicy(drawn[1].missing)
    assume(published(Mondrian(), task_of(coded, models, missing)))
    search = search_of(coded, models, missing, Mondrian())
    batch = whole_batch(coded, search)
    whole, plan = run.plan(search, batch), run.plan(search, batch, most_depth=depth)
    assert plan.tree.depth <= depth
    segments = plan.tree.descend(batch.codes)
    for segment in range(plan.tree.segments)[::-1]:
        apart = batch.take(np.flatnonzero(segments == segment))
        plan = plan.graft(segment, run.plan(search, apart, totals=plan.totals))
    assert plan.sizes.tolist() == whole.sizes.tolist()
    assert plan.tree.descend(batch.codes).tolist() == whole.tree.descend(batch.codes).tolist()


@given(drawn=described_tables(most_rows=40), models=PROMISES, run=RUNS)
def test_a_plan_tells_sizes_and_is_the_same_after_every_journey(drawn, models, run):
    coded, missing = encode_table(*drawn), MissingPolicy(drawn[1].missing)
    assume(published(Mondrian(), task_of(coded, models, missing)))
    search = search_of(coded, models, missing, Mondrian())
    batch = whole_batch(coded, search)
    plan = run.plan(search, batch)
    segments = plan.tree.descend(batch.codes)
    counted = np.bincount(segments, minlength=plan.tree.segments)
    assert plan.sizes[:-1].tolist() == counted[:-1].tolist()
    hollow = np.all([column.codes == column.domain.missing for column in coded.quasi], axis=0)
    assert int(counted[-1] - plan.sizes[-1]) in {0, int(hollow.sum())}
    read = SegmentPlan.from_dict(json.loads(json.dumps(plan.as_dict())))
    sent = pickle.loads(pickle.dumps((search, plan)))  # noqa: S301 - our own
    with pytest.raises(InvalidParameterError, match="damaged"):
        SegmentPlan.from_dict({**plan.as_dict(), "sizes": [1, *plan.sizes.tolist()]})
    assert finished(search, read, batch) == finished(*sent, batch) == finished(search, plan, batch)


def skewed(rows, seed=0, missing=MissingPolicy.OWN_VALUE):
    """Make a table of four quasi-identifiers, of which many are missing, and two sensitive attributes."""
    rng = np.random.default_rng(seed)
    hollow = rng.random(rows) < 0.03
    diseases = np.array(["flu", "cold", "ulcer", "colitis"])
    age = (rng.random(rows) ** 2 * 80).astype(np.int64)
    disease = np.where(rng.random(rows) < age / 120, "ulcer", rng.choice(diseases, rows, p=[0.5, 0.3, 0.15, 0.05]))
    table = pa.table(
        {
            "age": pa.array(age, mask=hollow | (rng.random(rows) < 0.02)),
            "zip": pa.array(rng.integers(0, 3000, rows), mask=hollow | (rng.random(rows) < 0.02)),
            "job": pa.array(rng.choice(JOBS.hierarchy.leaves, rows), mask=hollow | (rng.random(rows) < 0.3)),
            "sex": pa.array(rng.choice(["F", "M"], rows), mask=hollow | (rng.random(rows) < 0.2)),
            "disease": pa.array(disease, mask=rng.random(rows) < 0.02),
            "salary": rng.integers(1, 10, rows) * 1000,
        }
    )
    quasi, sensitive = ["age", "zip", "job", "sex"], ["disease", "salary"]
    return encode_table(
        table, Schema(quasi_identifiers=quasi, sensitive=sensitive, hierarchies={"job": JOBS}, missing=missing)
    )


DEMANDING = {
    "k": (KAnonymity(k=4),),
    "l": (KAnonymity(k=4), DistinctLDiversity(l=3, sensitive="disease")),
    "t": (TCloseness(t=0.2, sensitive="disease"),),
    "two": (KAnonymity(k=4), TCloseness(t=0.3, sensitive="salary"), EntropyLDiversity(l=2, sensitive="disease")),
}


@pytest.mark.parametrize("missing", MissingPolicy)
@pytest.mark.parametrize("models", DEMANDING.values(), ids=DEMANDING)
def test_segments_are_small_unless_nothing_cuts_them(models, missing):
    coded = skewed(3000, missing=missing)
    search = search_of(coded, models, missing, Mondrian())
    batch = whole_batch(coded, search)
    plan = Run(50, 700, 1 << 22, 1).plan(search, batch)
    assert finished(search, plan, batch) == published(Mondrian(), task_of(coded, models, missing))
    assert plan.tree.segments > 10
    segments = plan.tree.descend(batch.codes)
    for segment in np.flatnonzero(plan.sizes > 50):
        alone = batch.take(np.flatnonzero(segments == segment))
        cutting = MedianPartitioning(search.task(alone, totals=plan.totals), strict=True)
        cutting.run()
        assert cutting.leaves == 1


@given(drawn=described_tables(most_rows=25), models=PROMISES, run=RUNS, seed=st.integers(0, 99))
def test_weighted_rows_are_published_as_the_records_that_they_stand_for(drawn, models, run, seed):
    coded, missing = encode_table(*drawn), MissingPolicy(drawn[1].missing)
    search = search_of(coded, models, missing, Mondrian())
    batch = whole_batch(coded, search)
    weights = np.random.default_rng(seed).integers(1, 5, coded.rows)
    weighted = Batch(batch.codes, batch.watched, weights)
    expanded = np.repeat(np.arange(coded.rows), weights)
    expected = published(Mondrian(), task_of(coded.take(expanded), models, missing))
    assume(expected)
    plan = run.plan(search, weighted)
    assert plan.sizes.tolist() == run.plan(search, batch.take(expanded)).sizes.tolist()
    found = finished(search, plan, weighted)
    assert [found[case] for case in expanded.tolist()] == expected


def test_a_depth_takes_one_pass_that_counts_the_smaller_halves():
    coded = skewed(5000)
    search = search_of(coded, (KAnonymity(k=4),), MissingPolicy.OWN_VALUE, Mondrian())
    batch = whole_batch(coded, search)
    counted = []

    def count(tree, nodes):
        counts = search.count([batch], tree, nodes)
        counted.append(int(counts.sizes.sum()))
        return counts

    plan = search.cut(count, most_rows=400)
    assert counted[0] == coded.rows
    assert all(rows <= coded.rows // 2 for rows in counted[1:])
    assert len(counted) == plan.tree.depth


def test_what_cannot_be_cut_in_batches_is_refused_in_a_sentence():
    coded = skewed(50)
    relaxed = search_of(coded, (KAnonymity(k=2),), MissingPolicy.OWN_VALUE, Mondrian(strict=False))
    assert "strict=True" in relaxed.check()
    assert "quasi-identifiers" in replace(relaxed, algorithm=Mondrian(), quasi=()).refusal()
    crowded = EpsilonMAnonymity(epsilon=1, m=2, sensitive="disease")
    assert "merging valid groups" in search_of(coded, (crowded,), MissingPolicy.OWN_VALUE, Mondrian()).refusal()
