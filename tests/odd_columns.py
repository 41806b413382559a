"""Columns whose values are read in their own way, the same in every engine, and columns that no engine publishes."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa

from sfumato.tables.engines._source import GROUP, CombinationRecoding

DAY = dt.datetime(2026, 1, 31)  # noqa: DTZ001 - naive as in files
MOMENT = dt.datetime(2026, 3, 8, 2, 30)  # noqa: DTZ001 - the same; no clock in New York ever showed it
COLUMNS = {
    "whole floats": pa.array([1.0, 2.0, None]),
    "floats": pa.array([1.5, 2.0, None]),
    "not a number": pa.array([1.0, math.nan, 3.0]),
    "negative zero": pa.array([-0.0, 0.5, 0.0]),
    "nothing": pa.array([None, None, None], pa.float64()),
    "only nan": pa.array([math.nan, math.nan, None]),
    "small numbers": pa.array([1, 2, None], pa.int8()),
    "unsigned": pa.array([1, 2, 3], pa.uint64()),
    "short floats": pa.array([0.5, 0.1, 1], pa.float32()),
    "texts": pa.array(["a", "", "é"]),
    "categories": pa.array(["b", "a", "b"]).dictionary_encode(),
    "truth": pa.array([True, False, None]),
    "days": pa.array([dt.date(2026, 1, 31), None, dt.date(1899, 1, 1)]),
    "midnights": pa.array([DAY, None, DAY], pa.timestamp("ms")),
    "moments": pa.array([DAY, MOMENT, None], pa.timestamp("us")),
    "zoned": pa.array([DAY, MOMENT, None], pa.timestamp("us", "Europe/Berlin")),
    "zoned midnights": pa.array([DAY, DAY, None], pa.timestamp("us", "UTC")),
    "whole decimals": pa.array([Decimal("1.00"), Decimal("2.00"), None]),
    "decimals": pa.array([Decimal("1.25"), Decimal("2.00"), None]),
    "large floats": pa.array([2.0**60, 1.0, 2.0]),
    "a `strange`.name": pa.array(["x", "y", "z"]),
}
REFUSED = {
    "infinite": pa.array([math.inf, 1.0]),
    "wide": pa.array([2**64 - 1, 1], pa.uint64()),
    "bytes": pa.array([b"a", b"b"]),
    "lists": pa.array([[1], [2]]),
    "days beyond calendars": pa.array([0, 5_000_000], pa.date32()),
    "days before calendars": pa.array([0, -800_000], pa.date32()),
    "moments beyond calendars": pa.array([0, 300_000_000_000_000_000], pa.timestamp("us")),
    "large decimals": pa.array([Decimal(1), Decimal(2**63)], pa.decimal128(38, 2)),
}


def rule_on(cases: pa.Table, group: list[int], shown: list[str], names: list[str]) -> CombinationRecoding:
    """Recode ages, and order rows by what is shown of them and then by all other columns."""
    return CombinationRecoding(
        cases=cases.append_column(GROUP, pa.array(group, pa.int32())),
        shown=pa.table({"age": pa.array(shown).dictionary_encode()}),
        names=tuple(names),
        order=(np.arange(len(shown)), *names[1:]),
        records=np.ones(len(shown), dtype=np.int64),
    )
