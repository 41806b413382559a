"""Tables that Spark reads, counts and rewrites, on one machine or many; nothing else here knows Spark.

Only DataFrames, their expressions and Arrow functions are used, so Spark Connect serves as well. What runs in the
workers is shipped to them: they need pandas and PyArrow, as all Arrow functions of Spark do, but not this package.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.exceptions import ReadError, SchemaError
from sfumato.sources.base import (
    GROUP,
    NOWHERE,
    WEIGHT,
    ByCase,
    ColumnProfile,
    Piece,
    TableProfile,
    Told,
    TooManyCombinationsError,
    Written,
    refuse_same_but_case,
)
from sfumato.sources.canonical_spark import UTC, ZONED, SparkColumn, spark_functions, spark_type
from sfumato.sources.duckdb_source import INDEX, in_zone
from sfumato.sources.packing import group_digit
from sfumato.sources.parts import PartsWriter
from sfumato.table.columns import refuse_duplicates, undecorated
from sfumato.table.extras import optional_library

BATCH = 500_000  # rows of a row group
SHIPPED = 50_000  # rows that a worker sends at once, about
MOST_SENT = 100 * 2**20  # bytes of cases that every worker gets; more are joined by shuffling
CASE, RANK = "_case", "_rank"


class SparkSource:
    """A table that is a Spark DataFrame, of Spark itself or of Spark Connect.

    Parameters
    ----------
    frame : the DataFrame.
    temporary : the folder for what does not fit into the memory of this process.
    """

    def __init__(self, frame: Any, *, temporary: Path) -> None:
        self.temporary = temporary
        self._errors = optional_library("pyspark.errors", extra="spark", error=ReadError)
        self._functions = spark_functions()
        self._session = frame.sparkSession
        self.spilled = 0  # Spark Connect does not tell
        with self._told("read"):
            names, kinds = list(frame.columns), [field.dataType.simpleString() for field in frame.schema.fields]
        refuse_duplicates(names)
        refuse_same_but_case(names)
        self._frame = frame.toDF(*(f"c{at}" for at in range(len(names))))
        self._kinds = {
            name: (f"c{at}", kind)
            for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
            if not INDEX.fullmatch(name)
        }
        self._raw: dict[str, SparkColumn] = {}
        self._records: Any = None
        self._profile: TableProfile | None = None

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
        self._records = None

    def profile(self, names: Sequence[str], together: Sequence[str]) -> TableProfile:
        """Describe some columns in one scan; all later questions are about these."""
        functions = self._functions
        self._raw = {name: SparkColumn(name, *self._kinds[name]) for name in names}
        columns = list(self._raw.values())
        asked = [functions.count(functions.lit(1)), self._estimated([self._raw[name].raw for name in together])]
        asked += self._digests([column.raw for column in columns])
        for column in columns:
            asked += [*column.facts, functions.approx_count_distinct(column.raw)]
        with self._told("read"):
            self._refuse_other_python()
            (found,) = self._frame.agg(*(each.alias(f"a{at}") for at, each in enumerate(asked))).collect()
        rows, combinations, *digests = found[:4]
        if not rows:
            raise SchemaError("The table has no rows; there is nothing to publish.")
        profiles, cells = [], []
        for at, column in enumerate(columns):
            filled, plain, odd, distinct = found[4 + 4 * at : 8 + 4 * at]
            cell, kind = column.canonical(filled=bool(filled), plain=plain, odd=odd)
            zone = UTC if column.kind == ZONED and pa.types.is_timestamp(kind) else ""
            stars = odd if column.is_text else 0
            profiles.append(ColumnProfile(column.name, kind, rows - filled, distinct, zone, stars))
            cells.append(cell.alias(column.inner))
        self._records = self._frame.select(*cells)
        self._profile = TableProfile(rows, tuple(profiles), combinations, "spark-" + "-".join(map(str, digests)))
        return self._profile

    def digest_again(self) -> tuple[int, str]:
        """Count the rows, and digest the columns that were profiled, once more, to see whether the table changed."""
        asked = [self._functions.count(self._functions.lit(1))]
        asked += self._digests([column.raw for column in self._raw.values()])
        with self._told("read"):
            ((rows, *digests),) = self._frame.agg(*(each.alias(f"a{at}") for at, each in enumerate(asked))).collect()
        return rows, "spark-" + "-".join(map(str, digests))

    def estimate(self, names: Sequence[str]) -> int:
        """Estimate how many combinations of some columns there are."""
        with self._told("read"):
            ((found,),) = self._records.agg(self._estimated(self._cells(names))).collect()
        return int(found)

    def count(self, names: Sequence[str], most: int, tell: Told, piece: Piece | None = None) -> pa.Table:
        """Count the combinations of some columns, or a piece of them, as `WEIGHT`; refuse more than `most`."""
        functions, records = self._functions, self._records
        if piece is not None:
            hashed = self._hashed(self._cells(piece.by))
            records = records.where(functions.pmod(hashed, functions.lit(piece.of)) == piece.number)
        counted = records.groupBy(*self._cells(names)).agg(functions.count(functions.lit(1)).alias(WEIGHT))
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        tell(0.0)
        with self._told("read"):
            found = (counted if self._profile.rows <= most else counted.limit(most + 1)).toArrow()
        if found.num_rows > most:
            raise TooManyCombinationsError(
                f"The table has more than {most:,} combinations of {len(names)} columns, more than fit into memory."
            )
        tell(1.0)
        return self._renamed(found, [*names, WEIGHT])

    def batches(self, names: Sequence[str], tell: Told) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows, in any order, batch by batch."""
        for sent in self._stream(self._records.select(*self._cells(names)), tell):
            yield from self._renamed(sent, names).to_batches()

    def write(self, rule: ByCase, folder: Path, tell: Told) -> Written:
        """Write the recoded table in its order as parts of a new folder."""
        digits = {at: group_digit(rule, at, "") for at, ranks in enumerate(rule.order) if not isinstance(ranks, str)}
        zones = {name: UTC for name in rule.names if self._raw[name].kind == ZONED}
        with PartsWriter(folder) as writer:
            for table in _regrouped(self._stream(self._ordered(rule), tell), BATCH):
                columns: dict[str, pa.Array] = {}
                for at, name in enumerate(rule.order):
                    cells = table.column(at).combine_chunks()
                    if isinstance(name, str):
                        columns[name] = cells.cast(self._type(name))
                    elif cells.null_count:
                        raise ReadError("The table changed while it was read; make the release again.")
                    else:
                        columns |= digits[at].read(cells.to_numpy())
                writer.write(pa.table({name: in_zone(columns[name], zones.get(name)) for name in rule.names}))
        return Written(folder, writer.rows, tuple(writer.parts))

    def _ordered(self, rule: ByCase) -> Any:
        """Return what all published rows are ordered by, in their order: ranks of groups, and other cells."""
        functions = self._functions
        ranks = {
            f"{RANK}{at}": pa.array(each).take(_published(rule.cases[GROUP]))
            for at, each in enumerate(rule.order)
            if not isinstance(each, str)
        }
        cells = [
            functions.col(self._raw[each].inner if isinstance(each, str) else f"{RANK}{at}").alias(f"o{at}")
            for at, each in enumerate(rule.order)
        ]
        joined = self._joined(self._records, rule.quasi, rule.cases, ranks, how="left")
        kept = joined.where(~functions.col(CASE).eqNullSafe(functions.lit(NOWHERE))).select(*cells)
        return kept.orderBy(*(functions.col(f"o{at}").asc_nulls_last() for at in range(len(cells))))

    def _joined(
        self, records: Any, names: Sequence[str], cases: pa.Table, also: dict[str, pa.Array], *, how: str
    ) -> Any:
        """Join rows with cases that agree on some columns; missing cells agree with each other."""
        functions = self._functions
        inner = {name: f"k{at}" for at, name in enumerate(names)}
        table = pa.table({**{inner[name]: cases[name] for name in names}, CASE: cases[GROUP], **also})
        kinds = ", ".join(f"{field.name} {spark_type(field.type)}" for field in table.schema)
        with self._told("read"):
            made = self._session.createDataFrame(table, schema=kinds)
        if table.nbytes <= MOST_SENT:
            made = functions.broadcast(made)
        if not names:
            return records.crossJoin(made)
        same = functions.expr("true")
        for name, key in inner.items():
            same &= functions.col(self._raw[name].inner).eqNullSafe(functions.col(key))
        return records.join(made, same, how)

    def values(self, name: str) -> pa.Array:
        """Return the different values of a column in their order, without missing cells."""
        (cell,) = self._cells([name])
        with self._told("read"):
            found = self._records.select(cell).where(cell.isNotNull()).distinct().orderBy(cell).toArrow()
        return self._renamed(found, [name])[name].combine_chunks()

    def distinct(self, names: Sequence[str]) -> dict[str, int]:
        """Count how many values differ in each of some columns."""
        if not names:
            return {}
        with self._told("read"):
            (found,) = self._records.agg(*map(self._functions.count_distinct, self._cells(names))).collect()
        return dict(zip(names, found, strict=True))

    def digest(self, rule: ByCase) -> str:
        """Sum up hashes of the groups and kept columns of all rows that the rule publishes."""
        joined = self._joined(self._records, rule.quasi, rule.cases, {}, how="inner")
        return self._digest(joined.where(self._functions.col(CASE) != NOWHERE), rule)

    def digest_written(self, rule: ByCase) -> str:
        """Sum up the same hashes of rows as they were written, whose groups are known by their cells."""
        shown = undecorated(rule.shown).append_column(GROUP, pa.array(range(rule.shown.num_rows), pa.int32()))
        cells = [self._raw[name].raw.alias(self._raw[name].inner) for name in rule.names]
        joined = self._joined(self._frame.select(*cells), rule.shown.column_names, shown, {}, how="inner")
        return self._digest(joined, rule)

    def _digest(self, joined: Any, rule: ByCase) -> str:
        case = self._functions.col(CASE).cast("int")
        with self._told("read"):
            (found,) = joined.agg(*self._digests([case, *self._cells(rule.kept)])).collect()
        return "-".join(map(str, found))

    def written(self, folder: Path) -> SparkSource:
        """Return a table that was written, to be judged as it stands in its files."""
        paths = sorted(folder.glob("*.parquet"))
        fields = pq.read_schema(paths[0])
        kinds = ", ".join(f"`{field.name.replace('`', '``')}` {spark_type(field.type)}" for field in fields)
        reader = self._session.read.schema(kinds).option("datetimeRebaseMode", "CORRECTED")
        with self._told("read"):
            return SparkSource(reader.parquet(*(path.resolve().as_uri() for path in paths)), temporary=self.temporary)

    def _type(self, name: str) -> pa.DataType:
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        return pa.int64() if name == WEIGHT else self._profile.column(name).type

    def _cells(self, names: Sequence[str]) -> list[Any]:
        return [self._functions.col(self._raw[name].inner) for name in names]

    def _renamed(self, found: pa.Table, names: Sequence[str]) -> pa.Table:
        """Return columns by the names that users know, and of their canonical types."""
        return found.rename_columns(list(names)).cast(pa.schema({name: self._type(name) for name in names}))

    def _hashed(self, cells: Sequence[Any], salt: int = 0) -> Any:
        """Hash cells; Spark's own hash passes over missing ones."""
        functions = self._functions
        return functions.xxhash64(functions.lit(salt), *(each for cell in cells for each in (cell, cell.isNull())))

    def _estimated(self, cells: Sequence[Any]) -> Any:
        return self._functions.approx_count_distinct(self._hashed(cells))

    def _digests(self, cells: Sequence[Any]) -> list[Any]:
        """Sum up two hashes of every row: no order of rows changes them, and hardly any other change keeps both."""
        functions = self._functions
        sums = [functions.sum(self._hashed(cells, salt).cast("decimal(20,0)")) for salt in (1, 2)]
        return [functions.coalesce(each, functions.lit(0)) for each in sums]

    def _stream(self, frame: Any, tell: Told) -> Iterator[pa.Table]:
        """Fetch rows in their order, one partition after the other, each packed by a worker."""
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        rows = 0
        with self._told("read"):
            for row in _sent(frame).toLocalIterator():
                table = pa.ipc.open_stream(bytes(row[0])).read_all()
                rows += table.num_rows
                yield table
                tell(min(rows / self._profile.rows, 1.0))

    def _refuse_other_python(self) -> None:
        """Start a worker before any scan: Spark refuses one whose version of Python differs."""
        _sent(self._session.range(1, numPartitions=1)).collect()

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Reword what Spark says: it may quote cells."""
        try:
            yield
        except self._errors.PySparkException as error:
            raise _reworded(error, doing) from None


def _reworded(error: Any, doing: str) -> ReadError:
    """Say in one sentence what Spark could not do, by the name of its error alone."""
    told = str(error)
    if "PYTHON_VERSION_MISMATCH" in told:
        return ReadError(
            "The workers of Spark run another version of Python than this session; set PYSPARK_PYTHON to the same."
        )
    if "No module named 'p" in told or "PACKAGE_NOT_INSTALLED" in told:
        return ReadError("Spark needs pandas and PyArrow, here and in its workers; install them there.")
    if "FileNotFoundException" in told or "PATH_NOT_FOUND" in told:
        return ReadError(
            "Spark does not find files that it needs; check the table, and give out= a folder that all workers see."
        )
    kind = (getattr(error, "getCondition", lambda: None)() or type(error).__name__).split(".")[0]
    return ReadError(f"Spark cannot {doing} the table ({kind}); check the table and the log of Spark.")


def _sent(frame: Any) -> Any:
    """Let workers pack many rows into one cell each; Spark warns of its pandas, which no row passes through."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(_packing(SHIPPED), "sent binary")


def _packing(most: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for workers that packs many rows into one cell; it travels by value."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        def packed(held: list[pa.RecordBatch]) -> pa.RecordBatch:
            sink = pa.BufferOutputStream()
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_stream(sink, held[0].schema, options=options) as stream:
                for each in held:
                    stream.write_batch(each)
            cell = pa.array([sink.getvalue().to_pybytes()], pa.binary())
            return pa.RecordBatch.from_arrays([cell], ["sent"])

        held: list[pa.RecordBatch] = []
        rows = 0
        for batch in batches:
            held.append(batch)
            rows += batch.num_rows
            if rows >= most:
                yield packed(held)
                held, rows = [], 0
        if held:
            yield packed(held)

    return pack


def _regrouped(tables: Iterator[pa.Table], most: int) -> Iterator[pa.Table]:
    """Yield the same rows in tables of one size, so that files do not tell how Spark dealt them."""
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += table.num_rows
        while rows >= most:
            whole = pa.concat_tables(held)
            yield whole.slice(0, most)
            held, rows = [whole.slice(most)], rows - most
    if rows:
        yield pa.concat_tables(held)


def _published(group: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.equal(group, NOWHERE), None, group)
