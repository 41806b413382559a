"""Names and statements in SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a name as an SQL identifier.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """Return a table's name, or its schema's and its own with a dot between, as SQL.

    >>> qualified("research.patients")
    '"research"."patients"'
    """
    return ".".join(quoted(part) for part in name.split(".", 1))


def one_statement(query: str) -> str:
    """Drop the semicolon after a query, so that the query can stand inside another."""
    return query.strip().rstrip(";").rstrip()
