"""How the cells of a table are written: what a reader is told, or has found out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require
from sfumato.io._type_inference import CLOCK, EXPONENT, INFINITE, cast_or_none, match_all, moments

if TYPE_CHECKING:
    from collections.abc import Iterable


# Dates as offices write them: `dd.mm.yyyy`, `mm/dd/yyyy`, `yyyy年m月d日`.

ISO = "yyyy-mm-dd"
USUAL_FORMATS = ("dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "yyyy/mm/dd", "yyyy年mm月dd日", "dd-mm-yyyy", "yyyy.mm.dd")
PARTS = {"y": "year", "m": "month", "d": "day"}
RUN = re.compile(r"y+|m+|d+|[^ymd]+")
DIGITS = {"yyyy": "{4}", "yy": "{2}", "mm": "{1,2}", "m": "{1,2}", "dd": "{1,2}", "d": "{1,2}"}
FIRST_YEAR = 1930  # of the hundred years that two digits stand for, as in spreadsheets


@dataclass(frozen=True)
class DateFormat:
    """A way to write days; a time may follow, as in `31.12.2024 10:30`.

    Parameters
    ----------
    written : with `yyyy` or `yy`, `mm` or `m`, and `dd` or `d`, in any order and with anything between them; `m` and
        `d` are written without a leading zero, and read with or without. `yy` is read as 1930 to 2029, and written with
        four digits.

    Examples
    --------
    >>> DateFormat("dd.mm.yyyy").read(pa.array(["31.12.2024", "1.2.2024"])).to_pylist()
    [datetime.date(2024, 12, 31), datetime.date(2024, 2, 1)]
    >>> DateFormat("yyyy年m月d日").write(pa.array(["2024-02-01"])).to_pylist()
    ['2024年2月1日']
    >>> DateFormat("d.m.yy").read(pa.array(["1.2.29", "1.2.30"])).to_pylist()
    [datetime.date(2029, 2, 1), datetime.date(1930, 2, 1)]
    """

    written: str

    def __post_init__(self) -> None:
        expected = "made of yyyy (or yy), mm (or m) and dd (or d), each once, as in 'dd.mm.yyyy'"
        given: object = self.written
        object.__setattr__(self, "written", given.lower() if isinstance(given, str) else "")
        found = [part for part in self._runs if part[0] in PARTS]
        fits = sorted(part[0] for part in found) == ["d", "m", "y"] and all(part in DIGITS for part in found)
        clear = not re.search(r'["\r\n0-9]', self.written)
        require(fits and clear, "read", "date_format", expected, given)

    @property
    def four_digits(self) -> str:
        """The same format with all digits of the year, by which days are written.

        >>> DateFormat("d.m.yy").four_digits
        'd.m.yyyy'
        """
        return "".join("yyyy" if part[0] == "y" else part for part in self._runs)

    @property
    def _runs(self) -> list[str]:
        return RUN.findall(self.written)

    @cached_property
    def pattern(self) -> str:
        """The pattern of a day and perhaps a time, in the syntax of Arrow."""
        day = "".join(
            f"(?P<{PARTS[part[0]]}>[0-9]{DIGITS[part]})" if part[0] in PARTS else re.escape(part) for part in self._runs
        )
        return rf"{day}(?P<clock>(?:{CLOCK})?)"

    def fits(self, values: pa.Array) -> bool:
        """Return whether all texts are days, or moments, of this format."""
        return self.read(values) is not None

    def read(self, values: pa.Array) -> pa.Array | None:
        """Return texts as dates or, if one has a time, as datetimes; None if one of them is neither."""
        if self.written != ISO and not match_all(values, self.pattern):
            return None
        return parse_iso_dates(self.as_iso(values))

    def as_iso(self, values: pa.Array) -> pa.Array:
        """Return texts of this format as ISO texts; others become missing."""
        found = pc.extract_regex(values, rf"\A{self.pattern}\z")
        day = [pc.utf8_lpad(found.field(place), width=2, padding="0") for place in self._order]
        if "yy" in self._runs:
            century, later = str(FIRST_YEAR)[:2], pc.less(day[0], str(FIRST_YEAR)[2:])
            day[0] = pc.binary_join_element_wise(pc.if_else(later, str(int(century) + 1), century), day[0], "")
        joined = pc.binary_join_element_wise(*day, "-")
        clock = pc.replace_substring(found.field(len(PARTS)), "T", " ")
        return pc.if_else(pc.is_null(found), None, pc.binary_join_element_wise(joined, clock, ""))

    @property
    def _order(self) -> list[int]:
        named = [PARTS[part[0]] for part in self._runs if part[0] in PARTS]
        return [named.index(part) for part in ("year", "month", "day")]

    def write(self, iso: pa.Array) -> pa.Array:
        """Write ISO texts of days or moments in this format."""
        if self.written == ISO:
            return iso
        parts = pc.extract_regex(iso, r"\A(?P<y>-?[0-9]{4,})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})(?P<clock>.*)\z")
        fields = {name: parts.field(place) for place, name in enumerate(("y", "m", "d"))}
        shown = [self._format_part(part, fields) for part in self._runs]
        clock = pc.replace_substring(parts.field(len(PARTS)), "T", " ")
        return pc.binary_join_element_wise(*shown, clock, "")

    @staticmethod
    def _format_part(part: str, fields: dict[str, pa.Array]) -> pa.Array | str:
        if part[0] not in PARTS:
            return part
        field = fields[part[0]]
        return pc.utf8_ltrim(field, characters="0") if len(part) == 1 else field


def parse_iso_dates(values: pa.Array) -> pa.Array | None:
    """Return ISO texts as dates, or as datetimes if one of them has a time; None if one is neither."""
    if values.null_count:
        return None
    days = cast_or_none(values, pa.date32()) if match_all(values, r"[0-9]{4}-[0-9]{2}-[0-9]{2}") else None
    return moments(values, pa.timestamp("us")) if days is None else days


# Numbers as offices write them: with a decimal comma, with marks between thousands, with a unit.

POINT, COMMA = ".", ","
THOUSANDS = (".", ",", " ", "'", "\u2019", "\u00a0", "\u202f")
UNITS = (
    *("kg", "g", "mg", "µg", "t", "lb", "lbs", "oz", "公斤", "千克", "克", "斤"),
    *("km", "m", "cm", "mm", "ft", "in", "公里", "米", "厘米", "m²", "qm", "km²", "ha"),
    *("l", "ml", "dl", "mmol/l", "mg/dl", "mmHg", "bpm", "kcal", "°C", "°F", "℃", "IU"),
    *("%", "‰", "€", "EUR", "$", "USD", "£", "GBP", "¥", "CNY", "RMB", "元", "万元", "CHF", "Fr."),
    *(
        "years",
        "year",
        "yrs",
        "months",
        "days",
        "hours",
        "h",
        "min",
        "s",
        "Jahre",
        "Jahr",
        "Monate",
        "Tage",
        "Std.",
        "岁",
        "年",
        "天",
    ),
)
GAP = "[ \u00a0\u202f]?"


def normalize_numbers(values: pa.Array, decimal: str = POINT, thousands: str = "") -> pa.Array | None:
    """Return numbers with a decimal point and nothing between thousands; None if one is not written so.

    >>> normalize_numbers(pa.array(["1.234,5", "-7", "0,25"]), decimal=",", thousands=".").to_pylist()
    ['1234.5', '-7', '0.25']
    """
    if decimal == POINT and not thousands:
        return values
    if not match_all(values, _number_pattern(decimal, thousands)):
        return None
    bare = pc.replace_substring(values, thousands, "") if thousands else values
    return bare if decimal == POINT else pc.replace_substring(bare, decimal, POINT)


def _number_pattern(decimal: str, thousands: str) -> str:
    grouped = rf"|[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+" if thousands else ""
    return rf"-?(?:[0-9]+{grouped})?(?:{re.escape(decimal)}[0-9]*)?(?:{EXPONENT})?|{INFINITE}"


def format_numbers(texts: pa.Array, decimal: str) -> pa.Array:
    """Write the texts of numbers with another decimal mark."""
    return texts if decimal == POINT else pc.replace_substring(texts, POINT, decimal)


def strip_unit(values: pa.Array, unit: str) -> pa.Array:
    """Take a unit away where it stands after a number, with or without a space.

    >>> strip_unit(pa.array(["70 kg", "71kg", "72"]), "kg").to_pylist()
    ['70', '71', '72']
    """
    return pc.replace_substring_regex(values, rf"(?i){GAP}{re.escape(unit)}\z", "")


def detect_units(values: pa.Array) -> list[str]:
    """Return the known units that numbers are written with; empty unless every text is a number with one.

    >>> detect_units(pa.array(["70 kg", "71 kg"])), detect_units(pa.array(["70 kg", "x"]))
    (['kg'], [])
    """
    number = r"-?[0-9][0-9.,]*"
    any_unit = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
    if not match_all(values, rf"{number}{GAP}(?:{any_unit})"):
        return []
    found = pc.extract_regex(values, rf"\A{number}{GAP}(?P<unit>{any_unit})\z").field(0)
    return sorted(found.unique().to_pylist())


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
    from sfumato._validation import suggest_closest
    from sfumato.errors import SchemaError

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
