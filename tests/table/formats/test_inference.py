"""Types of text columns."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from sfumato.io._type_inference import MISSING, infer_column
from sfumato.io._values import encode_distinct


def infer(*cells: str | None, missing: tuple[str, ...] = MISSING) -> tuple[str, list[object]]:
    found = infer_column(*encode_distinct(pa.array(cells, pa.string())), missing)
    return str(found.type), found.to_pylist()


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", "0", None], "int64", [1, -2, 0, None]),
        (["9223372036854775807"], "int64", [2**63 - 1]),
        (["9223372036854775808"], "string", ["9223372036854775808"]),
        (["02139", "10115"], "string", ["02139", "10115"]),
        (["007"], "string", ["007"]),
        (["+49"], "string", ["+49"]),
        (["1", "2.5", ".5", "3.", "1e-05", "-1.5E+3"], "double", [1.0, 2.5, 0.5, 3.0, 1e-05, -1500.0]),
        (["1.5", "12345678901234567"], "string", ["1.5", "12345678901234567"]),
        (["1.5", "007"], "string", ["1.5", "007"]),
        (["1.5", "inf"], "double", [1.5, float("inf")]),
        (["inf", "-Infinity"], "string", ["inf", "-Infinity"]),
        (["1,5"], "string", ["1,5"]),
        (["true", "FALSE", "True"], "bool", [True, False, True]),
        (["true", "yes"], "string", ["true", "yes"]),
        (["2020-02-29", None], "date32[day]", [dt.date(2020, 2, 29), None]),
        (["2020-02-30"], "string", ["2020-02-30"]),
        (["2020-2-3"], "string", ["2020-2-3"]),
        (
            ["2020-01-01 10:30", "2020-01-01T10:30:05.5", "2020-01-02"],
            "timestamp[us]",
            [
                dt.datetime(2020, 1, 1, 10, 30),
                dt.datetime(2020, 1, 1, 10, 30, 5, 500_000),
                dt.datetime(2020, 1, 2),
            ],
        ),
        (
            ["2020-01-01T10:30+02:00", "2020-01-01 10:30Z"],
            "timestamp[us, tz=UTC]",
            [dt.datetime(2020, 1, 1, 8, 30, tzinfo=dt.UTC), dt.datetime(2020, 1, 1, 10, 30, tzinfo=dt.UTC)],
        ),
        (["2020-01-01T10:30+02:00", "2020-01-01 10:30"], "string", ["2020-01-01T10:30+02:00", "2020-01-01 10:30"]),
        (["2020-01-01 25:30"], "string", ["2020-01-01 25:30"]),
        (["1\n"], "string", ["1\n"]),
        (["a", "NA", ""], "string", ["a", "NA", None]),
        (["1", "NA", ""], "int64", [1, None, None]),
        (["NA"], "string", ["NA"]),
        ([None], "string", [None]),
        ([], "string", []),
    ],
)
def test_a_column_gets_the_narrowest_type_that_fits_all(cells, kind, values):
    assert infer(*cells) == (kind, values)


def test_other_spellings_of_missing_can_be_given():
    assert infer("1", "-", missing=("-",)) == ("int64", [1, None])
    assert infer("1", "NA", missing=("-",)) == ("string", ["1", "NA"])
    assert infer("a", "", missing=("-",)) == ("string", ["a", ""])


def test_an_odd_value_after_many_others_still_counts():
    numbers = [str(number) for number in range(5000)]
    assert infer(*numbers)[0] == "int64"
    assert infer(*numbers, "x")[0] == "string"
