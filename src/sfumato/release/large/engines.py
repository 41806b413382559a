"""Which engine carries out a recipe, and the table opened in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeGuard

import pyarrow as pa

from sfumato.exceptions import InvalidParameterError, WriteError
from sfumato.recipe import Recipe
from sfumato.release.large.keeping import kept_folder
from sfumato.sources.base import Source
from sfumato.sources.budget import budget_of, duckdb_share
from sfumato.sources.duckdb_source import DuckDBSource
from sfumato.sources.opening import open_parquet, uncompressed
from sfumato.sources.spark_source import SparkSource
from sfumato.table.formats.parquet import are_parquet, parquet_files
from sfumato.table.frames import Frame, canonical, to_arrow
from sfumato.table.read import load
from sfumato.table.workplace import workplace
from sfumato.validation import require

if TYPE_CHECKING:
    import pyarrow.dataset as ds

EngineName: TypeAlias = Literal["auto", "memory", "duckdb", "spark"]
ENGINES = ("auto", "memory", "duckdb", "spark")
SHARE = 4  # a table is read into memory if it takes at most one in so many parts of the budget
DATASET = "sfumato_dataset"  # the name by which DuckDB knows what Arrow reads


class Readable(Protocol):
    """What Arrow reads piece by piece: a dataset or a reader of record batches."""

    @property
    def schema(self) -> Any:
        """The names and types of its columns."""


Data: TypeAlias = "Frame | Readable | str | os.PathLike[str]"


class Place(TypedDict, total=False):
    """What can be said of a place apart from its engine; see `Where`."""

    memory: str | None
    temporary: str | os.PathLike[str] | None
    out: str | os.PathLike[str] | None
    replace: bool
    resume: bool


class InMemory(Place, total=False):
    """A place that a type checker takes for memory, because no other engine is named."""

    engine: Literal["auto", "memory"]


class Elsewhere(Place):
    """A place of which the engine is named."""

    engine: Literal["duckdb", "spark"]


class Where(Place, total=False):
    """Where a release is made, and what that may take; none of it changes the release.

    - `engine`: `"memory"`, `"duckdb"` or `"spark"`; by default `"auto"`: in memory if the table takes at most a
      quarter of the budget.
    - `memory`: the budget of the process, such as `"4GB"`; by default half of what is free.
    - `temporary`: the folder for what does not fit into memory, which holds original values; by default beside
      `out`.
    - `out`: the folder to write the release into, which is needed beyond memory.
    - `replace`: whether an older release there may be replaced.
    - `resume`: whether a release that is made in segments continues where an earlier call with `resume=True` stopped,
      and leaves what the next one needs if it fails.
    """

    engine: EngineName


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Which engine makes a release and what that may take; see `Where`."""

    engine: str = "auto"
    memory: str | None = None
    temporary: str | os.PathLike[str] | None = None
    resume: bool = False

    def __post_init__(self) -> None:
        require(self.engine in ENGINES, "anonymize", "engine", f"one of {', '.join(ENGINES)}", self.engine)
        budget_of(self.memory)

    @property
    def budget(self) -> int:
        """How many bytes of memory the process may take."""
        return budget_of(self.memory)

    def chosen(self, data: Data, recipe: Recipe) -> str:
        """Choose the engine for a table: memory if it fits well, else what reads it piece by piece."""
        if is_spark(data):
            if self.engine not in {"auto", "spark"}:
                raise InvalidParameterError('A Spark DataFrame stays in Spark; use engine="spark".')
            return "spark"
        if self.engine == "spark":
            raise InvalidParameterError('engine="spark" needs a Spark DataFrame, such as spark.table("census").')
        if self.engine != "auto":
            return self.engine
        if _is_dataset(data) or isinstance(data, pa.RecordBatchReader):
            return "duckdb"
        if isinstance(data, str | os.PathLike) and are_parquet(data):
            size = uncompressed(parquet_files(data), recipe.schema.attributes)
            return "memory" if size <= self.budget // SHARE else "duckdb"
        return "memory"

    @contextmanager
    def opened(self, data: Data, recipe: Recipe, out: Path) -> Iterator[Source]:
        """Open a table in its engine, with a hidden folder for what does not fit, which is gone at the end."""
        with workplace(self._parent(out)) as place:
            source = self._source(data, recipe, place, out)
            try:
                yield source
            finally:
                source.close()

    @contextmanager
    def kept(self, out: Path) -> Iterator[Path | None]:
        """Return the folder that lasts until the release is made, if that can be resumed."""
        if not self.resume:
            yield None
            return
        with kept_folder(self._parent(out), out.resolve().name) as place:
            yield place

    def _parent(self, out: Path) -> Path:
        """Return the folder for temporary data."""
        parent = out.parent if self.temporary is None else Path(self.temporary)
        if not parent.is_dir():
            raise WriteError(f"The folder {parent} does not exist; create it first.")
        if parent.resolve().is_relative_to(out.resolve()):
            raise WriteError(f"{parent} is inside the release; give a folder for temporary data outside of it.")
        return parent

    def _source(self, data: Data, recipe: Recipe, place: Path, out: Path) -> DuckDBSource | SparkSource:
        if is_spark(data):
            return SparkSource(data, temporary=place, out=out.parent)
        share = duckdb_share(self.budget)
        if _is_dataset(data):
            return DuckDBSource(DATASET, memory=share, temporary=place, tables={DATASET: data})
        if isinstance(data, pa.RecordBatchReader):
            import pyarrow.dataset as ds

            staged = place / "staged"
            ds.write_dataset(data, staged, format="parquet")
            return open_parquet(parquet_files(staged), memory=share, temporary=place)
        if isinstance(data, str | os.PathLike) and are_parquet(data):
            folder = Path(data) if Path(data).is_dir() else None
            return open_parquet(parquet_files(data), memory=share, temporary=place, folder=folder)
        frame: Any = data
        table = load(data, recipe.reading).table if isinstance(data, str | os.PathLike) else to_arrow(frame)[0]
        return DuckDBSource(DATASET, memory=share, temporary=place, tables={DATASET: table})


def in_memory(data: Data, recipe: Recipe) -> Any:
    """Read a table into memory; a dataframe stays what it is."""
    if _is_dataset(data):
        return canonical(data.to_table())
    if isinstance(data, pa.RecordBatchReader):
        return canonical(data.read_all())
    if not isinstance(data, str | os.PathLike):
        return data
    return load(data, recipe.reading).table


def _is_dataset(data: object) -> TypeGuard[ds.Dataset]:
    """Return whether something is an Arrow dataset, without importing what reads them."""
    return any(kind.__name__ == "Dataset" and kind.__module__.startswith("pyarrow") for kind in type(data).__mro__)


def is_spark(data: Any) -> bool:
    """Return whether something is a Spark DataFrame, classic or of Spark Connect, without importing Spark."""
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")
