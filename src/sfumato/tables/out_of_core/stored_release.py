"""A release of a table that does not fit into memory: its folders, its proof and its recipe, but no dataframe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato._locale.messages import LocalizedText
from sfumato.core.recipe import Recipe
from sfumato.io._object_store import ObjectStoreFolder
from sfumato.tables.audit.audit import Audit
from sfumato.tables.engines._spark_source import read_parquet_at, read_written_parquet
from sfumato.tables.masking._apply import StepRecord
from sfumato.tables.published.solution import LossBound
from sfumato.tables.recoding import Recoding

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from pyspark.sql import DataFrame, SparkSession

TABLE = "table"  # the folder of parts inside `public/`


@dataclass(frozen=True, kw_only=True)
class EngineStatistics:
    """How an engine carried a release out.

    Parameters
    ----------
    engine : its name and version.
    way : `"counted"`, `"segmented"`, `"leveled"` or `"blocked"`.
    reason : why this way was taken, in one sentence.
    combinations : how many combinations of the counted columns there are; None if they were not counted.
    segments : into how many segments or blocks the table was cut.
    memory : the budget in bytes.
    spilled : how many bytes the temporary folder held at most.
    """

    engine: str
    way: str
    reason: str
    memory: int
    combinations: int | None = None
    segments: int = 1
    spilled: int = 0

    @property
    def sentence(self) -> LocalizedText:
        """How the release was made, in words."""
        return LocalizedText(
            f"search.{self.way}",
            engine=self.engine,
            combinations=self.combinations or 0,
            segments=self.segments,
            spilled=-(-self.spilled // 10**6),
        )

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, and in words."""
        return {**{name: getattr(self, name) for name in self.__dataclass_fields__}, "told": self.sentence.to_dict}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StoredRelease:
    """A release that was written, judged and put in place by an engine.

    `folder` holds `public/`, whose table is a folder of Parquet parts, and `internal/`; in an object store, its
    manifest says where. `rows` and `suppressed` count
    records; `points_to_suppress` are the columns that have no role and are not published.
    """

    folder: Path | ObjectStoreFolder
    audit: Audit
    metrics: Mapping[str, float]
    recipe: Recipe
    passage: EngineStatistics
    rows: int
    suppressed: int
    left_out: tuple[str, ...]
    proof: LossBound | None = None
    recoding: Recoding | None = field(default=None)

    @property
    def masking(self) -> tuple[StepRecord, ...]:
        """What masking steps did: none are carried out beyond memory."""
        return ()

    @property
    def paths(self) -> tuple[Path, ...] | tuple[str, ...]:
        """The parts of the published table, in their order; in an object store, their addresses."""
        if isinstance(self.folder, ObjectStoreFolder):
            return tuple(self.folder.addresses())
        return tuple(sorted((self.folder / "public" / TABLE).glob("*.parquet")))

    def scan(self) -> ds.Dataset:
        """Return the published table as an Arrow dataset, which is read as it is used."""
        import pyarrow.dataset as ds

        if isinstance(self.folder, ObjectStoreFolder):
            return self.folder.scan()
        return ds.dataset([str(path) for path in self.paths], format="parquet")

    def to_spark(self, session: SparkSession) -> DataFrame:
        """Return the published table as a DataFrame of a Spark session, whose workers see `folder` at the same path."""
        if isinstance(self.folder, ObjectStoreFolder):
            shown: DataFrame = read_parquet_at(session, self.folder.addresses(), self.folder.scan().schema)
        else:
            shown = read_written_parquet(session, [Path(path) for path in self.paths])
        return shown

    def __repr__(self) -> str:
        measures = ", ".join(f"{name} {value:.4g}" for name, value in self.metrics.items())
        found = "" if self.proof is None else f"{self.proof}\n"
        return (
            f"StoredRelease: {self.rows - self.suppressed:,} of {self.rows:,} records in {len(self.paths)} parts, "
            f"{len(self.audit.sizes):,} groups, {measures}\n"
            f"{self.passage}\n{found}{self.audit!r}"
        )
