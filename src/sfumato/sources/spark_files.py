"""Files that workers of Spark wrote, found here, and read again by Spark."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.exceptions import ReadError
from sfumato.sources.base import WrittenParts
from sfumato.sources.canonical_spark import get_spark_type
from sfumato.sources.spark_errors import reworded_spark_errors, unshared_folder_error
from sfumato.sources.spark_workers import CHANGED

PATTERN = re.compile(r"[][{}*?,\\]")


def read_written_parquet(session: Any, paths: Sequence[Path]) -> Any:
    """Return Parquet files that were written here as a DataFrame of a session."""
    places = [f"file:///{path.resolve().as_posix().lstrip('/')}" for path in paths]
    return read_parquet_at(session, places, pq.read_schema(paths[0]))


def read_parquet_at(session: Any, addresses: Sequence[str], fields: pa.Schema) -> Any:
    """Return Parquet files at some addresses, whose columns are known, as a DataFrame of a session."""
    kinds = ", ".join(f"`{field.name.replace('`', '``')}` {get_spark_type(field.type)}" for field in fields)
    with reworded_spark_errors("read"):
        reader = session.read.schema(kinds).option("datetimeRebaseMode", "CORRECTED")
        return reader.parquet(*map(escape_glob, addresses))


def escape_glob(address: str) -> str:
    """Write an address so that Spark, which takes it for a pattern, finds this one only; nothing in it is encoded."""
    return PATTERN.sub(r"\\\g<0>", address)


def collect_parts(folder: Path, reports: Sequence[tuple[Any, ...]]) -> WrittenParts:
    """Take the parts that workers report, name them in their order, and remove what other attempts left."""
    if any(rows == CHANGED for _, rows, *_ in reports):
        raise ReadError("The table changed while it was read; make the release again.")
    parts = []
    for at, (_, _, file, size, *_) in enumerate(reports):
        made = folder / file
        if not made.is_file() or made.stat().st_size != size:
            raise unshared_folder_error(folder.parent)
        parts.append(f"part-{at:05}.parquet")
        made.replace(folder / parts[-1])
    for attempt in folder.glob("attempt-*"):
        shutil.rmtree(attempt)
    return WrittenParts(folder, sum(rows for _, rows, *_ in reports), tuple(parts))
