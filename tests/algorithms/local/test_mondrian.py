"""Mondrian finds the groups that its definition gives, and keeps what its docstring says."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mondrian_oracle as oracle
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._segments import cuts
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local import _top_down
from sfumato.tables.algorithms.local._top_down import MedianPartitioning
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from strategies import described_tables

PROMISES = st.sampled_from(
    [
        (KAnonymity(k=1),),
        (KAnonymity(k=2),),
        (KAnonymity(k=3),),
        (KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")),
        (DistinctLDiversity(l=3, sensitive="disease"),),
        (TCloseness(t=0.4, sensitive="disease"),),
        (KAnonymity(k=2), TCloseness(t=0.25, sensitive="disease")),
    ]
)


def search(coded, models, missing=MissingPolicy.OWN_VALUE, **how):
    task = TableRequest(table=coded, models=models, max_suppressed=0, missing=missing, rng=np.random.default_rng(0))
    return Mondrian(**how).search(task)


def leaf_of_rows(coded, models):
    """Give the leaf of every row: groups before those that are published alike are united."""
    task = TableRequest(
        table=coded, models=models, max_suppressed=0, missing=MissingPolicy.OWN_VALUE, rng=np.random.default_rng(0)
    )
    cutting = MedianPartitioning(task, strict=False)
    cutting.run()
    return cutting.groups()


def published_texts(publication, rows):
    columns = []
    for recoded in publication.recoded.values():
        texts = [label.text for label in recoded.labels]
        columns.append([texts[recoded.by_group[group]] for group in publication.group.tolist()])
    return list(zip(*columns, strict=True)) if columns else [()] * rows


def as_promise(models, sensitive):
    promises = []
    for model in models:
        match model:
            case KAnonymity(k=k):
                promises.append(oracle.size_at_least(k))
            case DistinctLDiversity(l=l):
                promises.append(oracle.distinct_at_least(l, sensitive))
            case TCloseness(t=t):
                promises.append(oracle.close_within(t, sensitive))
    return oracle.all_of(*promises)


def known_diseases(table):
    place = table.column_names.index("disease")
    return table.set_column(place, "disease", table["disease"].fill_null("flu"))


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@given(
    drawn=described_tables(most_rows=24),
    models=PROMISES,
    strict=st.booleans(),
    publish=st.sampled_from(["nodes", "sets"]),
)
def test_records_are_published_as_the_definition_says(compiled, drawn, models, strict, publish):
    table, schema = known_diseases(drawn[0]), drawn[1]
    coded = encode_table(table, schema)
    rows, sensitive = list(range(coded.rows)), table["disease"].to_pylist()
    good = as_promise(models, sensitive)
    missing = MissingPolicy(schema.missing)
    defined = oracle.Search(coded.quasi, good, strict)
    assume(good(rows))
    expected = defined.published(rows, sets=publish == "sets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "COMPILED_ROWS", 0 if compiled else 10**9)
        publication = search(coded, models, missing, strict=strict, publish=publish, bounds="exact")
    assert published_texts(publication, coded.rows) == expected
    classes = {group: {expected[row] for row in rows if publication.group[row] == group} for group in publication.group}
    assert all(len(texts) == 1 for texts in classes.values())
    assert len({next(iter(texts)) for texts in classes.values()}) == len(classes)


@given(described_tables(), st.integers(1, 4))
def test_strict_groups_keep_records_with_equal_quasi_identifiers_together(drawn, k):
    coded = encode_table(*drawn)
    publication = search(coded, [KAnonymity(k=k)], MissingPolicy(drawn[1].missing))
    groups = defaultdict(set)
    for row, group in enumerate(publication.group.tolist()):
        groups[tuple(int(column.codes[row]) for column in coded.quasi)].add(group)
    assert all(len(found) == 1 for found in groups.values())


@given(described_tables(), st.integers(1, 4), st.booleans())
def test_nothing_is_suppressed(drawn, k, strict):
    coded = encode_table(*drawn)
    publication = search(coded, [KAnonymity(k=k)], MissingPolicy(drawn[1].missing), strict=strict)
    assert publication.suppressed(coded) == 0
    assert (publication.group >= 0).all()
    assert len(publication.group) == coded.rows


@pytest.mark.parametrize("ties", [1, 3])
@pytest.mark.parametrize("rows", [8, 9, 16, 31, 64])
def test_relaxed_halves_differ_by_at_most_one_record(rows, ties):
    def halved(count):
        return [count] if count // 2 < 4 else [*halved(count // 2), *halved(count - count // 2)]

    values = np.random.default_rng(rows).permutation(np.arange(rows) // ties)
    coded = encode_table(pa.table({"x": values}), Schema(quasi_identifiers=["x"]))
    sizes = sorted(np.bincount(leaf_of_rows(coded, [KAnonymity(k=4)])).tolist())
    assert sizes == sorted(halved(rows))


def test_relaxed_cuts_part_equal_values_that_strict_cuts_cannot():
    table = pa.table({"x": [1, 1, 1, 1, 1, 2], "y": [1, 2, 3, 4, 5, 6]})
    schema = Schema(quasi_identifiers=["x"])
    strict = search(encode_table(table, schema), [KAnonymity(k=3)])
    assert len(set(strict.group.tolist())) == 1
    relaxed = search(encode_table(table, schema), [KAnonymity(k=3)], strict=False)
    assert published_texts(relaxed, 6) == [("1",)] * 3 + [("[1, 2]",)] * 3


@pytest.mark.parametrize("strict", [True, False])
def test_weights_do_not_change_what_is_found(strict, monkeypatch):
    rng = np.random.default_rng(5)
    table = pa.table({"x": rng.integers(0, 4, 200), "y": rng.integers(0, 3, 200), "s": rng.integers(0, 3, 200)})
    coded = encode_table(table, Schema(quasi_identifiers=["x", "y"], sensitive=["s"]))
    models = [KAnonymity(k=3), DistinctLDiversity(l=2, sensitive="s")]
    texts = []
    for worthwhile in (0.0, 2.0):
        monkeypatch.setattr(_top_down, "WORTHWHILE", worthwhile)
        texts.append(published_texts(search(coded, models, strict=strict), 200))
    assert texts[0] == texts[1]


def test_a_taxonomy_is_cut_between_children_of_the_common_ancestor():
    jobs = Taxonomy({"office": ["clerk", "lawyer", "judge"], "field": ["farmer"]})
    table = pa.table({"job": ["clerk"] * 3 + ["lawyer"] * 3 + ["farmer"] * 2})
    coded = encode_table(table, Schema(quasi_identifiers=["job"], hierarchies={"job": jobs}))
    assert (
        published_texts(search(coded, [KAnonymity(k=2)]), 8) == [("clerk",)] * 3 + [("lawyer",)] * 3 + [("farmer",)] * 2
    )
    assert published_texts(search(coded, [KAnonymity(k=3)]), 8) == [("*",)] * 8
    assert published_texts(search(coded, [KAnonymity(k=3)], publish="sets"), 8) == [("{clerk, lawyer, farmer}",)] * 8


def test_no_quasi_identifiers_make_one_group():
    coded = encode_table(pa.table({"s": ["a", "b"]}), Schema(sensitive=["s"]))
    publication = search(coded, [KAnonymity(k=2)])
    assert publication.group.tolist() == [0, 0]
    assert publication.recoded == {}


@pytest.mark.parametrize("wrong", [{"strict": "yes"}, {"strict": 1}, {"publish": "trees"}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match=f"Mondrian.{next(iter(wrong))} must be"):
        Mondrian(**wrong)
