"""Sets that are read all at once mean what they mean one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples

import sfumato as sf
from sfumato.core._kernels import code_sets
from sfumato.encoding.domain import infer_domain
from sfumato.tables.published._coverage import cover_labels
from sfumato.tables.published._labels import MemberBatch, parse_label
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import ValueSet

LEAVES = st.text(alphabet='ab {},"*é', min_size=1, max_size=3).filter(lambda text: text.strip(" *") == text)
SHOWN = st.text(alphabet='ab ,{}"*', max_size=8)


@st.composite
def shown_columns(draw: st.DrawFn) -> PublishedColumn:
    leaves = sorted(draw(st.sets(LEAVES, min_size=1, max_size=5)))
    some = st.lists(st.sampled_from(leaves), max_size=4)
    written = some.map(lambda members: ValueSet(tuple(members)).text)
    loose = some.map(lambda members: "{" + ",  ".join(members) + "}")
    ordered = some.map(lambda members: ValueSet(tuple(sorted(set(members)))).text)
    texts = draw(st.lists(st.none() | ordered | written | loose | SHOWN | st.sampled_from(leaves), unique=True))
    schema = sf.Schema(quasi_identifiers=["x"], scales={"x": "nominal"})
    domain = infer_domain("x", pa.chunked_array([pa.array(leaves)]), schema)
    return PublishedColumn("x", tuple(texts), np.arange(len(texts), dtype=np.int32), schema, domain)


@pytest.mark.parametrize("table", [10, 0], ids=["a table of all pairs", "members"])
@given(column=shown_columns())
@examples(200)
def test_sets_cover_what_they_cover_one_by_one(table, column):
    domain = column.domain
    leaves = dict(zip(domain.texts, domain.values.to_pylist(), strict=True))
    expected = cover_labels([parse_label(text, domain.scale, leaves) for text in column.texts], domain)
    assert column.labels == tuple(parse_label(text, domain.scale, leaves) for text in column.texts)
    found = column.coverage
    assert found.leaf_counts().tolist() == expected.leaf_counts().tolist()
    assert {at: codes.tolist() for at, codes in found.members.items()} == {
        at: codes.tolist() for at, codes in expected.members.items()
    }
    labels, codes = np.divmod(np.arange(len(column.texts) * (len(domain) + 1)), len(domain) + 1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(code_sets, "CELLS_PER_PAIR", table)
        listed = [
            code in found.members.get(label, range(found.low[label], found.high[label] + 1))
            for label, code in zip(labels.tolist(), codes.tolist(), strict=True)
        ]
        missing = codes == domain.missing
        assert found.contains(labels, codes).tolist() == np.where(missing, found.missing[labels], listed).tolist()


@given(members=st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 5)).map(sorted)))
def test_members_are_a_mapping_with_ends(members):
    arrays = {number: np.array(codes, dtype=np.int64) for number, codes in members.items()}
    even, odd = ({number: a for number, a in arrays.items() if number % 2 == rest} for rest in (0, 1))
    for found in (
        MemberBatch.from_labels(arrays),
        MemberBatch.from_labels(even).concatenate(MemberBatch.from_labels(odd)),
    ):
        assert {number: codes.tolist() for number, codes in found.items()} == members
        assert list(found) == sorted(members)
        assert 10 not in found
        ends = {number: (int(low), int(high)) for number, low, high in zip(found.at, *found.ends, strict=True)}
        assert ends == {number: (codes[0], codes[-1]) if codes else (0, -1) for number, codes in members.items()}


def test_sets_as_we_write_them_are_read_at_once():
    schema = sf.Schema(quasi_identifiers=["x"])
    domain = infer_domain("x", pa.chunked_array([pa.array(["a", "b", "c", "{a, b}"])]), schema)
    texts = ("{a, c}", "{a, b}", "{b, a}", "{a, nobody}", "*", None)
    column = PublishedColumn("x", texts, np.arange(6, dtype=np.int32), schema, domain)
    assert {at: codes.tolist() for at, codes in column.sets.items()} == {
        0: [domain.texts.index("a"), domain.texts.index("c")]
    }
    assert sorted(column.others) == [1, 2, 3, 4, 5]
