# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every format of files keeps.

`check_format(MY_FORMAT)` runs them all on a format of your own. Each check writes small tables into a temporary folder
and raises `AssertionError` where its law is broken. Of a format that is only read or only written, what it does not do
is left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from inspect import signature
from pathlib import Path

import pyarrow as pa

from sfumato.io._dataframes import to_arrow
from sfumato.io.formats import Format

TABLE = pa.table(
    {
        "text": ["plain", "a,b;c\td", 'say "hi"', "two\nlines", " padded ", "Zürich 東京", None, "=1+1"],
        "whole": [0, -1, 2**40, None, 7, 7, 7, 9],
        "real": [0.5, -1e-05, 1e300, 2.25, None, 3.0, 4.0, 0.1],
        "true": [True, False, None, True, True, False, True, False],
        "day": [date(2024, 2, 29), date(1970, 1, 1), None, date(1999, 12, 31), *[date(2000, 1, 1)] * 4],
        "moment": [datetime.fromisoformat(f"2024-01-31T10:30:0{second}") for second in range(7)] + [None],
        'a "name", oddly': ["x"] * 8,
    },
    schema=pa.schema(
        [
            ("text", pa.string()),
            ("whole", pa.int64()),
            ("real", pa.float64()),
            ("true", pa.bool_()),
            ("day", pa.date32()),
            ("moment", pa.timestamp("us")),
            ('a "name", oddly', pa.string()),
        ]
    ),
)


def check_format(form: Format) -> None:
    """Run every check on one format."""
    for check in FORMAT_CHECKS:
        check(form)


def check_metadata(form: Format) -> None:
    """A format says its name, what its files are called and how their names end."""
    assert form.name == form.name.lower().replace(" ", "-")
    assert form.kind.startswith(("a ", "an "))
    assert form.suffixes


def check_options_are_honored(form: Format) -> None:
    """Reading and writing take the options that the format says it honors."""
    calls = [(form.read, (Path(),), form.read_options), (form.write, (TABLE, Path()), form.write_options)]
    for function, given, options in calls:
        if function is not None:
            try:
                signature(function).bind(*given, **dict.fromkeys(options))
            except TypeError as error:
                raise AssertionError(str(error)) from None


def check_round_trip(form: Format) -> None:
    """A table comes back as it was: its columns in order, their types, texts of all kinds and missing values."""
    for found in _round_trip(form, TABLE):
        assert found.equals(TABLE)


def check_tables_without_rows_keep_their_columns(form: Format) -> None:
    """A table without rows comes back without rows and with all its columns."""
    for found in _round_trip(form, TABLE.slice(0, 0)):
        assert found.column_names == TABLE.column_names
        assert found.num_rows == 0


def check_equal_tables_give_equal_bytes(form: Format) -> None:
    """Equal tables are written as equal bytes, however they lie in memory, and whatever they carry along unseen."""
    pieces = pa.concat_tables([TABLE.slice(0, 3), TABLE.slice(3)]).replace_schema_metadata({"secret": "carried along"})
    for one, other in zip(_write_each_suffix(form, TABLE), _write_each_suffix(form, pieces), strict=True):
        assert one.read_bytes() == other.read_bytes()


def check_a_table_is_one_file(form: Format) -> None:
    """Writing leaves one file, under the name that was asked for, and nothing beside it."""
    for path in _write_each_suffix(form, TABLE):
        assert list(path.parent.iterdir()) == [path]
        assert path.is_file()


FORMAT_CHECKS: tuple[Callable[[Format], None], ...] = (
    check_metadata,
    check_options_are_honored,
    check_round_trip,
    check_tables_without_rows_keep_their_columns,
    check_equal_tables_give_equal_bytes,
    check_a_table_is_one_file,
)


def _write_each_suffix(form: Format, table: pa.Table) -> Iterator[Path]:
    """Write a table under each of the suffixes, each time into a folder of its own."""
    if form.write is None:
        return
    for suffix in form.suffixes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table{suffix}"
            form.write(table, path)
            yield path


def _round_trip(form: Format, table: pa.Table) -> Iterator[pa.Table]:
    """Write a table and read what was written."""
    if form.read is None:
        return
    for path in _write_each_suffix(form, table):
        yield to_arrow(form.read(path))[0]
