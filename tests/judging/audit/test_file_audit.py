"""A published table is judged in its engine as it is in memory, also where its groups do not fit at once."""

from __future__ import annotations

import gc
import tempfile
import weakref
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from counted_rows import MODELS_ASKED, published_tables, schema_of
from drawn_examples import examples
from sfumato._progress import ignore_progress
from sfumato.errors import InvalidParameterError, SfumatoError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.audit._engine_audit import EngineAudit
from sfumato.tables.audit.audit import Audit
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.published import _sensitive_values

ALONE = [model for model in MODELS_ASKED if not model.needs_population and not model.applies_to_buckets]
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
TABLE = pa.table({"age": ["20-29"] * 3 + ["30-39"] * 2, "disease": ["flu", "cold", "flu", "cold", "cold"]})


def in_pieces(table: pa.Table, schema: sf.Schema, models, most: int) -> Audit:
    """Audit a table of which so few combinations fit into memory."""
    with tempfile.TemporaryDirectory() as folder:
        source = DuckDBSource("shown", memory=10**8, temporary=Path(folder), tables={"shown": table})
        audited = EngineAudit(source=source, schema=schema, most=most)
        source.profile(audited.columns(schema), audited.columns(schema))
        try:
            return audited.run(models, ignore_progress)
        finally:
            source.close()


def told(audit: Audit) -> object:
    return audit.to_dict(), repr(audit), sorted(audit.sizes.tolist()), audit.records_below(3)


@examples(60)
@given(published_tables(), st.lists(st.sampled_from(ALONE), max_size=4), st.sampled_from([1, 4, 6, 10, 100]))
def test_levels_are_those_of_memory_however_few_groups_fit(table, models, most):
    schema = schema_of(MissingPolicy.OWN_VALUE)
    assert told(in_pieces(table, schema, models, most)) == told(sf.audit(table, schema, models))


@st.composite
def bucketed_tables(draw: st.DrawFn) -> pa.Table:
    """Draw a table with many groups; sensitive values, or quasi-identifiers in one or two slices, are in buckets."""
    rows = draw(st.integers(4, 20))
    number = st.integers(0, 4) | st.none() if draw(st.booleans()) else st.integers(0, 4)
    cells = {
        "age": st.sampled_from([str(age) for age in range(12)]),
        "job": st.sampled_from(["clerk", "sailor", "diver", None]),
        "disease": st.sampled_from(["flu", "cold", "ulcer", None]),
        "pay": st.integers(0, 5),
    }
    drawn = {name: draw(st.lists(each, min_size=rows, max_size=rows)) for name, each in cells.items()}
    numbers = [draw(st.lists(number, min_size=rows, max_size=rows)) for _ in range(2)]
    slices = draw(st.sampled_from([(), ("job",), ("job", "age"), ("age+job",)]))
    drawn |= {f"_bucket_{name}": numbers[0] for name in slices}
    drawn |= {f"_bucket_{name}": numbers[1] for name in draw(st.sampled_from([("disease",), ("disease", "pay"), ()]))}
    kinds = {name: pa.int64() for name in drawn if name not in {"age", "job", "disease"}}
    return pa.table({name: pa.array(each, kinds.get(name, pa.string())) for name, each in drawn.items()})


PROMISED = [
    sf.models.KAnonymity(k=2),
    sf.models.FrequencyLDiversity(l=2, sensitive="disease"),
    sf.models.TCloseness(t=0.4, sensitive="disease"),
    sf.models.DistinctLDiversity(l=2, sensitive="pay"),
    sf.models.XYAnonymity(k=1, y="disease", x=["age"]),
]


@examples(80)
@given(bucketed_tables(), st.lists(st.sampled_from(PROMISED), max_size=3), st.sampled_from([1, 5, 12]))
def test_buckets_that_reach_across_pieces_are_judged_as_in_memory(table, models, most):
    schema = sf.Schema(quasi_identifiers=["age", "job"], sensitive=["disease", "pay"])
    assert told(in_pieces(table, schema, models, most)) == told(sf.audit(table, schema, models))


def test_counts_in_pieces_are_rounded_as_in_memory(monkeypatch):
    monkeypatch.setattr(_sensitive_values, "MAX_COUNT", 100)
    table = pa.table(
        {"age": [str(at) for at in range(12)], "disease": list("abcdabcdabce"), "_bucket_disease": [0] * 12}
    )
    table = table.set_column(2, "_bucket_disease", pa.array([0, 1, 2] * 3 + [1, 1, 2]))
    assert told(in_pieces(table, SCHEMA, [], 3)) == told(sf.audit(table, SCHEMA, []))


def test_slices_with_different_buckets_are_refused_where_groups_do_not_fit():
    table = pa.table({"age": list(range(12)), "job": ["a", "b"] * 6, "disease": ["flu"] * 12})
    table = table.append_column("_bucket_age", pa.array([0, 1, 2] * 4)).append_column(
        "_bucket_job", pa.array([0, 1] * 6)
    )
    schema = sf.Schema(quasi_identifiers=["age", "job"], sensitive=["disease"])
    assert told(in_pieces(table, schema, [], 100)) == told(sf.audit(table, schema, []))
    with pytest.raises(UnsupportedModelError, match="in different buckets"):
        in_pieces(table, schema, [], 1)


@examples(25)
@given(published_tables(), st.sampled_from(MissingPolicy), st.lists(st.sampled_from(ALONE), max_size=3))
def test_files_are_judged_as_the_table_in_them(table, missing, models):
    schema = schema_of(missing)
    expected = sf.audit(table, schema, models)
    with tempfile.TemporaryDirectory() as folder:
        for part in range(2):
            pq.write_table(
                table.slice(part * (table.num_rows // 2), None if part else table.num_rows // 2),
                f"{folder}/{part}.parquet",
            )
        for data in (f"{folder}/*.parquet", folder):
            assert told(sf.audit(data, schema, models, engine="duckdb", memory="100MB")) == told(expected)
        assert told(sf.audit(f"{folder}/*.parquet", schema, models)) == told(expected)
        scanned = ds.dataset(folder)
        assert told(sf.audit(scanned, schema, models, memory="100MB", temporary=folder)) == told(expected)
        assert sorted(path.name for path in Path(folder).iterdir()) == ["0.parquet", "1.parquet"]


def test_combinations_of_long_texts_are_judged_in_more_pieces(tmp_path):
    found = []
    for letters in (1, 800):
        table = pa.table({"age": [f"{at:0{letters}}" for at in range(100)]})
        source = DuckDBSource("shown", memory=10**8, temporary=tmp_path, tables={"shown": table})
        source.profile(["age"], ["age"])
        found.append(EngineAudit(source=source, schema=sf.Schema(quasi_identifiers=["age"]), most=200).pieces(["age"]))
        source.close()
    assert found[0] == 1
    assert 5 <= found[1] <= 8  # the texts take ten times the room, and the estimate is not exact


@pytest.mark.parametrize("shown", [["age", "disease"], ["age", "disease", "_bucket_disease"]])
def test_a_judged_piece_is_gone_before_the_next_one_is_counted(shown, tmp_path, monkeypatch):
    diseases = [("flu", "cold", "gout")[at % 3] for at in range(60)]
    table = pa.table(
        {
            "age": [str(at % 20) for at in range(60)],
            "disease": diseases,
            "_bucket_disease": [at % 7 for at in range(60)],
        }
    )
    source = DuckDBSource("shown", memory=10**8, temporary=tmp_path, tables={"shown": table.select(shown)})
    audited = EngineAudit(source=source, schema=SCHEMA, most=10)
    source.profile(audited.columns(SCHEMA), audited.columns(SCHEMA))
    count, judged, left = source.count, [], []

    def watched(names, *rest):
        left.extend(piece for piece in judged if piece() is not None)
        return count(names, *rest)

    monkeypatch.setattr(source, "count", watched)
    gc.disable()  # which would find pieces that keep themselves, but late
    try:
        audited.run([sf.models.KAnonymity(k=2)], ignore_progress, lambda piece: judged.append(weakref.ref(piece)))
    finally:
        gc.enable()
        source.close()
    assert len(judged) > 2
    assert not left


def test_one_star_makes_missing_cells_of_every_sensitive_column_unknown():
    table = pa.table(
        {"age": ["20-29"] * 2 + ["30-39"] * 2, "disease": ["flu", None, "flu", "cold"], "pay": ["1", "*", "2", "3"]}
    )
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease", "pay"])
    models = [sf.models.DistinctLDiversity(l=2, sensitive="disease")]
    found = in_pieces(table, schema, models, most=2)
    assert told(found) == told(sf.audit(table, schema, models))
    assert not found.holds


def test_models_of_some_columns_are_judged_on_these_and_levels_keep_their_order():
    ages, jobs = [str(20 + at % 4) for at in range(16)], ["clerk", "diver"] * 8
    table = pa.table({"age": ages, "job": jobs, "disease": ["flu", "cold"] * 8, "pay": [str(at) for at in range(16)]})
    schema = sf.Schema(quasi_identifiers=["age", "job"], sensitive=["disease", "pay"])
    models = [
        sf.models.KAnonymity(k=8, quasi=["job"]),
        sf.models.DistinctLDiversity(l=3, sensitive="pay"),
        sf.models.XYAnonymity(k=1, y="disease", x=["age"]),
        sf.models.KAnonymity(k=4),
    ]
    assert told(in_pieces(table, schema, models, most=4)) == told(sf.audit(table, schema, models))


def test_suppressed_records_are_set_aside_and_a_population_is_counted_while_groups_fit(tmp_path):
    table = pa.concat_tables([TABLE, pa.table({"age": ["*"], "disease": ["flu"]})])
    pq.write_table(table, tmp_path / "t.parquet")
    people = pa.table({"age": [21, 22, 23, 24, 31, 32, 33, 80]})
    models = [sf.models.KMap(k=3), sf.models.KAnonymity(k=2)]
    for extra in ({"ignore_suppressed": True}, {"population": people}):
        expected = sf.audit(table, SCHEMA, models if "population" in extra else models[1:], **extra)
        found = sf.audit(
            tmp_path / "t.parquet", SCHEMA, models if "population" in extra else models[1:], engine="duckdb", **extra
        )
        assert told(found) == told(expected)
        assert found.set_aside == expected.set_aside


@pytest.mark.parametrize(
    ("fields", "models", "named"),
    [
        ({"population": pa.table({"age": [20]})}, [], "A population"),
        ({}, [sf.models.KMap(k=2)], "KMap"),
        ({"ignore_suppressed": True}, [], "ignore_suppressed"),
    ],
)
def test_what_compares_groups_is_refused_where_they_do_not_fit(fields, models, named, tmp_path):
    source = DuckDBSource("shown", memory=10**8, temporary=tmp_path, tables={"shown": TABLE})
    source.profile(["age", "disease"], ["age"])
    with pytest.raises(UnsupportedModelError, match=named):
        EngineAudit(source=source, schema=SCHEMA, most=1, **fields).run(models, ignore_progress)


def test_missing_cells_that_match_all_are_refused_where_groups_do_not_fit():
    with pytest.raises(UnsupportedModelError, match="matches-all"):
        in_pieces(TABLE, sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], missing="matches-all"), [], most=1)


@pytest.mark.parametrize(
    "given",
    [
        {"original": TABLE},
        {"correspondence": [0, 1]},
        {"centers": True},
        {"perturbed": ["age"]},
    ],
)
def test_comparing_single_rows_is_refused_before_anything_is_opened(given):
    with pytest.raises(InvalidParameterError, match=f"{next(iter(given))} compares with single rows"):
        sf.audit("nowhere.parquet", SCHEMA, engine="duckdb", **given)


@pytest.mark.parametrize(
    ("columns", "schema", "models"),
    [
        ({}, sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], flags={"disease": "flag"}), []),
        ({}, SCHEMA, [sf.models.TCloseness(t=0.5, sensitive="disease", compared_with="original")]),
        ({"_records": [1] * 5}, sf.Schema(quasi_identifiers=["age", "_records"]), []),
        ({}, sf.Schema(quasi_identifiers=["age"], identifiers=["disease"]), []),
        ({}, sf.Schema(quasi_identifiers=["agee"]), []),
    ],
)
def test_tables_that_are_not_served_are_refused_before_any_row_is_read(columns, schema, models, tmp_path, monkeypatch):
    table = TABLE
    for name, cells in columns.items():
        table = table.append_column(name, pa.array(cells))
    pq.write_table(table, tmp_path / "t.parquet")
    monkeypatch.setattr(DuckDBSource, "profile", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(SfumatoError):
        sf.audit(tmp_path / "t.parquet", schema, models, engine="duckdb")
