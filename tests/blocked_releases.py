"""Releases by DuckDB in blocks, compared with those of memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato._progress import ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import SfumatoError
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines.options import EngineSelector
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._run import MemoryLimits

MEMORY = 100_000_000


def in_blocks(recipe: Recipe, data: object, folder: Path, *, groups: int = 10_000) -> sf.StoredRelease:
    """Release a table in blocks; so many groups are judged together."""
    with EngineSelector(engine="duckdb", memory="100MB").open_source(
        data, recipe.reading, folder / "release"
    ) as source:
        return run_recipe_in_engine(
            recipe,
            source,
            folder / "release",
            memory=MEMORY,
            replace_older=False,
            report=True,
            progress=ignore_progress,
            limits=MemoryLimits(combinations=0, groups=groups, segment_rows=50),
        )


def rows_of(release: sf.StoredRelease) -> pa.Table:
    """Return all published rows in the order of their cells."""
    return ordered(pa.concat_tables([pq.read_table(path) for path in release.paths]))


def ordered(table: pa.Table) -> pa.Table:
    """Order rows by their cells."""
    return table.sort_by([(name, "ascending") for name in table.column_names])


def check_as_in_memory(recipe: Recipe, table: pa.Table, *, groups: int = 10_000) -> None:
    """Check that a recipe gives the rows, levels and measures of memory, or the same refusal and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            expected = sf.run_recipe(recipe, table)
        except SfumatoError as error:
            refused = error
        else:
            refused = None
        if refused is not None:
            with pytest.raises(type(refused)) as told:
                in_blocks(recipe, table, Path(folder), groups=groups)
            assert str(told.value) == str(refused)
            assert not any(Path(folder).iterdir())
            return
        found = in_blocks(recipe, table, Path(folder), groups=groups)
        assert rows_of(found).equals(ordered(strip_metadata(expected.published)))
    assert found.passage.way == "blocked"
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.audit.truth.of_centers == expected.audit.truth.of_centers
    assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})
    assert found.proof == expected.proof
