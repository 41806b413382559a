"""The canonical type of a column of Spark, decided by one scan, and the expression that makes it so.

The rules are those of `sfumato.io._columns.to_canonical_column`, which decides by looking at all cells in memory.
Nothing here depends on the time zone of the session: moments are counted in microseconds of UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato._optional import import_optional
from sfumato.errors import ReadError, SchemaError
from sfumato.io._columns import EXACT_WHOLE, calendar_range_error

WHOLE = {"tinyint", "smallint", "int", "bigint"}
FLOATS = {"float", "double"}
ZONED, NAIVE = "timestamp", "timestamp_ntz"
PLAIN = {"boolean": pa.bool_(), "date": pa.date32(), "void": pa.string()}
DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
STARS = r"\A[ \t\n\x0B\f\r]*\*[* \t\n\x0B\f\r]*\z"
MAX_DIGITS = 15  # of a decimal that a 64-bit number keeps
DAY = 86_400_000_000  # microseconds
UTC = "UTC"
SPARK_TYPES = {
    pa.string(): "string",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): NAIVE,
}


def get_spark_functions(frame: Any) -> Any:
    """Return the functions that make expressions for a DataFrame, of Spark itself or of Spark Connect."""
    kind = "connect." if type(frame).__module__.startswith("pyspark.sql.connect") else ""
    return import_optional(f"pyspark.sql.{kind}functions", extra="spark", error=ReadError)


def get_spark_type(kind: pa.DataType) -> str:
    """Return the name that Spark has for a type that is published."""
    if pa.types.is_timestamp(kind):
        return ZONED if kind.tz else NAIVE
    return SPARK_TYPES[kind]


@dataclass(frozen=True)
class SparkColumn:
    """A column of a Spark DataFrame: its name, the name it is asked by, and its type.

    Parameters
    ----------
    name : the name that users know.
    inner : a name without any sign that Spark reads as more than a name.
    kind : the type as Spark writes it.
    functions : what makes expressions.
    """

    name: str
    inner: str
    kind: str
    functions: Any

    def __post_init__(self) -> None:
        known = self.is_text or self.kind in {*WHOLE, *FLOATS, ZONED, NAIVE, *PLAIN} or DECIMAL.fullmatch(self.kind)
        if not known:
            raise self._unpublished()

    @property
    def is_text(self) -> bool:
        """Whether cells are texts, of any collation or length."""
        return self.kind.startswith(("string", "char(", "varchar("))

    @property
    def raw(self) -> Any:
        """The cells as they are, but moments with a time zone in UTC without one, and texts ordered by bytes."""
        functions = self.functions
        column = functions.col(self.inner)
        if self.kind == ZONED:
            micros = functions.unix_micros(column).cast("decimal(20,0)")
            seconds = (micros / functions.lit(10**6).cast("decimal(7,0)")).cast("decimal(18,6)")
            return functions.lit("1970-01-01 00:00:00").cast(NAIVE) + functions.make_dt_interval(secs=seconds)
        if self.is_text and self.kind != "string":
            return functions.collate(column.cast("string"), "UTF8_BINARY")
        return column

    @property
    def facts(self) -> list[Any]:
        """What to ask of all cells: how many have a value, whether all are plain, how many cannot be published."""
        functions = self.functions
        column = self.raw
        filled, plain, odd = functions.count(column), functions.expr("true"), functions.lit(0)
        if self.kind in FLOATS:
            number = functions.when(~functions.isnan(column), column.cast("double"))
            filled = functions.count(number)
            plain = functions.every((number == functions.rint(number)) & (functions.abs(number) < EXACT_WHOLE))
            odd = functions.count_if(functions.abs(number) == float("inf"))
        elif self.kind in {ZONED, NAIVE}:
            plain = functions.every(column == column.cast("date").cast(NAIVE))
            odd = functions.count_if(~functions.year(column).between(1, 9999))
        elif self.kind == "date":
            odd = functions.count_if(~functions.year(column).between(1, 9999))
        elif DECIMAL.fullmatch(self.kind):
            whole = (column % 1 == 0) & column.try_cast("bigint").isNotNull()
            plain = functions.every(functions.when(column.isNotNull(), whole))
            odd = functions.count_if(functions.length(self._digits) > MAX_DIGITS)
        elif self.is_text:
            filled = functions.count(functions.when(column != "", column))
            odd = functions.count_if(functions.contains(column, functions.lit("*")) & column.rlike(STARS))
        return [filled, functions.coalesce(plain, functions.expr("false")), odd]

    @property
    def _digits(self) -> Any:
        """The digits of a decimal that count, written out."""
        functions = self.functions
        digits = functions.regexp_replace(functions.col(self.inner).cast("string"), r"\.|[eE].*", "")
        return functions.regexp_replace(digits, r"\A-?0*|0+\z", "")

    def canonical(self, *, filled: bool, plain: bool, odd: int) -> tuple[Any, pa.DataType]:
        """Return the expression and the type that its cells decide.

        Parameters
        ----------
        filled : whether any cell has a value.
        plain : whether all numbers are whole, or all moments at midnight.
        odd : how many cells cannot be published.
        """
        functions, column = self.functions, self.raw
        if not filled or self.kind == "void":
            return functions.lit(None).cast("string"), pa.string()
        if self.is_text:
            return functions.when(column != "", column), pa.string()
        if self.kind in WHOLE:
            return column.cast("bigint"), pa.int64()
        if self.kind in {ZONED, NAIVE, "date"} and odd:
            raise calendar_range_error(self.name)
        if self.kind in {ZONED, NAIVE}:
            return (column.cast("date"), pa.date32()) if plain else (column, pa.timestamp("us"))
        if self.kind in PLAIN:
            return column, PLAIN[self.kind]
        if self.kind in FLOATS and odd:
            raise SchemaError(f"Column {self.name!r} contains infinite values (rows: {odd}); replace or clear them.")
        if odd and not plain:
            raise SchemaError(
                f"Column {self.name!r} holds decimals with more digits than a 64-bit number keeps; round it to 15 "
                "digits, or convert it to text."
            )
        number = column.cast("double")
        number = functions.when(number == 0.0, functions.lit(0.0)).when(~functions.isnan(number), number)
        return (column if DECIMAL.fullmatch(self.kind) else number).cast("bigint") if plain else number, (
            pa.int64() if plain else pa.float64()
        )

    def _unpublished(self) -> SchemaError:
        return SchemaError(
            f"Column {self.name!r} has type {self.kind}, which is not published beyond memory; convert it to text, "
            "numbers, dates or booleans, or drop it."
        )
