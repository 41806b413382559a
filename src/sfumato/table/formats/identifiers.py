"""Names and statements in SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a name as an SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """Return the name of a table, with its schema if there is one, as SQL.

    >>> qualified("research.patients")
    '"research"."patients"'
    """
    return ".".join(quoted(part) for part in name.split(".", 1))


def one_statement(query: str) -> str:
    """Drop the semicolon after a query, so that the query can be nested."""
    return query.strip().rstrip(";").rstrip()
