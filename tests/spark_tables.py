"""Tables in Spark, and their releases in both ways, which are compared with those in memory."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.odd_columns import MOMENT

import sfumato as sf
from sfumato.core._atomic_writes import open_workspace
from sfumato.core.recipe import Recipe
from sfumato.io._columns import strip_metadata
from sfumato.tables.engines._spark_source import SparkSource
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._run import MemoryLimits

SCHEMA = sf.Schema(quasi_identifiers=["sex", "age", "job"], sensitive=["disease"], insensitive=["since", "score"])
RECIPE = Recipe(schema=SCHEMA, models=(sf.models.KAnonymity(k=5),), algorithm=sf.algorithms.Mondrian(), seed=1)
SEGMENTS = MemoryLimits(combinations=0, groups=10_000, segment_rows=100)


def people(rows: int) -> pa.Table:
    """Make a table with missing cells, texts that order differs by bytes, and moments that clocks left out."""
    rng = np.random.default_rng(rows)
    jobs = np.array(["clerk", "Clerk", "émigré", "z", ""])[rng.integers(0, 5, rows)]
    since = [MOMENT + dt.timedelta(minutes=int(each)) for each in rng.integers(0, 90, rows)]
    return pa.table(
        {
            "sex": pa.array(rng.integers(0, 2, rows) == 0, mask=rng.random(rows) < 0.05),
            "age": pa.array(rng.integers(18, 90, rows).astype(float), mask=rng.random(rows) < 0.05),
            "job": pa.array(jobs),
            "disease": pa.array(np.array(["flu", "cold", "none"])[rng.integers(0, 3, rows)]),
            "since": pa.array(since, pa.timestamp("us"), mask=rng.random(rows) < 0.1),
            "score": pa.array(rng.integers(-4, 5, rows) / 4 * np.where(rng.random(rows) < 0.5, -1.0, 1.0)),
        }
    )


def read(spark, table: pa.Table, folder: Path, parts: int = 1):
    """Read a table by way of Parquet files, as Spark does."""
    folder.mkdir(exist_ok=True)
    size = -(-table.num_rows // parts)
    for at in range(parts):
        pq.write_table(table.slice(at * size, size), folder / f"{at}.parquet")
    return spark.read.parquet(str(folder))


def released(
    frame, out: Path, *, recipe: Recipe = RECIPE, limits: MemoryLimits | None = None, progress=lambda *_: None
) -> sf.StoredRelease:
    """Release a table, by blocks if the recipe asks for them, by counts or, if these do not fit, by segments."""
    with open_workspace(out.parent) as place:
        return run_recipe_in_engine(
            recipe,
            SparkSource(frame, temporary=place, folders=[out.parent]),
            out,
            memory=10**8,
            replace_older=False,
            report=False,
            progress=progress,
            limits=limits,
        )


def rows_of(release: sf.StoredRelease) -> pa.Table:
    """Return the rows of all parts, in their order."""
    return pa.concat_tables([pq.read_table(path) for path in release.paths])


def check_counted(release: sf.StoredRelease, table: pa.Table) -> None:
    """Compare the rows, their order and their parts with the release in memory."""
    assert release.passage.way == "counted"
    assert release.audit.holds
    assert rows_of(release).equals(strip_metadata(sf.run_recipe(RECIPE, table).published))
    assert [path.name for path in release.paths] == [f"part-{at:05}.parquet" for at in range(len(release.paths))]
    assert {path.name for path in release.paths[0].parent.iterdir()} == {path.name for path in release.paths}


def check_segmented(release: sf.StoredRelease, table: pa.Table) -> None:
    """Compare the rows with the release in memory."""
    assert release.passage.way == "segmented"
    assert release.audit.truth.holds
    by = [(name, "ascending") for name in table.column_names]
    expected = strip_metadata(sf.run_recipe(RECIPE, table).published)
    assert rows_of(release).sort_by(by).equals(expected.sort_by(by))
