"""Later rows that stay in an engine are published as they are in memory."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, SfumatoError, UnsupportedModelError
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines._duckdb_source import DuckDBSource

PROMISES = [
    (sf.models.KAnonymity(k=2),),
    (sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="disease")),
]
ALGORITHMS = [sf.algorithms.Optimal(), sf.algorithms.Datafly(), sf.algorithms.TopDownSpecialization()]


def rows_of(release: sf.StoredRelease) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in release.paths])


def released(table: pa.Table, schema: sf.Schema, models, algorithm) -> sf.Release | None:
    try:
        return sf.anonymize(table, schema, models, algorithm, max_suppressed=1.0, seed=1)
    except SfumatoError:
        return None


def by_duckdb(data: object, recoding: sf.tables.Recoding, folder: Path) -> sf.tables.StoredTransformedRows:
    return sf.transform(data, recoding, engine="duckdb", memory="100MB", out=folder / "later")


def without_way(audit: sf.Audit) -> dict[str, object]:
    """Leave out how the rows were compared: in memory row by row, in an engine by the rule."""
    told = audit.to_dict()
    return {**told, "truth": {name: told["truth"][name] for name in ("holds", "suppressed")}}


@given(
    described_tables(least_rows=6, most_rows=40),
    st.sampled_from(PROMISES),
    st.sampled_from(ALGORITHMS),
    st.floats(0.2, 0.8),
)
@examples(20)
def test_rows_and_figures_are_those_of_memory(drawn, models, algorithm, share):
    table, schema = drawn
    first = max(2, int(table.num_rows * share))
    earlier = released(table.slice(0, first), schema, models, algorithm)
    assume(earlier is not None and earlier.recoding is not None)
    later = table.slice(first)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            expected = sf.transform(later, earlier.recoding)
        except InfeasibleError as error:
            with pytest.raises(InfeasibleError, match=str(error)[:20]):
                by_duckdb(later, earlier.recoding, folder)
            assert not any(folder.iterdir())
            return
        except SchemaError:
            with pytest.raises(SchemaError):
                by_duckdb(later, earlier.recoding, folder)
            return
        found = by_duckdb(later, earlier.recoding, folder)
        assert rows_of(found).equals(strip_metadata(expected.published))
        assert (found.unknown, found.broken, found.suppressed) == (
            expected.unknown,
            expected.broken,
            expected.suppressed,
        )
        assert without_way(found.audit) == without_way(expected.audit)
        assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})
        assert found.recipe.to_dict()["attributes"] == expected.recipe.to_dict()["attributes"]
        assert "rows with an unknown value" in repr(found)


@pytest.fixture
def january() -> sf.Release:
    table = sf.datasets.generate_hospital(300, seed=5).select(["age", "zip", "disease"])
    schema = sf.Schema(
        quasi_identifiers=["age", "zip"], sensitive=["disease"], hierarchies={"age": sf.hierarchies.Intervals(10, 20)}
    )
    return sf.anonymize(table, schema, [sf.models.KAnonymity(k=5)], sf.algorithms.Optimal(), max_suppressed=0.1, seed=1)


def test_files_are_recoded_and_written(january, tmp_path):
    february = sf.datasets.generate_hospital(400, seed=6)
    sf.write(february, tmp_path / "february.csv")
    pq.write_table(february, tmp_path / "february.parquet")
    expected = sf.transform(february, january.recoding)
    for name in ("february.csv", "february.parquet"):
        found = sf.transform(
            tmp_path / name, january.recoding, engine="duckdb", memory="100MB", out=tmp_path / "out", replace=True
        )
        assert rows_of(found).equals(strip_metadata(expected.published))
        assert found.left_out == expected.left_out
        assert sf.tables.Recoding.read(tmp_path / "out" / "internal" / "recoding.toml").columns
    with pytest.raises(InvalidParameterError, match="out="):
        sf.transform(february, january.recoding, engine="duckdb")
    written = sf.transform(tmp_path / "february.parquet", january.recoding, out=tmp_path / "in_memory")
    assert isinstance(written, sf.tables.TransformedRows)
    assert (tmp_path / "in_memory" / "public").is_dir()


def test_columns_of_another_type_are_refused(january, tmp_path):
    table = sf.datasets.generate_hospital(50, seed=6)
    ages = pa.array([f"{age} years" for age in table["age"].to_pylist()])
    texts = table.set_column(table.column_names.index("age"), "age", ages)
    with pytest.raises(SchemaError, match="another type than in the earlier release"):
        by_duckdb(texts, january.recoding, tmp_path)


def test_what_is_not_served_is_refused_before_any_row_is_read(january, tmp_path, monkeypatch):
    monkeypatch.setattr(DuckDBSource, "profile", lambda *_: pytest.fail("rows were read"))
    model = sf.models.TCloseness(t=0.5, sensitive="disease", compared_with="original")
    recoding = replace(january.recoding, recipe=replace(january.recoding.recipe, models=(model,)))
    with pytest.raises(UnsupportedModelError, match="compares with the original"):
        by_duckdb(sf.datasets.generate_hospital(50, seed=6), recoding, tmp_path)
