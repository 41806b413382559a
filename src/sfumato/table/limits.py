"""How much a table may ask of the machine before it is refused; each limit says what to do instead."""

from __future__ import annotations

MOST_COLUMNS = 2**14  # as in an Excel sheet; a table about persons has hundreds
LONGEST_LINE = 2**23  # bytes of a text file without a line break
UNPACKED_FREELY = 2**24  # bytes that a packed file may always have
MOST_TIMES_LARGER = 100  # a packed table is 5 to 50 times smaller, a bomb 1,000 times


def too_many_columns(where: str, count: int) -> str:
    """Say that a table has too many columns."""
    return f"{where} has {count:,} columns and at most {MOST_COLUMNS:,} can be read; choose those that you need."


def most_unpacked(packed: int) -> int:
    """Return how many bytes a packed file of some size may have when it is unpacked."""
    return max(UNPACKED_FREELY, packed * MOST_TIMES_LARGER)


def too_large(path: object) -> str:
    """Say that a packed file is suspiciously large."""
    return (
        f"{path} is more than {MOST_TIMES_LARGER} times larger when unpacked, as files are that are made to fill a"
        " memory; if you trust it, unpack it yourself and write it as CSV or Parquet."
    )
