"""Releases of larger tables: by DuckDB out of memory, in blocks and segments, by threads and by compiled loops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import sfumato as sf
from blocked_releases import in_blocks
from frozen.scenario import SECRET, Scenario

D = "occupation"
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "education", "sex"],
    sensitive=[D],
    insensitive=["salary"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 20)},
)
K, L = sf.models.KAnonymity(k=5), sf.models.FrequencyLDiversity(l=2, sensitive=D)
PASSES = {
    "counted": (sf.algorithms.Optimal(), (K,)),
    "buckets": (sf.algorithms.Anatomy(), (L,)),
    "segmented": (sf.algorithms.Mondrian(), (K, L)),
    "blocked": (sf.algorithms.MDAV(), (K,)),
}


def by_engine(folder: Path, algorithm: Any, models: Any) -> None:
    """Release a table that DuckDB holds."""
    blocks = algorithm.name in {"mdav", "anatomy"}
    sf.anonymize(
        # Two blocks: the sums of more blocks are rounded in the order in which the blocks end.
        sf.datasets.generate_census(1000 if blocks else 3000, seed=3),
        SCHEMA,
        models,
        algorithm,
        seed=1,
        secret=SECRET,
        max_suppressed=0.5,
        engine="duckdb",
        memory="200MB",
        out=folder,
        **({"block_rows": 500} if blocks else {}),
    )


def in_parts(folder: Path, algorithm: Any, models: Any) -> None:
    """Release a table out of memory, in segments and blocks that hold few rows."""
    recipe = sf.Recipe(
        schema=SCHEMA,
        models=models,
        algorithm=algorithm,
        seed=1,
        secret=SECRET,
        max_suppressed=0.5,
        block_rows=60 if algorithm.name == "mdav" else None,
    )
    folder.mkdir()
    in_blocks(recipe, sf.datasets.generate_census(400, seed=3), folder)


def in_memory(folder: Path, algorithm: Any, models: Any, rows: int) -> None:
    """Release a table that is large enough for threads, and for compiled loops."""
    data = sf.datasets.generate_census(rows, seed=4)
    found = sf.anonymize(
        data, SCHEMA, models, algorithm, seed=1, secret=SECRET, max_suppressed=0.5, publish_text=["salary"]
    )
    found.write(folder, report=rows < 30_000)


def scenarios() -> Iterator[Scenario]:
    """Yield every release."""
    for name, (algorithm, models) in PASSES.items():
        yield Scenario(f"duckdb-{name}", partial(by_engine, algorithm=algorithm, models=models))
        if name in {"segmented", "blocked"}:
            yield Scenario(f"out-of-memory-{name}", partial(in_parts, algorithm=algorithm, models=models))
    for algorithm, models, rows in (
        (sf.algorithms.Mondrian(), (K, L), 25_000),
        (sf.algorithms.Optimal(), (K, sf.models.TCloseness(t=0.5, sensitive=D)), 25_000),
        (sf.algorithms.CrossBucketGeneralization(), (K, L), 25_000),
        (sf.algorithms.Anatomy(), (L,), 210_000),
        (sf.algorithms.FixedLevels(levels={"age": 2, "education": 1, "sex": 1}), (K,), 210_000),
    ):
        task = partial(in_memory, algorithm=algorithm, models=models, rows=rows)
        yield Scenario(f"large-{rows}-{algorithm.name}", task)
