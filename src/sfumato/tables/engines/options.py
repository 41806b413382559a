"""Which engine looks at a table, and the table opened in it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeGuard

import pyarrow as pa

from sfumato.core._atomic_writes import open_workspace, reworded_permission_errors
from sfumato.errors import InvalidParameterError, WriteError
from sfumato.io._dataframes import Frame, to_arrow, to_canonical
from sfumato.io._parquet import is_parquet, list_parquet_files
from sfumato.io._reading import read_with_findings
from sfumato.io.formats import FileFindings, Option
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.engines._opening import (
    check_parquet_options,
    estimate_memory,
    is_stageable,
    open_parquet_source,
    stage_as_parquet,
    stage_batches,
    sum_uncompressed_bytes,
)
from sfumato.tables.engines._source import EngineSource
from sfumato.tables.engines._spark_source import SparkSource

if TYPE_CHECKING:
    import pyarrow.dataset as ds


# How much memory a run may take.

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)\s*", re.IGNORECASE)
MIN_BUDGET = 50 * 10**6
MIN_DUCKDB_BUDGET = 150 * 10**6  # for DuckDB to sort and to count with a few threads
GROUPS = Path("/sys/fs/cgroup")
FREE = Path("/proc/meminfo")


def parse_memory_budget(memory: str | None) -> int:
    """Read a size such as "4GB" as bytes; by default half of what is free.

    >>> parse_memory_budget("1.5GB")
    1500000000
    """
    if memory is None:
        return max(measure_free_memory() // 2, MIN_BUDGET)
    found = SIZE.fullmatch(memory)
    known = {unit.upper(): size for unit, size in UNITS.items()}
    size = int(float(found[1]) * known.get(found[2].upper(), 0)) if found else 0
    if size < MIN_BUDGET:
        raise InvalidParameterError(
            f'memory must be a size of at least 50MB, such as "4GB" or "512MB"; got {memory!r}.'
        )
    return size


def get_duckdb_share(budget: int) -> int:
    """Return how many bytes of a budget DuckDB counts as its own; it takes more, as do Arrow, Python and the search."""
    return max(budget // 4, min(budget // 2, MIN_DUCKDB_BUDGET))


def measure_free_memory() -> int:
    """Return how many bytes are free for this process, as far as the system tells."""
    free = _read_meminfo()
    limit, used = _read_number(GROUPS / "memory.max"), _read_number(GROUPS / "memory.current")
    if limit is not None and used is not None:
        free = min(free, limit - used)
    return max(free, MIN_BUDGET)


def _read_meminfo() -> int:
    try:
        lines = FREE.read_text().splitlines()
    except OSError:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4 * 10**9
    values = {line.partition(":")[0]: line.split()[1] for line in lines if ":" in line}
    return int(values.get("MemAvailable", values.get("MemFree", 0))) * 1024


def _read_number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


EngineName: TypeAlias = Literal["auto", "memory", "duckdb", "spark"]
ENGINES = ("auto", "memory", "duckdb", "spark")
SHARE = 4  # a table is read into memory if it takes at most one in so many parts of the budget
DATASET = "sfumato_dataset"  # the name by which DuckDB knows what Arrow reads


class ArrowReadable(Protocol):
    """What Arrow reads piece by piece: a dataset or a reader of record batches."""

    @property
    def schema(self) -> Any:
        """The names and types of its columns."""


Data: TypeAlias = "Frame | ArrowReadable | str | os.PathLike[str]"


class ResourceLimits(TypedDict, total=False):
    """What an engine may take."""

    memory: str | None
    temporary: str | os.PathLike[str] | None


class InputEngineOptions(ResourceLimits, total=False):
    """Where the rows of a table are looked at, and what that may take; none of it changes what is found.

    - `engine`: `"memory"`, `"duckdb"` or `"spark"`; by default `"auto"`: in memory if the table takes at most a
      quarter of the budget.
    - `memory`: the budget of the process, such as `"4GB"`; by default half of what is free.
    - `temporary`: the folder for what does not fit into memory, which holds values of the table; by default that of
      the system.
    """

    engine: EngineName


@dataclass(frozen=True, kw_only=True)
class EngineSelector:
    """Which engine looks at a table and what that may take; see `Reach`."""

    engine: str = "auto"
    memory: str | None = None
    temporary: str | os.PathLike[str] | None = None
    resume: bool = False

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise InvalidParameterError(f"engine must be one of {', '.join(ENGINES)}; got {self.engine!r}.")
        parse_memory_budget(self.memory)

    @property
    def budget(self) -> int:
        """How many bytes of memory the process may take."""
        return parse_memory_budget(self.memory)

    def choose_engine(self, data: Data, names: Sequence[str] | None = None) -> str:
        """Choose the engine for some columns of a table: memory if they fit well, else what reads them by pieces."""
        if is_spark_dataframe(data):
            if self.engine not in {"auto", "spark"}:
                raise InvalidParameterError('A Spark DataFrame stays in Spark; use engine="spark".')
            return "spark"
        if self.engine == "spark":
            raise InvalidParameterError('engine="spark" needs a Spark DataFrame, such as spark.table("census").')
        if self.engine != "auto":
            return self.engine
        if _is_dataset(data) or isinstance(data, pa.RecordBatchReader) or is_duckdb_relation(data):
            return "duckdb"
        if isinstance(data, str | os.PathLike) and is_parquet(data):
            size = sum_uncompressed_bytes(list_parquet_files(data), names)
            return "memory" if size <= self.budget // SHARE else "duckdb"
        if isinstance(data, str | os.PathLike) and is_stageable(data):
            return "memory" if (estimate_memory(data) or 0) <= self.budget // SHARE else "duckdb"
        return "memory"

    @contextmanager
    def open_source(
        self,
        data: Data,
        reading: Mapping[str, Option],
        out: Path | None = None,
        *,
        findings: FileFindings | None = None,
        texts: Sequence[str] = (),
    ) -> Iterator[EngineSource]:
        """Open a table in its engine, with a hidden folder for what does not fit, which is gone at the end.

        Parameters
        ----------
        data : the table.
        reading : the options of `sf.read`, for what is not opened where it is.
        out : the folder that is made of it, beside which the hidden folder lies unless `temporary` says otherwise.
        findings : is told what was found out about a text file.
        texts : columns of a text file whose cells stay the texts that stand in it.
        """
        parent = self.parent(out)
        with ExitStack() as stack:
            with reworded_permission_errors(parent):
                place = stack.enter_context(open_workspace(parent))
            source = self._source(data, reading, place, out, findings=findings, texts=texts)
            stack.callback(source.close)
            yield source

    def parent(self, out: Path | None) -> Path:
        """Return the folder for temporary data."""
        near = Path(tempfile.gettempdir()) if out is None else out.parent
        parent = near if self.temporary is None else Path(self.temporary)
        if not parent.is_dir():
            raise WriteError(f"The folder {parent} does not exist; create it first.")
        if out is not None and parent.resolve().is_relative_to(out.resolve()):
            raise WriteError(f"{parent} is inside the release; give a folder for temporary data outside of it.")
        return parent

    def _source(
        self,
        data: Data,
        reading: Mapping[str, Option],
        place: Path,
        out: Path | None,
        *,
        findings: FileFindings | None,
        texts: Sequence[str],
    ) -> DuckDBSource | SparkSource:
        if is_spark_dataframe(data):
            kept = [self.parent(out)] if self.resume else []
            return SparkSource(data, temporary=place, folders=[] if out is None else [out.parent, *kept])
        share = get_duckdb_share(self.budget)
        if _is_dataset(data):
            return DuckDBSource(DATASET, memory=share, temporary=place, tables={DATASET: data})
        if isinstance(data, pa.RecordBatchReader) or is_duckdb_relation(data):
            reader = data if isinstance(data, pa.RecordBatchReader) else data.to_arrow_reader()
            return open_parquet_source([stage_batches(reader, place)], memory=share, temporary=place)
        if isinstance(data, str | os.PathLike) and is_parquet(data):
            check_parquet_options(reading)
            folder = Path(data) if Path(data).is_dir() else None
            return open_parquet_source(list_parquet_files(data), memory=share, temporary=place, folder=folder)
        frame: Any = data
        if isinstance(data, str | os.PathLike):
            staged = stage_as_parquet(data, reading, place, budget=self.budget, findings=findings, texts=texts)
            if staged is not None:
                return open_parquet_source([staged], memory=share, temporary=place)
            frame = read_with_findings(data, reading).table
        return DuckDBSource(DATASET, memory=share, temporary=place, tables={DATASET: to_arrow(frame)[0]})


def read_into_memory(data: Data, reading: Mapping[str, Option]) -> Any:
    """Read a table into memory; a dataframe stays what it is."""
    if _is_dataset(data):
        return to_canonical(data.to_table())
    if isinstance(data, pa.RecordBatchReader):
        return to_canonical(data.read_all())
    if is_duckdb_relation(data):
        return to_canonical(data.to_arrow_table())
    if not isinstance(data, str | os.PathLike):
        return data
    return read_with_findings(data, reading).table


def _is_dataset(data: object) -> TypeGuard[ds.Dataset]:
    """Return whether something is an Arrow dataset, without importing what reads them."""
    return any(kind.__name__ == "Dataset" and kind.__module__.startswith("pyarrow") for kind in type(data).__mro__)


def is_duckdb_relation(data: Any) -> TypeGuard[Any]:
    """Return whether something is a relation of DuckDB, without importing it."""
    return type(data).__name__ == "DuckDBPyRelation" and hasattr(data, "to_arrow_reader")


def is_spark_dataframe(data: Any) -> bool:
    """Return whether something is a Spark DataFrame, classic or of Spark Connect, without importing Spark."""
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")
