"""Releases by DuckDB in blocks, compared with those of memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.progress import silent
from sfumato.exceptions import SfumatoError
from sfumato.recipe import Recipe
from sfumato.release.large.large_run import Limits
from sfumato.release.large.running import carry_out_large
from sfumato.sources.engines import Resources
from sfumato.table.columns import undecorated

MEMORY = 100_000_000


def in_blocks(recipe: Recipe, data: object, folder: Path, *, groups: int = 10_000) -> sf.LargeRelease:
    """Release a table in blocks; so many groups are judged together."""
    with Resources(engine="duckdb", memory="100MB").opened(data, recipe.reading, folder / "release") as source:
        return carry_out_large(
            recipe,
            source,
            folder / "release",
            memory=MEMORY,
            replace_older=False,
            report=True,
            progress=silent,
            limits=Limits(combinations=0, groups=groups, segment_rows=50),
        )


def rows_of(release: sf.LargeRelease) -> pa.Table:
    """Return all published rows in the order of their cells."""
    return ordered(pa.concat_tables([pq.read_table(path) for path in release.paths]))


def ordered(table: pa.Table) -> pa.Table:
    """Order rows by their cells."""
    return table.sort_by([(name, "ascending") for name in table.column_names])


def check_as_in_memory(recipe: Recipe, table: pa.Table, *, groups: int = 10_000) -> None:
    """Check that a recipe gives the rows, levels and measures of memory, or the same refusal and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            expected = sf.carry_out(recipe, table)
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
        assert rows_of(found).equals(ordered(undecorated(expected.published)))
    assert found.passage.way == "blocked"
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.audit.truth.of_centers == expected.audit.truth.of_centers
    assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.measures == pytest.approx({name: expected.measures[name] for name in found.measures})
    assert found.proof == expected.proof
