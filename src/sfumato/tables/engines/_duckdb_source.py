"""Tables that DuckDB reads, counts and rewrites; nothing else here knows DuckDB."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._optional import import_optional
from sfumato._threads import count_workers
from sfumato.errors import ReadError, WriteError
from sfumato.io._columns import check_unique_names
from sfumato.io._parquet_parts import PartsWriter
from sfumato.io._sql import quote_identifier
from sfumato.tables.engines._duckdb_sql import (
    FLOATS,
    DuckDBColumn,
    estimate_distinct,
    hash_rows,
    join_condition,
    join_names,
    select_parquet,
    sum_hashes,
)
from sfumato.tables.engines._packing import (
    LARGEST,
    PackedField,
    PackedKey,
    make_group_field,
    make_value_field,
    pack_fields,
)
from sfumato.tables.engines._source import (
    FACTS,
    GROUP,
    INDEX,
    NOWHERE,
    RANK,
    WEIGHT,
    CombinationRecoding,
    ReportProgress,
    TablePiece,
    TableProfile,
    TooManyCombinationsError,
    ValueMapping,
    ValueSample,
    WrittenParts,
    build_profiles,
    check_case_insensitive_names,
    check_has_rows,
    restore_time_zone,
)

# Rows as few whole numbers that DuckDB sorts: ranks of their groups and of the values that they keep.

CASES = "sfumato_cases"
RANKED = "sfumato_ranked_"  # begins the names of tables that rank the values of a kept column
CODED = "sfumato_coded_"  # begins the names of tables that code the values of a column that decides groups
NUMBER = "number"  # begins the names of columns of cases that hold their codes


@dataclass(frozen=True, eq=False)
class RowOrder:
    """All rows that a rule publishes, as DuckDB orders them.

    Parameters
    ----------
    connection : to DuckDB.
    records : the view of all rows.
    rule : how rows are published.
    is_ranked : says of a kept column whether its values are so few that they are ranked.
    """

    connection: Any
    records: str
    rule: CombinationRecoding
    is_ranked: Callable[[str], bool]

    def prepared(self) -> tuple[list[PackedKey | str], str]:
        """Rank all values; return the keys of a row, and the query for the keys of all rows in their order."""
        keys, case_joins = pack_fields(self._fields()), self._encoded_combinations()
        wanted = [f"r.{quote_identifier(key)}" if isinstance(key, str) else key.sql for key in keys]
        order = ", ".join(f"{at} NULLS LAST" for at in range(1, len(keys) + 1))
        return keys, (
            f"SELECT {', '.join(wanted)} FROM {self.records} r{case_joins}{self._joins()} "  # noqa: S608 - names are quoted
            f"WHERE c.{GROUP} IS DISTINCT FROM {NOWHERE} ORDER BY {order}"
        )

    def _fields(self) -> list[PackedField | str]:
        """Say what rows are ordered by, and rank the values of kept columns where there are few."""
        digits: list[PackedField | str] = []
        for at, ranks in enumerate(self.rule.order):
            if not isinstance(ranks, str):
                digits.append(make_group_field(self.rule, at, f"c.{RANK}{at}"))
            elif self.is_ranked(ranks):
                known = f"{quote_identifier(RANKED + ranks)}.rank"
                digits.append(make_value_field(ranks, self._ranked(ranks), f"r.{quote_identifier(ranks)}", known))
            else:
                digits.append(ranks)
        return digits

    def _ranked(self, name: str) -> pa.Array:
        """Rank the values of a column in a table of its own, and return them in their order."""
        ranked = quote_identifier(RANKED + name)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {ranked} AS "  # noqa: S608 - names are quoted
            f"SELECT value, CAST(row_number() OVER (ORDER BY value) - 1 AS INTEGER) AS rank "
            f"FROM (SELECT DISTINCT {quote_identifier(name)} AS value FROM {self.records}) WHERE value IS NOT NULL"
        )
        values = self.connection.sql(f"SELECT value FROM {ranked} ORDER BY rank").to_arrow_table()  # noqa: S608
        return values["value"].combine_chunks()

    def _joins(self) -> str:
        names = [name for name in self.rule.order if isinstance(name, str) and self.is_ranked(name)]
        tables = [(name, quote_identifier(RANKED + name)) for name in names]
        return "".join(f" LEFT JOIN {table} ON r.{quote_identifier(name)} = {table}.value" for name, table in tables)

    def _encoded_combinations(self) -> str:
        """Code the values that decide groups column by column, and join cases by few numbers that hold the codes.

        Looking up single values is cheap where a column has few of them; comparing whole combinations is not.
        """
        joins, numbers = [], []
        cells: dict[str, npt.NDArray[np.int64]] = {}
        span = LARGEST + 1
        for name in self.rule.quasi:
            coded = self.rule.cases[name].combine_chunks().dictionary_encode(null_encoding="encode")
            width, codes = len(coded.dictionary), coded.indices.to_numpy().astype(np.int64)
            table = quote_identifier(CODED + name)
            self._store(table, pa.table({"value": coded.dictionary, "code": pa.array(range(width), pa.int32())}))
            joins.append(f" LEFT JOIN {table} ON r.{quote_identifier(name)} IS NOT DISTINCT FROM {table}.value")
            if span * width > LARGEST:
                numbers.append(f"CAST({table}.code AS BIGINT)")
                cells[f"{NUMBER}{len(cells)}"], span = codes, width
            else:
                numbers[-1] = f"({numbers[-1]} * {width} + {table}.code)"
                cells[f"{NUMBER}{len(cells) - 1}"] = cells[f"{NUMBER}{len(cells) - 1}"] * width + codes
                span *= width
        self._store(CASES, pa.table({**cells, GROUP: self.rule.cases[GROUP], **self.rule.ranks()}))
        same = " AND ".join(f"c.{column} = {number}" for column, number in zip(cells, numbers, strict=True))
        return f"{''.join(joins)} LEFT JOIN {CASES} c ON {same or 'true'}"

    def _store(self, name: str, table: pa.Table) -> None:
        """Give DuckDB a table of its own."""
        self.connection.register("sfumato_given", table)
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM sfumato_given")  # noqa: S608 - quoted
        self.connection.unregister("sfumato_given")


RECORDS = "sfumato_records"  # the view of canonical values
MAPPED = "sfumato_looked_up"  # the view of looked-up values, and the beginning of the names of look-ups
LOOK_UP = "sfumato_look_up"
SUMS = "sfumato_sums"
RECODED = "sfumato_ruled"
HASHED = "_hashed"  # the column of hashes of what rows keep
MAX_RANKED = 200_000
BATCH = 500_000
POLL = 0.2  # seconds between two looks at a running query


class DuckDBSource:
    """A table that a query of DuckDB returns, each time it is asked.

    Parameters
    ----------
    query : what DuckDB selects from, such as `read_parquet([...])`.
    memory : how many bytes DuckDB may take.
    temporary : the folder for what does not fit.
    zones : the time zones of columns of moments.
    tables : Arrow datasets by the names that the query uses.
    """

    def __init__(
        self,
        query: str,
        *,
        memory: int,
        temporary: Path,
        zones: dict[str, str] | None = None,
        tables: dict[str, Any] | None = None,
    ) -> None:
        self._duckdb = import_optional("duckdb", extra="duckdb", error=ReadError)
        self._settings = {
            "memory_limit": f"{memory // 10**6}MB",
            "temp_directory": str(temporary),
            "threads": count_workers(),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "preserve_insertion_order": False,
        }
        self._memory, self.temporary, self._zones = memory, temporary, zones or {}
        self._connection = self._duckdb.connect(config=self._settings)
        for name, table in (tables or {}).items():
            check_case_insensitive_names(table.schema.names)
            self._connection.register(name, table)
        self._query, self._records = query, RECORDS
        self._profile: TableProfile | None = None
        self._together: frozenset[str] = frozenset()
        self._distinct: dict[str, int] = {}
        self._cells: dict[str, str] = {}
        self._kept: tuple[str, ...] = ()
        self._counted: pa.Table | None = None
        self._is_written = False
        self.spilled = 0
        with self._reworded_errors("read"):
            relation = self._connection.sql(f"SELECT * FROM {query}")  # noqa: S608 - made by us from quoted names
        check_unique_names(relation.columns)
        self._raw = {
            name: DuckDBColumn(name, quote_identifier(name), str(kind))
            for name, kind in zip(relation.columns, relation.types, strict=True)
            if not INDEX.fullmatch(name)
        }
        if any(column.kind in FLOATS for column in self._raw.values()):
            # statistics of Parquet files do not tell of NaN, and DuckDB would conclude that there is none
            self._connection.execute("SET disabled_optimizers = 'statistics_propagation'")

    @property
    def engine(self) -> str:
        """The name of the engine and its version."""
        return f"duckdb {self._duckdb.__version__}"

    @property
    def names(self) -> list[str]:
        """The names of all columns, in their order."""
        return list(self._raw)

    def close(self) -> None:
        """Let go of the table, and of all that DuckDB keeps of it."""
        self._connection.close()

    def profile(self, names: Sequence[str], together: Sequence[str], kept: Sequence[str] = ()) -> TableProfile:
        """Describe some columns in one scan; all later questions are about these, and hashes about `kept` ones."""
        columns, apart = [self._raw[name] for name in names], [name for name in names if name not in together]
        asked = ["count(*)", *(fact for column in columns for fact in column.facts)]
        if not self._is_written:
            asked += [
                estimate_distinct([quote_identifier(name) for name in together]),
                hash_rows([each.sql for each in columns]),
            ]
            asked += [f"approx_count_distinct({quote_identifier(name)})" for name in apart]
        with self._reworded_errors("read"):
            (found,) = self._connection.execute(f"SELECT {', '.join(asked)} FROM {self._query}").fetchall()  # noqa: S608
        rows, facts, others = found[0], found[1 : 1 + FACTS * len(columns)], found[1 + FACTS * len(columns) :]
        check_has_rows(rows)
        profiles, cells = build_profiles(columns, facts, rows, self._zones)
        self._cells = dict(zip(names, cells, strict=True))
        self._view(kept)
        combinations, digest, *distinct = others or (rows, "")  # what was written is counted at once, and never changes
        self._distinct = {} if self._is_written else dict(zip(apart, distinct, strict=True))
        self._together = frozenset(together)
        self._profile = TableProfile(rows, profiles, combinations, f"duckdb-{digest}")
        return self._profile

    def _view(self, kept: Sequence[str]) -> None:
        """Show canonical cells, and a hash of what every row keeps: of a written row, as it stands in its file."""
        casts = [f"{cell} AS {quote_identifier(name)}" for name, cell in self._cells.items()]
        hashed = ", ".join(self._raw[name].plain if self._is_written else self._cells[name] for name in kept) or "0"
        casts.append(f"CAST(hash({hashed}) >> 1 AS BIGINT) AS {HASHED}")
        shown = f"SELECT {', '.join(casts)} FROM {self._query}"  # noqa: S608 - names are quoted
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {RECORDS} AS {shown}")
        self._kept, self._counted = tuple(kept), None

    def recompute_digest(self) -> tuple[int, str]:
        """Count the rows, and digest the columns that were profiled, once more, to see whether the table changed."""
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        hashed = hash_rows([quote_identifier(column.name) for column in self._profile.columns])
        with self._reworded_errors("read"):
            ((rows, digest),) = self._connection.execute(f"SELECT count(*), {hashed} FROM {self._query}").fetchall()  # noqa: S608
        return rows, f"duckdb-{digest}"

    def estimate(self, names: Sequence[str]) -> int:
        """Estimate how many combinations of some columns there are."""
        known = self._known_counts(names)
        if known is not None:
            return int(known.num_rows)
        if self._profile is not None and self._together == frozenset(names) and not self._is_written:
            return self._profile.combinations
        if len(names) == 1 and names[0] in self._distinct:
            return self._distinct[names[0]]
        estimate = estimate_distinct([quote_identifier(name) for name in names])
        return int(self._fetch_text(f"SELECT {estimate} FROM {self._records}"))  # noqa: S608 - quoted names

    def count(self, names: Sequence[str], most: int, tell: ReportProgress, piece: TablePiece | None = None) -> pa.Table:
        """Count the combinations of some columns, or a piece of them, as `WEIGHT`; refuse more than `most`."""
        known = self._known_counts(names) if piece is None else None
        if known is None:
            known = self._count(names, most, tell, piece)
        if known.num_rows > most:
            raise TooManyCombinationsError(most, len(names))
        return known.select([*names, WEIGHT])

    def _known_counts(self, names: Sequence[str]) -> pa.Table | None:
        """Return what was counted last, if that is asked for again."""
        last = self._counted
        return last if last is not None and set(names) == set(last.column_names) - {WEIGHT, HASHED} else None

    def _count(self, names: Sequence[str], most: int, tell: ReportProgress, piece: TablePiece | None) -> pa.Table:
        """Count combinations; where all are counted whose hashes are asked for later, sum these up, too."""
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        listed = [quote_identifier(name) for name in names]
        where = "" if piece is None else f" WHERE {self._piece_condition(piece)}"
        by = f" GROUP BY {', '.join(listed)}" if names else ""
        schema = pa.schema({**{name: self._profile.column(name).type for name in names}, WEIGHT: pa.int64()})
        counted = [*listed, f"count(*) AS {WEIGHT}"]
        whole = piece is None and bool(self._together) and self._together <= set(names)
        if whole and self._kept:
            counted.append(f"{sum_hashes(HASHED)} AS {HASHED}")
            schema = schema.append(pa.field(HASHED, pa.int64()))
        batches: list[pa.RecordBatch] = []
        rows = 0
        query = f"SELECT {', '.join(counted)} FROM {self._records}{where}{by}"  # noqa: S608 - names are quoted
        for batch in self._stream(query, tell):
            rows += batch.num_rows
            if rows > most:
                raise TooManyCombinationsError(most, len(names))
            batches.append(batch)
        found = pa.Table.from_batches(batches, schema)
        self._counted = found if whole else self._counted
        return found

    def _piece_condition(self, piece: TablePiece) -> str:
        """Write the condition that rows of a piece meet."""
        inside = f"hash({join_names(piece.by)}) % {piece.of} = {piece.number}" if piece.by else "true"
        if piece.through is None:
            return inside
        through = quote_identifier(piece.through)
        return f"{through} IN (SELECT {through} FROM {self._records} WHERE {inside})"  # noqa: S608 - quoted

    def count_in_small_groups(self, size: int, names: Sequence[str]) -> int:
        """Count the rows whose combination of some columns is rarer than a size."""
        by = f" GROUP BY {join_names(names)}" if names else ""
        rare = f"SELECT count(*) AS n FROM {self._records}{by} HAVING count(*) < {size}"  # noqa: S608 - names are quoted
        return int(self._fetch_text(f"SELECT coalesce(sum(n), 0) FROM ({rare})"))  # noqa: S608 - names are quoted

    def with_mapping(self, look_ups: Mapping[str, ValueMapping]) -> DuckDBSource:
        """Return the table with looked-up values; rows with a value that is not in a look-up are left out."""
        source, joins, shown = copy(self), [], []
        source._records, source._together, source._counted = MAPPED, frozenset(), None  # noqa: SLF001 - of a copy
        for at, (name, each) in enumerate(look_ups.items()):
            table = quote_identifier(f"{MAPPED}_{at}")
            self._connection.register(LOOK_UP, pa.table({"value": each.values, "other": each.others}))
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM {LOOK_UP}")  # noqa: S608
            joins.append(f" JOIN {table} ON {table}.value IS NOT DISTINCT FROM r.{quote_identifier(name)}")
            shown.append(f"{table}.other AS {quote_identifier(name)}")
        replaced = f" REPLACE ({', '.join(shown)})" if shown else ""
        self._connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {MAPPED} AS SELECT r.*{replaced} FROM {RECORDS} r{''.join(joins)}"  # noqa: S608
        )
        return source

    def batches(self, names: Sequence[str], tell: ReportProgress) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows, in any order, batch by batch."""
        listed = ", ".join(quote_identifier(name) for name in names)
        yield from self._stream(f"SELECT {listed} FROM {self._records}", tell)  # noqa: S608 - names are quoted

    def write(self, rule: CombinationRecoding, folder: Path, tell: ReportProgress) -> WrittenParts:
        """Write the recoded table in its order as parts of a new folder."""
        keys, query = RowOrder(self._connection, self._records, rule, self._is_ranked).prepared()
        with PartsWriter(folder) as writer:
            for batch in self._stream(query, tell):
                columns: dict[str, pa.Array] = {}
                for at, key in enumerate(keys):
                    cells = batch.column(at)
                    if isinstance(key, str):
                        columns[key] = cells
                    elif cells.null_count:
                        raise ReadError("The table changed while it was read; make the release again.")
                    else:
                        columns |= key.read(cells.to_numpy())
                writer.write(
                    pa.table({name: restore_time_zone(columns[name], self._zones.get(name)) for name in rule.names})
                )
        return WrittenParts(folder, writer.rows, tuple(writer.parts))

    def _is_ranked(self, name: str) -> bool:
        """Return whether a column has values so few that sorting their ranks saves more than ranking them costs."""
        assert self._profile is not None  # noqa: S101 - nothing is asked before the profile
        return self.estimate([name]) <= min(MAX_RANKED, self._profile.rows // 2)

    def values(self, name: str) -> pa.Array:
        """Return the different values of a column in their order, without missing cells."""
        column = quote_identifier(name)
        with self._reworded_errors("read"):
            found = self._connection.sql(
                f"SELECT DISTINCT {column} FROM {self._records} WHERE {column} IS NOT NULL ORDER BY ALL"  # noqa: S608 - quoted
            ).to_arrow_table()
        return found[name].combine_chunks()

    def sample_values(self, name: str, most: int) -> ValueSample:
        """Count the values of a column that is too long to hold, and return some of them in their order."""
        column = quote_identifier(name)
        many, pairs = self._fetch_row(
            f"SELECT count(*), coalesce(sum(n * (n - 1)), 0) "  # noqa: S608 - quoted
            f"FROM (SELECT count(*) AS n FROM {RECORDS} WHERE {column} IS NOT NULL GROUP BY {column})"
        )
        every = max(1, -(-int(many) // most))
        with self._reworded_errors("read"):
            some = self._connection.sql(
                f"SELECT DISTINCT {column} FROM {RECORDS} "  # noqa: S608 - quoted
                f"WHERE {column} IS NOT NULL AND hash({column}) % {every} = 0 ORDER BY ALL"
            ).to_arrow_table()
        return ValueSample(some[name].combine_chunks(), int(many), int(pairs))

    def distinct(self, names: Sequence[str]) -> dict[str, int]:
        """Count how many values differ in each of some columns."""
        if not names:
            return {}
        counted = ", ".join(f"count(DISTINCT {quote_identifier(name)})" for name in names)
        with self._reworded_errors("read"):
            (found,) = self._connection.execute(f"SELECT {counted} FROM {self._records}").fetchall()  # noqa: S608 - quoted
        return dict(zip(names, found, strict=True))

    def digest(self, rule: CombinationRecoding) -> str:
        """Sum up hashes of the kept columns of all rows that the rule publishes, group by group."""
        return self._digest(rule.cases.filter(pc.not_equal(rule.cases[GROUP], NOWHERE)), rule.unchanged_columns)

    def digest_written(self, rule: CombinationRecoding) -> str:
        """Sum up the same hashes of rows as they were written, whose groups are known by their cells."""
        return self._digest(rule.published_groups, rule.unchanged_columns)

    def _digest(self, cases: pa.Table, kept: Sequence[str]) -> str:
        if self._kept != tuple(kept):
            self._view(kept)
        names, last = [name for name in cases.column_names if name != GROUP], self._counted
        known = (
            {} if last is None or HASHED not in last.column_names else {each.name: each.type for each in last.schema}
        )
        if known and all(known.get(name) == cases.schema.field(name).type for name in names):
            self._connection.register(SUMS, last)
            sums = f"SELECT * FROM {SUMS}"  # noqa: S608 - our own name
        else:
            listed = "".join(f"{quote_identifier(name)}, " for name in names)
            sums = f"SELECT {listed}{sum_hashes(HASHED)} AS {HASHED} FROM {self._records} GROUP BY ALL"  # noqa: S608 - quoted
        self._connection.register(RECODED, cases)
        by_group = (
            f"SELECT c.{GROUP} AS g, {sum_hashes(f'r.{HASHED}')} AS h FROM ({sums}) r "  # noqa: S608 - names are quoted
            f"JOIN {RECODED} c ON {join_condition(names)} GROUP BY g"
        )
        return self._fetch_text(f"SELECT {hash_rows(['g', 'h'])} FROM ({by_group})")  # noqa: S608 - names are quoted

    def _fetch_text(self, query: str) -> str:
        (found,) = self._fetch_row(query)
        return str(found)

    def _fetch_row(self, query: str) -> tuple[Any, ...]:
        with self._reworded_errors("read"):
            (found,) = self._connection.execute(query).fetchall()
        return tuple(found)

    def written(self, folder: Path) -> DuckDBSource:
        """Return a table that was written, to be judged as it stands in its files."""
        query = select_parquet(sorted(folder.glob("*.parquet")))
        made = DuckDBSource(query, memory=self._memory, temporary=self.temporary)
        made._is_written = True
        return made

    def _stream(self, query: str, tell: ReportProgress) -> Iterator[pa.RecordBatch]:
        with self._reworded_errors("read"), self._report_query_progress(tell):
            yield from self._connection.sql(query).to_arrow_reader(BATCH)

    @contextmanager
    def _report_query_progress(self, tell: ReportProgress) -> Iterator[None]:
        """Tell how far a query is, from a thread of its own."""
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(POLL):
                done = self._connection.query_progress()
                tell(max(0.0, min(done / 100, 1.0)))
                self.spilled = max(self.spilled, measure_folder(self.temporary))

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        except BaseException:
            self._connection.interrupt()
            raise
        finally:
            ended.set()
            watcher.join()

    @contextmanager
    def _reworded_errors(self, doing: str) -> Iterator[None]:
        """Reword what DuckDB says: it may quote cells."""
        duckdb = self._duckdb
        try:
            yield
        except (duckdb.OutOfMemoryException, MemoryError):
            raise WriteError(
                f"DuckDB needs more than {self._memory // 10**6:,} MB of memory, or more temporary space; "
                "give more with memory= or temporary=."
            ) from None
        except duckdb.IOException as error:
            if "space" in str(error).lower():
                raise WriteError("The temporary folder is full; give one with more space by temporary=.") from None
            raise ReadError(f"DuckDB cannot {doing} the table ({type(error).__name__}); check its files.") from None
        except duckdb.Error as error:
            raise ReadError(f"DuckDB cannot {doing} the table ({type(error).__name__}); check its files.") from None


def measure_folder(folder: Path) -> int:
    """Sum the sizes of the files in a folder, some of which may vanish meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size
    return total
