"""The benchmark table Adult with its hierarchies, for tests that find the shared tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._reading import read

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
COLUMNS += ["occupation", "salary-class"]


def hierarchy_file(shared_data: Path, name: str) -> Path:
    """Name the file of a column's hierarchy."""
    return shared_data / "adult" / f"adult_hierarchy_{name}.csv"


def read_adult(shared_data: Path) -> tuple[pa.Table, dict[str, Taxonomy]]:
    """Read the table, and the hierarchies of all its columns."""
    trees = {name: Taxonomy.read_csv(hierarchy_file(shared_data, name)) for name in COLUMNS}
    return read(shared_data / "adult" / "adult.csv"), trees
