"""The long form as views in DuckDB, so that plain SQL gives expected counts and sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.coding.domain import Domain
from sfumato.core.published.table import check_readable
from sfumato.exceptions import WriteError
from sfumato.queries.estimates.columns import known_domains, read_column
from sfumato.queries.estimates.long_form import (
    PROBABILITY,
    RECORD,
    bucketized_attributes,
    check_names_free,
    is_expanded_bucket_column,
    slices_by_bucket_column,
)
from sfumato.queries.estimates.pieces import ValuePartition, sum_by_label
from sfumato.schema.schema import Schema
from sfumato.table.extras import import_optional
from sfumato.table.formats.duckdb import ALONE
from sfumato.table.formats.identifiers import quote_identifier
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.values import encode_distinct
from sfumato.validation import require

if TYPE_CHECKING:
    import duckdb

MAX_VALUES = 5_000_000
MAX_NUMBERS = 100_000


def long_form_views(
    database: duckdb.DuckDBPyConnection | str | PathLike[str],
    published: Frame,
    schema: Schema,
    *,
    name: str = "published",
    domains: Mapping[str, Iterable[object]] | None = None,
    replace: bool = False,
) -> list[str]:
    """Put a published table into DuckDB with views that list what its cells may mean; return their names.

    - `NAME` is the published table itself, with the number of the record in `_record`;
    - `NAME_long` is its long form: a row for every record and every value of its buckets, with `_probability`;
    - `NAME_values_of_A`, for every quasi-identifier A whose values can be listed, gives for every published cell
      (`shown`) the values that it may represent (`value`) and their `_probability`.

    Parameters
    ----------
    database : a DuckDB connection, or the path of a database file, which is created if it does not exist.
    published : the published table (pandas, Polars or Arrow).
    schema : the roles, and hierarchies to read taxonomy labels.
    name : the name of the table, which is also the prefix of the views.
    domains : all values that an attribute can take, if you know them; see `estimate`.
    replace : whether a table and views of these names may be replaced.
    """
    require(bool(name), "long_form_views", "name", "a name for the table", name)
    table, _ = to_arrow(published)
    check_readable(table, schema)
    check_names_free(table.column_names)
    _check_distinct_names(table.column_names)
    duckdb = import_optional("duckdb", extra="duckdb", error=WriteError)
    known = known_domains(domains, schema)
    values = {
        f"{name}_values_of_{each}": _cell_values(table, each, schema, known.get(each))
        for each in schema.quasi_identifiers
    }
    numbered = table.append_column(RECORD, pa.array(np.arange(table.num_rows)))
    tables = {name: numbered, **{each: found for each, found in values.items() if found is not None}}
    view = _long_view(table, schema, name)
    names = [name, f"{name}_long", *(each for each in tables if each != name)]
    try:
        with _connect(duckdb, database) as connection:
            if not replace:
                _check_tables_absent(connection, names)
            _create(connection, tables, f"{name}_long", view, replace=replace)
    except duckdb.Error:
        raise WriteError(
            f"DuckDB cannot create the table {name!r} and its views; its file may be locked, damaged or full, or a "
            "transaction may be open."
        ) from None
    return names


@contextmanager
def _connect(duckdb: Any, database: Any) -> Iterator[Any]:
    if isinstance(database, duckdb.DuckDBPyConnection):
        yield database
        return
    require(
        isinstance(database, str | PathLike), "long_form_views", "database", "a DuckDB connection or a path", database
    )
    with closing(duckdb.connect(fspath(database), config=ALONE)) as connection:
        yield connection


def _check_distinct_names(names: Sequence[str]) -> None:
    first: dict[str, str] = {}
    for each in names:
        other = first.setdefault(each.casefold(), each)
        if other != each:
            raise WriteError(f"DuckDB does not distinguish the columns {other!r} and {each!r}; rename one of them.")


def _check_tables_absent(connection: Any, names: Iterable[str]) -> None:
    listed = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    present = {row[0].casefold() for row in connection.execute(listed).fetchall()}
    for each in names:
        if each.casefold() in present:
            raise WriteError(f"The database already has a table {each!r}; choose another name or replace it.")


def _create(connection: Any, tables: Mapping[str, pa.Table], long: str, view: str, *, replace: bool) -> None:
    """Create all tables and the view in one transaction."""
    word = "CREATE OR REPLACE" if replace else "CREATE"
    connection.execute("BEGIN")
    try:
        for each, table in tables.items():
            connection.register("sfumato_table", table)
            connection.execute(f"{word} TABLE {quote_identifier(each)} AS SELECT * FROM sfumato_table")  # noqa: S608 - quoted
            connection.unregister("sfumato_table")
        connection.execute(f"{word} VIEW {quote_identifier(long)} AS {view}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _long_view(table: pa.Table, schema: Schema, name: str) -> str:
    """Return the query that expands all buckets of a table."""
    spelled = bucketized_attributes(table, schema, None)
    shares, joins, columns = [], [], [f"r.{quote_identifier(RECORD)}"]
    slices = slices_by_bucket_column(table, spelled)
    place = {each: (at, column) for at, (column, names) in enumerate(slices.items()) for each in names}
    for at, (column, names) in enumerate(slices.items()):
        value, bucket = ", ".join(map(quote_identifier, names)), quote_identifier(column)
        shares.append(
            f"s{at} AS (SELECT {bucket}, {value}, count(*) / sum(count(*)) OVER (PARTITION BY {bucket}) AS share "  # noqa: S608 - quoted
            f"FROM {quote_identifier(name)} WHERE {bucket} IS NOT NULL GROUP BY {bucket}, {value})"
        )
        joins.append(f"LEFT JOIN s{at} ON r.{bucket} = s{at}.{bucket}")
    for each in table.column_names:
        if each in place:
            at, column = place[each]
            linked = f"r.{quote_identifier(column)} IS NULL"
            columns.append(
                f"CASE WHEN {linked} THEN r.{quote_identifier(each)} ELSE s{at}.{quote_identifier(each)} END AS {quote_identifier(each)}"
            )
        elif not is_expanded_bucket_column(each, table, spelled):
            columns.append(f"r.{quote_identifier(each)}")
    product = " * ".join(["1.0", *(f"coalesce(s{at}.share, 1.0)" for at in range(len(slices)))])
    head = f"WITH {', '.join(shares)} " if shares else ""
    shown = ", ".join([*columns, f"{product} AS {quote_identifier(PROBABILITY)}"])
    return f"{head}SELECT {shown} FROM {quote_identifier(name)} r {' '.join(joins)}"  # noqa: S608 - all names are quoted


def _cell_values(table: pa.Table, name: str, schema: Schema, known: tuple[Domain, bool] | None) -> pa.Table | None:
    """Return the values that every published cell of an attribute may represent; None if they cannot be listed."""
    distinct, _ = encode_distinct(table[name])
    pieces = read_column(table, name, schema, (), known).pieces
    if not pieces.listed:
        domain = _axis_values(pieces)
        if domain is None:
            return None
        pieces = read_column(table, name, schema, (), (domain, True)).pieces
    label, piece = pieces.cover.pairs()
    weight = pieces.weight[piece]
    total = sum_by_label(label, weight, len(pieces.cover))
    kept = weight > 0
    if len(label) > MAX_VALUES or (total[np.unique(label)] == 0).any():
        return None
    label, piece = label[kept], piece[kept]
    kept = label < len(distinct)
    label, piece = label[kept], piece[kept]
    return pa.table(
        {
            "shown": distinct.take(pa.array(label)),
            "value": pieces.domain.values.take(pa.array(piece)),
            PROBABILITY: pa.array(pieces.weight[piece] / total[label]),
        }
    )


def _axis_values(pieces: ValuePartition) -> Domain | None:
    """Return the values of an axis: the numbers shown if all cells are single ones, or all whole ones between them."""
    domain, cover = pieces.domain, pieces.cover
    covers = cover.first <= cover.last
    if (cover.first == cover.last)[covers].all():
        return domain
    kind = domain.values.type
    if not pa.types.is_integer(kind) and not pa.types.is_date32(kind):
        return None
    first, last = (int(domain.positions[at]) for at in (0, -1))
    if last - first >= MAX_NUMBERS:
        return None
    numbers = pa.array(np.arange(first, last + 1), pa.int32() if pa.types.is_date32(kind) else pa.int64())
    return Domain(domain.name, domain.scale, numbers.cast(kind))
