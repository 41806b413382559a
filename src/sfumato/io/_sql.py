"""Names and statements in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.errors import ReadError, WriteError

MAX_LISTED = 20


def quote_identifier(name: str) -> str:
    """Return a name as an SQL identifier.

    >>> quote_identifier('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def qualify_name(name: str) -> str:
    """Return the name of a table, with its schema if there is one, as SQL.

    >>> qualify_name("research.patients")
    '"research"."patients"'
    """
    return ".".join(quote_identifier(part) for part in name.split(".", 1))


def strip_semicolon(query: str) -> str:
    """Drop the semicolon after a query, so that the query can be nested."""
    return query.strip().rstrip(";").rstrip()


def missing_table_name_error(where: object, known: Sequence[str]) -> ReadError:
    """Ask for the name of a table, and list those that there are.

    >>> str(missing_table_name_error("sqlite:///clinic.db", ["patients", "visits"]))
    "sqlite:///clinic.db has the tables 'patients', 'visits'; pass table= or query=."
    """
    if not known:
        return ReadError(f"{where} has no tables; check that it is the right database.")
    more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
    tables = "table" if len(known) == 1 else "tables"
    listed = ", ".join(map(repr, known[:MAX_LISTED]))
    return ReadError(f"{where} has the {tables} {listed}{more}; pass table= or query=.")


def table_exists_error(where: object, name: str) -> WriteError:
    """Say that there is a table of that name."""
    return WriteError(
        f"{where} already has a table {name!r}; choose another name, or replace it with if_exists='replace'."
    )
