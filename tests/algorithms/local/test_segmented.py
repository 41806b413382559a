"""A table that is cut in batches and finished segment by segment is published as in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.base import Task
from sfumato.algorithms.good_groups import kept_by_all
from sfumato.algorithms.local import streamed_cutting
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch
from sfumato.coding.codes import code
from sfumato.coding.cutting import batches as batching
from sfumato.coding.cutting import cut_tree
from sfumato.coding.cutting.batches import Batch
from sfumato.exceptions import InfeasibleError
from sfumato.models import DistinctLDiversity, EntropyLDiversity, KAnonymity, TCloseness
from sfumato.schema.missing import Missing
from strategies import described_tables

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
    return Task(table=coded, models=models, most_suppressed=0, missing=missing, rng=np.random.default_rng(0))


def search_of(coded, models, missing, algorithm):
    return SegmentedSearch(
        algorithm=algorithm,
        quasi=tuple(column.domain for column in coded.quasi),
        sensitive=tuple(column.domain for column in coded.sensitive),
        models=models,
        missing=missing,
    )


def whole_batch(coded, search):
    return Batch.of(
        [column.codes for column in coded.quasi],
        [column.codes for column in coded.sensitive if column.name in search.watched],
    )


def texts_of_rows(publication):
    columns = []
    for recoded in publication.recoded.values():
        texts = [label.text for label in recoded.labels]
        columns.append([texts[recoded.by_group[group]] for group in publication.group.tolist()])
    return list(zip(*columns, strict=True))


def finished(search, plan, batch):
    """Finish all segments, the last one first, and give the texts of every row."""
    segments = search.segments_of(plan.tree, batch)
    found = [None] * len(batch)
    for segment in np.unique(segments)[::-1].tolist():
        rows = np.flatnonzero(segments == segment)
        texts = texts_of_rows(search.finish(batch.take(rows), plan.totals))
        for row, published in zip(rows.tolist(), texts, strict=True):
            found[row] = published
    return found


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@given(
    drawn=described_tables(most_rows=40),
    models=PROMISES,
    algorithm=ALGORITHMS,
    most_rows=st.integers(1, 12),
    size=st.integers(1, 15),
    cells=st.sampled_from([1, 100, 1 << 24]),
    seed=st.integers(0, 99),
)
def test_segments_are_published_as_in_memory(compiled, drawn, models, algorithm, most_rows, size, cells, seed):
    coded, missing = code(*drawn), Missing(drawn[1].missing)
    task = task_of(coded, models, missing)
    search = search_of(coded, models, missing, algorithm)
    batch = whole_batch(coded, search)
    order = np.random.default_rng(seed).permutation(coded.rows)
    parts = [batch.take(order[begin : begin + size]) for begin in range(0, coded.rows, size)]
    try:
        expected = texts_of_rows(algorithm.search(task)) if kept_by_all(task.whole(), models)[0] else None
    except InfeasibleError:
        expected = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed_cutting, "MOST_CELLS", cells)
        for module in (batching, cut_tree):
            patch.setattr(module, "LONG_BATCH", 0 if compiled else 10**9)
        if expected is None:
            with pytest.raises(InfeasibleError, match="break"):
                search.cut(search.pass_over(lambda: parts), most_rows=most_rows)
            return
        plan = search.cut(search.pass_over(lambda: parts), most_rows=most_rows)
        assert finished(search, plan, batch) == expected
