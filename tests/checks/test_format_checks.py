"""Each check of the format suite is seen to fail on a format that breaks its law."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.io._csv import read_csv, write_csv
from sfumato.io._parquet import read_parquet, write_parquet
from sfumato.io.formats import Format
from sfumato.testing import formats as suite


def made(**given: object) -> Format:
    """Make a format that is Parquet but for what is given."""
    usual = {
        "name": "made",
        "kind": "a made file",
        "suffixes": (".made",),
        "read": read_parquet,
        "write": write_parquet,
    }
    return Format(**{**usual, **given})


def forget_types(path: Path) -> pa.Table:
    table = read_parquet(path)
    return pa.table({name: table[name].cast(pa.string()) for name in table.column_names})


def refuse_nothing(path: Path) -> pa.Table:
    table = read_parquet(path)
    return table if table.num_rows else table.select(table.column_names[1:])


def write_with_metadata(table: pa.Table, path: Path) -> None:
    pa.parquet.write_table(table, path)


def write_the_time(table: pa.Table, path: Path) -> None:
    write_parquet(table.append_column("time", pa.array([time.monotonic_ns()] * table.num_rows)), path)


def write_a_note(table: pa.Table, path: Path) -> None:
    write_parquet(table, path)
    path.with_suffix(".note").write_text("written", "utf-8")


BROKEN = {
    "no article": (suite.check_metadata, made(kind="made file")),
    "a name with capitals": (suite.check_metadata, made(name="Made")),
    "an option that reading does not take": (suite.check_options_are_honored, made(read_options=("encoding",))),
    "an option that writing does not take": (suite.check_options_are_honored, made(write_options=("excel_safe",))),
    "types that are forgotten": (suite.check_round_trip, made(read=forget_types)),
    "columns that are lost without rows": (
        suite.check_tables_without_rows_keep_their_columns,
        made(read=refuse_nothing),
    ),
    "what is carried along": (suite.check_equal_tables_give_equal_bytes, made(write=write_with_metadata)),
    "the time of writing": (suite.check_equal_tables_give_equal_bytes, made(write=write_the_time)),
    "a second file": (suite.check_a_table_is_one_file, made(write=write_a_note)),
}


@pytest.mark.parametrize(("check", "form"), BROKEN.values(), ids=BROKEN)
def test_check_fails_on_a_wrong_format(check, form):
    with pytest.raises(AssertionError):
        check(form)


def test_every_check_has_been_seen_to_fail():
    assert {check for check, _ in BROKEN.values()} == set(suite.FORMAT_CHECKS)


def test_the_whole_suite_runs_on_one_format():
    suite.check_format(made())
    with pytest.raises(AssertionError):
        suite.check_format(made(write=write_a_note))


def test_what_a_format_does_not_do_is_left_out():
    suite.check_format(made(read=read_csv, write=None, read_options=("encoding",)))
    suite.check_format(made(read=None, write=write_csv, write_options=("excel_safe",)))
