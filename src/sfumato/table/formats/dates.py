"""Dates as offices write them: `dd.mm.yyyy`, `mm/dd/yyyy`, `yyyy年m月d日`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.formats.inference import CLOCK, cast_or_none, match_all, moments
from sfumato.validation import require

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
