"""How much a table may ask of the machine before it is refused; each limit says what to do instead."""

from __future__ import annotations

MAX_COLUMNS = 2**14  # as in an Excel sheet; a table about persons has hundreds
MAX_LINE_BYTES = 2**23  # bytes of a text file without a line break
FREE_UNPACKED_BYTES = 2**24  # bytes that a packed file may always have
MAX_COMPRESSION_RATIO = 100  # a packed table is 5 to 50 times smaller, a bomb 1,000 times


def format_too_many_columns(where: str, count: int) -> str:
    """Say that a table has too many columns."""
    return f"{where} has {count:,} columns and at most {MAX_COLUMNS:,} can be read; choose those that you need."


def max_unpacked_bytes(packed: int) -> int:
    """Return how many bytes a packed file of some size may have when it is unpacked."""
    return max(FREE_UNPACKED_BYTES, packed * MAX_COMPRESSION_RATIO)


def format_suspicious_size(path: object) -> str:
    """Say that a packed file is suspiciously large."""
    return (
        f"{path} is more than {MAX_COMPRESSION_RATIO} times larger when unpacked, as files are that are made to fill a"
        " memory; if you trust it, unpack it yourself and write it as CSV or Parquet."
    )
