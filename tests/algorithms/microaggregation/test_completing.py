"""Clusters that break a model are united with ones nearby until none does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clustering_oracle import coded_tables, numbers, task_for
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.microaggregation import _clustering
from sfumato.tables.algorithms.microaggregation._clustering import _pairs, merge_invalid_clusters, nearest_centers
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_points
from sfumato.tables.algorithms.microaggregation.k_member import KMember
from sfumato.tables.algorithms.microaggregation.mdav import MDAV
from sfumato.tables.algorithms.microaggregation.v_mdav import VMDAV
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups

PROMISES = st.sampled_from(
    [
        (KAnonymity(k=3),),
        (KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")),
        (EntropyLDiversity(l=1.8, sensitive="disease"),),
        (KAnonymity(k=2), TCloseness(t=0.25, sensitive="disease")),
    ]
)


@given(
    coded=coded_tables(),
    models=PROMISES,
    algorithm=st.sampled_from([MDAV, VMDAV, KMember]),
    publish=st.sampled_from(["centers", "ranges"]),
    paired=st.booleans(),
)
def test_every_published_group_keeps_every_model(coded, models, algorithm, publish, paired):
    whole = Groups.from_rows(np.zeros(coded.rows, dtype=np.int32), 1, coded.sensitive, MissingPolicy.OWN_VALUE)
    assume(all(model.satisfied_by(whole)[0] for model in models))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_clustering, "PAIRED_TURNS", 64 if paired else 0)
        publication = algorithm(publish=publish).search(task_for(coded, models))
    groups = Groups.from_rows(publication.group, int(publication.group.max()) + 1, coded.sensitive)
    assert groups.sizes.min() > 0
    assert all(model.satisfied_by(groups).all() for model in models)


def test_a_bad_group_joins_the_nearest_one_and_good_ones_stay():
    table = pa.table({"x": [1, 2, 11, 12, 40, 41], "s": list("ab") + list("aa") + list("ab")})
    coded = encode_table(table, Schema(quasi_identifiers=["x"], sensitive=["s"]))
    task = task_for(coded, [DistinctLDiversity(l=2, sensitive="s")])
    labels = merge_invalid_clusters(RecordSpace.of(coded), np.array([0, 0, 1, 1, 2, 2]), task)
    assert labels.tolist() == [0, 0, 0, 0, 1, 1]


def test_a_group_joins_the_nearest_one_that_makes_it_good():
    table = pa.table({"x": [1, 2, 4, 5, 9, 10, 14, 15], "s": list("aaaabbbb")})
    coded = encode_table(table, Schema(quasi_identifiers=["x"], sensitive=["s"]))
    task = task_for(coded, [TCloseness(t=0.1, sensitive="s")])
    labels = merge_invalid_clusters(RecordSpace.of(coded), np.arange(8) // 2, task)
    assert labels.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]


def test_groups_are_compared_with_the_whole_table():
    """With a whole of 11 a and 7 b, aaa and aab together are close enough; were all tried unions the whole, not."""
    places = np.repeat([0, 3, 20, 50, 60, 70], 3)
    table = pa.table({"x": places, "s": list("aaa" + "aab" + "bbb" + 3 * "aab")})
    coded = encode_table(table, Schema(quasi_identifiers=["x"], sensitive=["s"]))
    task = task_for(coded, [TCloseness(t=0.23, sensitive="s")])
    labels = merge_invalid_clusters(RecordSpace.of(coded), np.arange(18) // 3, task)
    assert labels.tolist() == [*[0] * 9, *[1] * 3, *[2] * 3, *[3] * 3]


def test_no_group_takes_part_in_two_joins_of_one_round():
    joins = np.array([0, 1, 2, 4]), np.array([1, 2, 3, 5]), np.array([3.0, 1.0, 2.0, 9.0])
    assert _pairs(6, *joins).tolist() == [False, True, False, True]


def test_only_as_many_groups_are_united_as_must_be():
    table = pa.table({"x": list(range(0, 80, 2)), "s": list("ab") * 20})
    coded = encode_table(table, Schema(quasi_identifiers=["x"], sensitive=["s"]))
    task = task_for(coded, [DistinctLDiversity(l=2, sensitive="s")])
    labels = merge_invalid_clusters(RecordSpace.of(coded), np.arange(40), task)
    assert len(set(labels.tolist())) > 10


def test_many_centers_are_searched_in_blocks_of_neighbors(monkeypatch):
    coded = numbers(*np.cumsum(np.arange(1, 33)).tolist())
    centers = to_points(RecordSpace.of(coded), "range")
    exact, _ = nearest_centers(centers, np.arange(32), 1)
    assert exact[:, 0].tolist() == [1, *range(31)]
    monkeypatch.setattr(_clustering, "BLOCK", 8)
    blocked, apart = nearest_centers(centers, np.arange(32), 2)
    assert np.isfinite(apart).all()
    assert all(own != other for own, row in enumerate(blocked.tolist()) for other in row)
    assert (blocked[:, 0] == exact[:, 0]).mean() > 0.8


def test_a_promise_that_even_one_group_breaks_is_refused_with_what_is_reached():
    table = pa.table({"x": [1, 2, 3, 4], "s": list("aaab")})
    coded = encode_table(table, Schema(quasi_identifiers=["x"], sensitive=["s"]))
    with pytest.raises(InfeasibleError) as refused:
        MDAV().search(task_for(coded, [DistinctLDiversity(l=3, sensitive="s")]))
    assert str(refused.value) == (
        "No release of these 4 rows can keep DistinctLDiversity(l=3, sensitive='s'): "
        "a single group of all records reaches 2, 3 is needed."
    )
