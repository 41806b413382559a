"""Tables that Spark reads, counts and rewrites, on one machine or many; nothing else here knows Spark.

Only DataFrames, their expressions and Arrow functions are used, so Spark Connect serves as well.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.errors import ReadError, WriteError
from sfumato.io._columns import check_unique_names
from sfumato.tables.engines._packing import make_group_field
from sfumato.tables.engines._source import (
    GROUP,
    INDEX,
    NOWHERE,
    RANK,
    WEIGHT,
    Code,
    CombinationRecoding,
    ReportProgress,
    TablePiece,
    TableProfile,
    TooManyCombinationsError,
    ValueMapping,
    WrittenParts,
    build_profiles,
    check_case_insensitive_names,
    check_has_rows,
)
from sfumato.tables.engines._spark_columns import UTC, ZONED, SparkColumn, get_spark_functions, get_spark_type
from sfumato.tables.engines._spark_errors import reworded_spark_errors, unshared_folder_error
from sfumato.tables.engines._spark_workers import (
    CHANGED,
    HALF,
    REPORT,
    EncodeTask,
    PartWriter,
    SparkWorkerRows,
    check_workers,
    map_in_workers,
    pack_rows,
    run_in_workers,
    unpack_rows,
)

# Files that workers of Spark wrote, found here, and read again by Spark.

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


ROWS_PER_PART = 1_000_000
MET = "_met"  # names the cells that a piece has
BITS = 12  # of a hash that name a bucket
BUCKETS = 2**BITS
MAX_SENT = 100 * 2**20  # bytes of cases that every worker gets; more are joined by shuffling
CASE, PART, LABELS, KEY = "_case", "_part", "_labels", "_key"


class SparkSource:
    """A table that is a Spark DataFrame, of Spark itself or of Spark Connect.

    Parameters
    ----------
    frame : the DataFrame.
    temporary : the folder for what does not fit into the memory of this process.
    folders : where a release is made, which workers must see, too.
    """

    def __init__(self, frame: Any, *, temporary: Path, folders: Sequence[Path] = ()) -> None:
        self.temporary, self._folders = temporary, folders
        self._functions = get_spark_functions(frame)
        self._session = frame.sparkSession
        self._asked = False  # whether workers were
        self.spilled = 0  # Spark Connect does not tell
        with reworded_spark_errors("read"):
            names, kinds = list(frame.columns), [field.dataType.simpleString() for field in frame.schema.fields]
        check_unique_names(names)
        check_case_insensitive_names(names)
        self._frame = frame.toDF(*(f"c{at}" for at in range(len(names))))
        self._kinds = {
            name: (f"c{at}", kind)
            for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
            if not INDEX.fullmatch(name)
        }
        self._raw: dict[str, SparkColumn] = {}
        self._records: Any = None
        self._canonical: dict[str, Any] = {}
        self._profile: TableProfile | None = None
        self._counted: tuple[list[str], pa.Table] | None = None
        self._digested: tuple[list[str], tuple[int, ...]] | None = None
        self._summed: tuple[CombinationRecoding, tuple[int, ...]] | None = None

    @property
    def engine(self) -> str:
        """The name of the engine and its version."""
        return f"spark {self._session.version}"

    @property
    def names(self) -> list[str]:
        """The names of all columns, in their order."""
        return list(self._kinds)

    def close(self) -> None:
        """Let go of the table; the session belongs to whoever started it."""
        self._records = self._counted = None

    def profile(self, names: Sequence[str], together: Sequence[str], kept: Sequence[str] = ()) -> TableProfile:  # noqa: ARG002 - all are digested
        """Describe some columns in one scan; all later questions are about these."""
        functions = self._functions
        self._raw = {name: SparkColumn(name, *self._kinds[name], functions) for name in names}
        columns = list(self._raw.values())
        asked = [*self._rows_and_halves(together), *(fact for column in columns for fact in column.facts)]
        with reworded_spark_errors("read"):
            if not self._asked:
                check_workers(self._session, self._folders)
            (found,) = self._frame.agg(*(each.alias(f"a{at}") for at, each in enumerate(asked))).collect()
        rows, *halves = found[:3]
        check_has_rows(rows)
        zones = {column.name: UTC for column in columns if column.kind == ZONED}
        profiles, cells = build_profiles(columns, found[3:], rows, zones)
        self._canonical = {each.name: cell.alias(each.inner) for each, cell in zip(columns, cells, strict=True)}
        self._records = self._frame.select(*self._canonical.values())
        self._counted, self._digested = None, (list(together), tuple(halves))
        combinations = rows if self._asked else self.estimate(together)  # what was written is counted at once
        self._profile = TableProfile(rows, profiles, combinations, "spark-{}-{}".format(*halves))
        return self._profile

    def recompute_digest(self) -> tuple[int, str]:
        """Count the rows, and digest the columns that were profiled, once more, to see whether the table changed."""
        assert self._digested is not None  # noqa: S101 - nothing is asked before the profile
        asked = self._rows_and_halves(self._digested[0])
        with reworded_spark_errors("read"):
            ((rows, *halves),) = self._frame.agg(*(each.alias(f"a{at}") for at, each in enumerate(asked))).collect()
        return rows, "spark-{}-{}".format(*halves)

    def _rows_and_halves(self, together: Sequence[str]) -> list[Any]:
        """Ask for the number of rows, and for both halves of the digest of the columns that are profiled."""
        return [self._functions.count(self._functions.lit(1)), *self._halves(self._row_hash(together))]

    def _row_hash(self, together: Sequence[str]) -> Any:
        """Hash all columns that are profiled as they are, those together first."""
        first = self._hashed([self._raw[name].raw for name in together])
        return self._hashed([first, *(column.raw for name, column in self._raw.items() if name not in together)])

    def estimate(self, names: Sequence[str]) -> int:
        """Estimate how many combinations of some columns there are, by the least hash in each of many buckets.

        As a share of the largest possible, the least of `n` hashes is about exponentially distributed with rate `n`.
        Spark's own estimate is about as good, but Spark does not compile it.
        """
        if self._counted is not None and self._counted[0] == list(names):
            return int(self._counted[1].num_rows)
        functions, hashed = self._functions, self._hashed(self._cells(names))
        bucket = hashed.bitwiseAND(functions.lit(BUCKETS - 1))
        least = functions.min(functions.shiftrightunsigned(hashed, BITS)).cast("double").alias("least")
        buckets = self._records.groupBy(bucket).agg(least).agg(functions.count("*"), functions.sum("least"))
        with reworded_spark_errors("read"):
            ((filled, total),) = buckets.collect()
        return int(BUCKETS * filled / (total / 2.0 ** (64 - BITS) + BUCKETS - filled) + 0.5)

    def count(self, names: Sequence[str], most: int, tell: ReportProgress, piece: TablePiece | None = None) -> pa.Table:
        """Count the combinations of some columns, or a piece of them, as `WEIGHT`; refuse more than `most`."""
        functions, records = self._functions, self._records
        if piece is not None:
            records = self._select_piece(piece)
        counted = records.groupBy(*self._cells(names)).agg(functions.count(functions.lit(1)).alias(WEIGHT))
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        tell(0.0)
        if piece is None and self._counted is not None and self._counted[0] == list(names):
            found = self._counted[1]
        else:
            with reworded_spark_errors("read"):
                found = (counted if self._profile.rows <= most else counted.limit(most + 1)).toArrow()
            found = self._renamed(found, [*names, WEIGHT])
        if found.num_rows > most:
            raise TooManyCombinationsError(most, len(names))
        tell(1.0)
        if piece is None:
            self._counted = list(names), found  # audits ask for the same again
        return found

    def count_in_small_groups(self, size: int, names: Sequence[str]) -> int:
        """Count the rows whose combination of some columns is rarer than a size."""
        functions = self._functions
        many = self._records.groupBy(*self._cells(names)).agg(functions.count(functions.lit(1)).alias(WEIGHT))
        with reworded_spark_errors("read"):
            ((rows,),) = many.where(functions.col(WEIGHT) < size).agg(functions.sum(WEIGHT)).collect()
        return rows or 0

    def with_mapping(self, look_ups: Mapping[str, ValueMapping]) -> SparkSource:
        """Return the table with looked-up values; rows with a value that is not in a look-up are left out."""
        functions, source, records = self._functions, copy(self), self._records
        for name, each in look_ups.items():
            (cell,) = self._cells([name])
            made = functions.broadcast(self._create_frame(pa.table({"value": each.values, "other": each.others})))
            joined = records.join(made, cell.eqNullSafe(functions.col("value")))
            records = joined.withColumn(self._raw[name].inner, functions.col("other")).drop("value", "other")
        source._records, source._counted = records, None  # noqa: SLF001 - of a copy, profiled as it was
        return source

    def _select_piece(self, piece: TablePiece) -> Any:
        """Return the rows of a piece, or those that have a cell of some column in common with it."""
        functions, inside = self._functions, self._records
        if piece.by:
            hashed = self._hashed(self._cells(piece.by))
            inside = inside.where(functions.pmod(hashed, functions.lit(piece.of)) == piece.number)
        if piece.through is None:
            return inside
        (through,) = self._cells([piece.through])
        met = inside.select(through.alias(MET)).distinct()
        return self._records.join(met, through == functions.col(MET), "left_semi")

    def batches(self, names: Sequence[str], tell: ReportProgress) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows, in any order, batch by batch."""
        for sent in self._stream(self._records.select(*self._cells(names)), tell):
            yield from self._renamed(sent, names).to_batches()

    @property
    def worker_rows(self) -> int:
        """How many rows a worker may hold at once."""
        return ROWS_PER_PART

    def persist(self, names: Sequence[str], code: Code) -> SparkWorkerRows:
        """Let workers code some columns of all rows; refuse a table that is not the one any more that was profiled."""
        assert self._digested is not None  # noqa: S101 - nothing is asked before the profile
        together, halves = self._digested
        cells = [self._canonical[name] for name in names]
        frame = self._frame.select(*cells, self._row_hash(together).alias("hashed"))
        return SparkWorkerRows(frame, EncodeTask(code, {name: self._type(name) for name in names}), halves)

    def map(self, items: Sequence[str], work: Callable[[str], bytes]) -> Iterator[bytes]:
        """Let workers work on some things one by one, and yield in their order what they return, which is small."""
        return map_in_workers(self._session, items, work)

    def unshared_folder_error(self, folder: Path) -> WriteError:
        """Say that workers do not write to a folder where this process looks."""
        return unshared_folder_error(folder)

    def write(self, rule: CombinationRecoding, folder: Path, tell: ReportProgress) -> WrittenParts:
        """Write the recoded table in its order as parts of a new folder: every worker writes its own."""
        folder.mkdir(parents=True, exist_ok=True)
        digits = [
            name if isinstance(name, str) else make_group_field(rule, at, "") for at, name in enumerate(rule.order)
        ]
        writing = PartWriter(
            folder=str(folder.resolve()),
            sent=tuple(digits),
            types={name: self._type(name) for name in rule.unchanged_columns},
            zones={name: UTC for name in rule.names if self._raw[name].kind == ZONED},
            names=rule.names,
            ordered=rule.parts(ROWS_PER_PART) is None,
        )
        tell(0.0)
        with reworded_spark_errors("write"):
            reports = sorted(map(tuple, run_in_workers(self._partition_rows(rule), writing, REPORT).collect()))
        tell(1.0)
        self._summed = rule, tuple(sum(each[at] for each in reports) for at in (-2, -1))
        return collect_parts(folder, reports)

    def _partition_rows(self, rule: CombinationRecoding) -> Any:
        """Return what rows are ordered by; the number of their part and their hash stand before it.

        How many rows every group has is known, so parts of about one size are dealt without looking at the rows first,
        and whoever writes a part orders it. Else Spark orders all rows.
        """
        functions = self._functions
        cells = [
            functions.col(self._raw[each].inner if isinstance(each, str) else f"{RANK}{at}").alias(f"o{at}")
            for at, each in enumerate(rule.order)
        ]
        keys = [functions.col(f"o{at}").asc_nulls_last() for at in range(len(cells))]
        parts = rule.parts(ROWS_PER_PART)
        also = {
            **rule.ranks(),
            LABELS: rule.expand_to_combinations(self._hashes(rule.published_groups.drop_columns([GROUP]))),
        }
        if parts is not None:
            also[PART] = parts
        joined = self._joined(rule, also)
        kept = joined.where(~functions.col(CASE).eqNullSafe(functions.lit(NOWHERE)))
        hashed = self._hashed([functions.col(LABELS), *self._cells(rule.unchanged_columns)]).alias("hashed")
        if parts is None:
            dealt = kept.select(hashed, *cells).orderBy(*keys)
            return dealt.select(functions.spark_partition_id().alias(PART), "*")
        part = functions.coalesce(functions.col(PART), functions.lit(0)).alias(PART)
        return kept.select(part, hashed, *cells).repartitionById(int(pc.max(parts).as_py()) + 1, PART)

    def _joined(self, rule: CombinationRecoding, also: dict[str, pa.Array]) -> Any:
        """Join rows with their cases, by one hash of the columns that decide them if no two cases share it."""
        functions, keys = self._functions, [f"k{at}" for at in range(len(rule.quasi))]
        sent = pa.table({CASE: rule.cases[GROUP], **also})
        if not keys:
            return self._records.crossJoin(functions.broadcast(self._create_frame(sent)))
        own, cases = self._cells(rule.quasi), rule.cases.select(rule.quasi).rename_columns(keys)
        found = self._hashes(cases)
        if len(np.unique(found)) == len(found):
            made = self._create_frame(sent.append_column(KEY, pa.array(found)))
            same = self._hashed(own) == functions.col(KEY)
        else:
            made = self._create_frame(pa.table([*sent.columns, *cases.columns], [*sent.column_names, *keys]))
            same = reduce(and_, (cell.eqNullSafe(functions.col(key)) for cell, key in zip(own, keys, strict=True)))
        return self._records.join(functions.broadcast(made) if sent.nbytes <= MAX_SENT else made, same, "left")

    def _hashes(self, table: pa.Table) -> npt.NDArray[np.int64]:
        """Hash the rows of a small table as Spark does, in their order."""
        numbered = table.rename_columns([f"k{at}" for at in range(table.num_columns)])
        numbered = numbered.append_column("at", pa.array(np.arange(table.num_rows)))
        hashed = self._hashed(list(map(self._functions.col, numbered.column_names[:-1]))).alias("hashed")
        with reworded_spark_errors("read"):
            found = self._create_frame(numbered).select("at", hashed).toArrow()
        hashes = np.empty(table.num_rows, dtype=np.int64)
        hashes[found["at"].to_numpy()] = found["hashed"].to_numpy()
        return hashes

    def _create_frame(self, table: pa.Table) -> Any:
        """Send a table to Spark."""
        kinds = ", ".join(f"{field.name} {get_spark_type(field.type)}" for field in table.schema)
        with reworded_spark_errors("read"):
            return self._session.createDataFrame(table, schema=kinds)

    def values(self, name: str) -> pa.Array:
        """Return the different values of a column in their order, without missing cells."""
        (cell,) = self._cells([name])
        with reworded_spark_errors("read"):
            found = self._distinct(cell).orderBy(cell).toArrow()
        return self._renamed(found, [name])[name].combine_chunks()

    def distinct(self, names: Sequence[str]) -> dict[str, int]:
        """Count how many values differ in each of some columns."""
        if not names:
            return {}
        with reworded_spark_errors("read"):  # one by one: together, Spark would copy every row once per column
            return {name: self._distinct(cell).count() for name, cell in zip(names, self._cells(names), strict=True)}

    def _distinct(self, cell: Any) -> Any:
        return self._records.select(cell).where(cell.isNotNull()).distinct()

    def digest(self, rule: CombinationRecoding) -> str:
        """Sum up hashes of the labels and kept columns of all rows that the rule published.

        Every row brought its hash along to whoever wrote it, so that the table need not be read again.
        """
        assert self._summed is not None  # noqa: S101 - what was written is compared
        assert self._summed[0] is rule  # noqa: S101 - with the rule by which it was written
        return "{}-{}".format(*self._summed[1])

    def digest_written(self, rule: CombinationRecoding) -> str:
        """Sum up the same hashes of rows as they were written."""
        assert self._digested is not None  # noqa: S101 - nothing is asked before the profile
        together, halves = self._digested
        if together != rule.shown.column_names:
            shown, kept = (
                [self._raw[name].raw for name in names] for names in (rule.shown.column_names, rule.unchanged_columns)
            )
            with reworded_spark_errors("read"):
                (halves,) = self._frame.agg(*self._halves(self._hashed([self._hashed(shown), *kept]))).collect()
        return "{}-{}".format(*halves)

    def written(self, folder: Path) -> SparkSource:
        """Return a table that was written, to be judged as it stands in its files."""
        made = SparkSource(
            read_written_parquet(self._session, sorted(folder.glob("*.parquet"))), temporary=self.temporary
        )
        made._asked = True  # its workers are the same
        return made

    def _type(self, name: str) -> pa.DataType:
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        return pa.int64() if name == WEIGHT else self._profile.column(name).type

    def _cells(self, names: Sequence[str]) -> list[Any]:
        return [self._functions.col(self._raw[name].inner) for name in names]

    def _renamed(self, found: pa.Table, names: Sequence[str]) -> pa.Table:
        """Return columns by the names that users know, and of their canonical types."""
        return found.rename_columns(list(names)).cast(pa.schema({name: self._type(name) for name in names}))

    def _hashed(self, cells: Sequence[Any]) -> Any:
        """Hash cells; Spark's own hash passes over missing ones."""
        functions = self._functions
        return functions.xxhash64(functions.lit(0), *(each for cell in cells for each in (cell, cell.isNull())))

    def _halves(self, hashed: Any) -> list[Any]:
        """Sum up both halves of a hash of every row: no order of rows changes them, hardly any other change keeps them.

        Each half lies around zero, so that no sum of rows below 2^32 is too large.
        """
        functions = self._functions
        halves = functions.shiftright(hashed, 32), hashed.bitwiseAND(functions.lit(HALF - 1)) - functions.lit(HALF // 2)
        return [functions.coalesce(functions.sum(each), functions.lit(0)) for each in halves]

    def _stream(self, frame: Any, tell: ReportProgress) -> Iterator[pa.Table]:
        """Fetch rows in their order, one partition after the other, each packed by a worker."""
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        rows = 0
        with reworded_spark_errors("read"):
            for row in run_in_workers(frame, pack_rows, "sent binary").toLocalIterator():
                table = unpack_rows(row[0])
                rows += table.num_rows
                yield table
                tell(min(rows / self._profile.rows, 1.0))
