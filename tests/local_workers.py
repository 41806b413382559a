"""Workers in this process: what Spark does with DataFrames and our functions, done here, as often as a test likes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SfumatoError
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.engines._source import Code
from sfumato.tables.engines._spark_errors import unshared_folder_error
from sfumato.tables.engines._spark_workers import EncodeTask, SparkWorkerRows, map_in_workers

TASKS = 3
ROWS_PER_BATCH = 40


class LocalFrame:
    """A DataFrame whose rows are batches of tasks; functions travel to them as they do to workers."""

    def __init__(self, tasks: Sequence[Sequence[pa.RecordBatch]]) -> None:
        self.tasks = tasks

    @property
    def sparkSession(self):  # noqa: N802 - as Spark calls it
        """The session, which is as little as the frame."""
        return self

    def createDataFrame(self, table: pa.Table, schema: str):  # noqa: N802 - as Spark calls it
        """Make a frame of a table."""
        assert schema
        return LocalFrame([table.to_batches()])

    def mapInArrow(self, function, kinds: str):  # noqa: N802 - as Spark calls it
        """Run a function in all tasks, each with its own copy."""
        sent = pickle.dumps(function)
        found = LocalFrame([list(pickle.loads(sent)(iter(task))) for task in self.tasks])  # noqa: S301 - ours
        names = [kind.split()[0] for kind in kinds.split(", ")]
        assert all(batch.schema.names == names for task in found.tasks for batch in task)
        return found

    def persist(self):
        """Keep it, as it is kept anyway."""
        return self

    def unpersist(self) -> None:
        """Let it go."""

    def select(self, *names: str):
        """Return some columns."""
        return LocalFrame([[batch.select(names) for batch in task] for task in self.tasks])

    def selectExpr(self, *wanted: str):  # noqa: N802 - as Spark calls it
        """Know one expression: the length of what is packed."""

        def asked(batch: pa.RecordBatch) -> pa.RecordBatch:
            size = pc.add(*(pc.binary_length(batch[name]).cast(pa.int64()) for name in ("codes", "rest")))
            return pa.RecordBatch.from_pydict({name: size if "length" in name else batch[name] for name in wanted})

        return LocalFrame([list(map(asked, task)) for task in self.tasks])

    def repartition(self, number: int):
        """Deal batches anew."""
        batches = [batch for task in self.tasks for batch in task]
        return LocalFrame([batches[at::number] for at in range(number)])

    def repartitionById(self, number: int, name: str):  # noqa: N802 - as Spark calls it
        """Deal rows by a number, in any order."""
        dealt: list[list[pa.RecordBatch]] = [[] for _ in range(number)]
        for task in reversed(self.tasks):
            for batch in task:
                for at, place in enumerate(batch[name].to_pylist()):
                    dealt[place % number].append(batch.slice(at, 1))
        return LocalFrame(dealt)

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows."""
        return [row for task in self.tasks for batch in task for row in batch.to_pylist()]

    def collect(self) -> list[tuple[Any, ...]]:
        """Return the cells of all rows."""
        return [tuple(row.values()) for row in self.rows()]


class DuckDBWithWorkers(DuckDBSource):
    """A table in DuckDB whose rows are handed to workers; `changed` tells that it is not any more what it was."""

    worker_rows = 10**6
    changed = False

    def persist(self, names: Sequence[str], code: Code) -> SparkWorkerRows:
        """Let workers code all rows."""
        table = pa.Table.from_batches(self.batches(names, lambda _: None))
        rows, types = table.num_rows, {name: table[name].type for name in names}
        batches = table.append_column("hashed", pa.array(np.full(rows, 5))).to_batches(max_chunksize=ROWS_PER_BATCH)
        frame = LocalFrame([batches[at::TASKS] for at in range(TASKS)])
        digested = (0, (5 - 2**31) * (rows + self.changed))
        return SparkWorkerRows(frame, EncodeTask(code, types), digested)

    def map(self, items: Sequence[str], work: Callable[[str], bytes]) -> Iterator[bytes]:
        """Let workers work on things one by one."""
        return map_in_workers(LocalFrame([]), items, work)

    def unshared_folder_error(self, folder: Path) -> SfumatoError:
        """Say that a folder is not shared."""
        return unshared_folder_error(folder)
