"""A table that is audited in pieces is judged as if all its groups came at once."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from counted_rows import MODELS_ASKED, counted_rows, published_tables, schema_of
from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.report.guarantee import make_guarantee
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import compute_metrics, merge_metrics
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._piecewise import audit_pieces
from sfumato.tables.audit.audit import Audit, audit_context
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.published._sensitive_values import SensitiveTotals

IN_PIECES = [model for model in MODELS_ASKED if not (model.needs_population or model.scope or model.applies_to_buckets)]


def totals_of(table: pa.Table, schema: Schema, random) -> SensitiveTotals:
    values = {name: counted_rows(table.select([name]), random) for name in schema.sensitive}
    return SensitiveTotals.count(
        table.num_rows, {name: (cells[name], many) for name, (cells, many) in values.items()}, schema
    )


def pieces_of(table: pa.Table, schema: Schema, parts: int, random) -> Iterator[AuditContext]:
    """Deal the groups of a table out to pieces, some as rows and some as counts; pieces may be without any."""
    totals = totals_of(table, schema, random)
    cells = list(zip(*(table[name].to_pylist() for name in schema.quasi_identifiers), strict=True))
    part = {group: random.randrange(parts) for group in sorted(set(cells), key=str)}
    mine = np.array([part[cell] for cell in cells])
    for at in random.sample(range(parts), parts):
        rows = table.filter(pa.array(mine == at))
        if rows.num_rows and random.random() < 0.7:
            shown, weights = counted_rows(rows, random)
            yield AuditContext(shown, schema, weights=weights, totals=totals)
        elif rows.num_rows:
            yield AuditContext(rows, schema, totals=totals)


def told(audit: Audit, models) -> object:
    return (
        audit.to_dict(),
        repr(audit),
        sorted(audit.sizes.tolist()),
        make_guarantee(models, audit),
        audit.records_below(3),
    )


@examples(150)
@given(
    published_tables(buckets=False),
    st.sampled_from(MissingPolicy),
    st.lists(st.sampled_from(IN_PIECES), min_size=2, max_size=5),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_pieces_are_judged_as_the_whole(table, missing, models, parts, random):
    schema = schema_of(missing)
    gaps = any(table[name].null_count for name in schema.quasi_identifiers)
    assume(missing is MissingPolicy.OWN_VALUE or not gaps)
    whole = audit_context(AuditContext(table, schema), models)
    found = audit_pieces(pieces_of(table, schema, parts, random), models)
    assert told(found, models) == told(whole, models)
    assert sorted(found.groups.sizes.tolist()) == sorted(whole.groups.sizes.tolist())
    assert found.evaluate(sf.models.KAnonymity(k=2)) == whole.evaluate(sf.models.KAnonymity(k=2))


@given(published_tables(buckets=False), st.integers(1, 4), st.integers(0, 3), st.data())
def test_pieces_have_lost_as_much_as_the_whole(table, parts, suppressed, data):
    schema, random = schema_of(MissingPolicy.OWN_VALUE), data.draw(st.randoms(use_true_random=False))
    columns = {"age": [18, 19, 20, 44], "job": ["clerk", "sailor", "diver", None]}
    persons = pa.table({**columns, "disease": ["flu", "cold", "ulcer", None], "pay": [0, 1, 2, 3]})
    whole = AuditContext(table, schema, original=persons)
    pieces = [
        MetricInput.of(replace(piece, original=persons).table, 0, piece.groups.histograms)
        for piece in pieces_of(table, schema, parts, random)
    ]
    minorities = {name: sum(piece.minorities[name] for piece in pieces) for name in schema.sensitive}
    sizes = np.concatenate([piece.sizes for piece in pieces])
    found = merge_metrics(
        [(piece.records, compute_metrics(piece)) for piece in pieces],
        MetricInput(pieces[0].columns, {}, sizes, suppressed, minorities),
    )
    measured = MetricInput.of(whole.table, suppressed, AuditContext(table, schema).groups.histograms)
    assert found == pytest.approx(compute_metrics(measured), rel=1e-12)


TABLE = pa.table(
    {
        "age": ["18", "18", "19", "19"],
        "job": ["clerk"] * 4,
        "disease": ["flu", "cold", "flu", "*"],
        "pay": [1, 2, 3, 3],
    }
)
SCHEMA = schema_of(MissingPolicy.OWN_VALUE)
TOTALS = SensitiveTotals.count(
    4, {name: (TABLE[name], np.ones(4, dtype=np.int64)) for name in SCHEMA.sensitive}, SCHEMA
)
WHOLE = AuditContext(TABLE, SCHEMA, totals=TOTALS)
HALVES = [replace(WHOLE, published=TABLE.slice(0, 2)), replace(WHOLE, published=TABLE.slice(2))]


def test_of_parts_of_a_model_the_worst_is_told():
    model = sf.models.PSensitiveKAnonymity(p=2, k=2, sensitive="pay")
    found = audit_pieces(HALVES, [model]).verdicts[0]
    assert [(part.model.name, part.level, part.groups) for part in found.parts] == [
        ("k-anonymity", 2, 0),
        ("distinct-l-diversity", 1, 1),
    ]
    assert (found.holds, found.groups, found.records) == (False, 1, 2)


def test_only_sizes_are_kept_of_groups():
    found = audit_pieces(HALVES, ())
    with pytest.raises(InvalidParameterError, match="DistinctLDiversity cannot be judged any more"):
        found.evaluate(sf.models.DistinctLDiversity(l=2, sensitive="pay"))
    with pytest.raises(InvalidParameterError, match="Which rows break KAnonymity"):
        found.violating_rows(sf.models.KAnonymity(k=3))
    assert found.per_group(sf.models.KAnonymity(k=3))["holds"].to_pylist() == [False, False]


@pytest.mark.parametrize(
    "model",
    [
        sf.models.XYAnonymity(k=2, y="pay", x=["job"]),
        sf.models.KMap(k=2),
        sf.models.DeltaPresence(delta_min=0, delta_max=0.5),
    ],
    ids=lambda model: model.name,
)
def test_models_that_compare_groups_are_refused(model):
    with pytest.raises(InvalidParameterError, match=r"KMap|XYAnonymity|DeltaPresence"):
        audit_pieces(HALVES, [model])


def test_a_model_that_names_all_quasi_identifiers_is_judged():
    model = sf.models.XYAnonymity(k=2, y="pay", x=["job", "age"])
    assert audit_pieces(HALVES, [model]).verdicts == audit_context(WHOLE, [model]).verdicts


def test_pieces_that_lack_a_group_or_have_it_twice_are_refused():
    with pytest.raises(SchemaError, match="2 records but the whole table 4"):
        audit_pieces(HALVES[:1], ())
    with pytest.raises(SchemaError, match="other values of 'disease'"):
        audit_pieces([HALVES[1], HALVES[1]], ())
    with pytest.raises(SchemaError, match="no rows"):
        audit_pieces([], ())


def test_pieces_need_the_totals_of_one_table():
    again = SensitiveTotals.count(
        4, {name: (TABLE[name], np.ones(4, dtype=np.int64)) for name in SCHEMA.sensitive}, SCHEMA
    )
    for pieces in ([AuditContext(TABLE, SCHEMA)], [HALVES[0], replace(HALVES[1], totals=again)]):
        with pytest.raises(InvalidParameterError, match="totals of the same whole table"):
            audit_pieces(pieces, ())


def test_values_that_are_not_in_the_totals_are_refused():
    strange = TABLE.set_column(3, "pay", pa.array([1, 2, 4, 4]))
    with pytest.raises(SchemaError, match="Column 'pay' has values that were not found in the whole table"):
        audit_pieces([replace(WHOLE, published=strange)], ())


def test_totals_count_every_record():
    with pytest.raises(SchemaError, match="3 records have a cell of 'disease', but the table has 4"):
        SensitiveTotals.count(
            4, {name: (TABLE[name][:3], np.ones(3, dtype=np.int64)) for name in SCHEMA.sensitive}, SCHEMA
        )


def test_categories_that_nobody_has_do_not_matter():
    kind = pa.dictionary(pa.int32(), pa.string())
    shown = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 2], pa.int32()), pa.array(["flu", "ulcer", "cold"]))
    table = TABLE.set_column(2, "disease", shown.cast(kind))
    totals = SensitiveTotals.count(
        4, {name: (table[name], np.ones(4, dtype=np.int64)) for name in SCHEMA.sensitive}, SCHEMA
    )
    assert totals.cells["disease"].to_pylist() == ["flu", "cold"]
    other = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, 0], pa.int32()), pa.array(["cold", "flu", "gout"]))
    piece = AuditContext(table.set_column(2, "disease", other), SCHEMA, totals=totals)
    assert piece.groups.histograms["disease"].sizes.tolist() == [2, 2]


def test_cells_that_reach_across_groups_are_refused():
    buckets = replace(WHOLE, published=TABLE.append_column("_bucket_pay", pa.array([0, 0, 1, 1])))
    with pytest.raises(SchemaError, match="Buckets reach across groups"):
        audit_pieces([buckets], ())
    loose = replace(WHOLE, schema=schema_of(MissingPolicy.MATCHES_ALL))
    missing = replace(loose, published=TABLE.set_column(0, "age", pa.array(["18", "18", "19", None])))
    with pytest.raises(SchemaError, match="Missing quasi-identifiers match those of other groups"):
        audit_pieces([missing], ())
    assert audit_pieces([loose], ()).records == 4


def test_only_one_piece_is_held_at_a_time():
    schema, made, held = sf.Schema(quasi_identifiers=["age"]), [], []
    table = pa.table({"age": ["20", "30", "40"]})
    totals = SensitiveTotals.count(3, {}, schema)

    def pieces() -> Iterator[AuditContext]:
        for at in range(3):
            held.extend(piece for piece in made if piece() is not None)
            piece = AuditContext(table.slice(at, 1), schema, totals=totals)
            made.append(weakref.ref(piece))
            yield piece
            del piece

    gc.disable()  # which would find pieces that keep themselves, but late
    try:
        assert audit_pieces(pieces(), []).records == 3
    finally:
        gc.enable()
    assert not held
