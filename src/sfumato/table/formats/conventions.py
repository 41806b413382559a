"""How the cells of a table are written: what a reader is told, or has found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sfumato.table.formats.dates import ISO, DateFormat
from sfumato.table.formats.numerals import COMMA, POINT, THOUSANDS
from sfumato.validation import require

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPE_NAMES = ("text", "number", "date", "boolean")
TYPE_DESCRIPTIONS = "text, number, number:UNIT, date, date:FORMAT or boolean for columns, as in {'zip': 'text'}"


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How numbers and days are written, and what type some columns have.

    Parameters
    ----------
    decimal : the decimal mark, a point or a comma; None to find it out.
    thousands : what stands between thousands; None to find it out, empty if nothing does.
    date_format : how days are written, see `DateFormat`; None to find it out.
    column_types : for some columns `"text"`, `"number"`, `"number:kg"`, `"date"`, `"date:dd.mm.yyyy"` or `"boolean"`.
    """

    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    column_types: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.decimal in {None, POINT, COMMA}, "read", "decimal", "'.' or ','", self.decimal)
        if self.decimal is None and self.thousands == POINT:
            object.__setattr__(self, "decimal", COMMA)
        apart = self.thousands in {None, "", *THOUSANDS} and self.thousands != self.mark
        between = "one of . , ' or a space, and not the decimal mark"
        require(apart, "read", "thousands", between, self.thousands)
        if self.date_format is not None:
            object.__setattr__(self, "date_format", DateFormat(self.date_format).written)
        types: object = self.column_types
        typed = isinstance(types, Mapping) and all(map(_is_type_name, types.values()))
        require(typed, "read", "column_types", TYPE_DESCRIPTIONS, types)

    @property
    def mark(self) -> str:
        """The decimal mark; a point if nobody says otherwise."""
        return self.decimal or POINT

    @property
    def days(self) -> DateFormat | None:
        """The format of days, unless it is ISO, which is always read."""
        return None if self.date_format in {None, ISO} else DateFormat(str(self.date_format))


def check_columns_exist(types: Mapping[str, str], columns: Iterable[str]) -> None:
    """Refuse types of columns that are not in the table."""
    from sfumato.exceptions import SchemaError
    from sfumato.validation import suggest_closest

    known = list(columns)
    for name in types:
        if name not in known:
            raise SchemaError(
                f"column_types names {name!r}, which is not in the table{suggest_closest(name, known) or '.'}"
            )


def _is_type_name(given: object) -> bool:
    if not isinstance(given, str):
        return False
    kind, colon, how = given.partition(":")
    if kind not in TYPE_NAMES or (colon and (not how or kind not in {"number", "date"})):
        return False
    if kind == "date" and how:
        for each in how.split("|"):
            DateFormat(each)
    return True
