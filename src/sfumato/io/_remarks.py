"""What looks odd in a column of texts, in one sentence each, and never with a cell in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.io._conventions import COMMA, ISO, POINT, USUAL_FORMATS, DateFormat, detect_units
from sfumato.io._type_inference import match_all, parse_narrowest, parse_numbers
from sfumato.io._values import is_metric_type

EITHER = r"-?[0-9]+(?:[.,][0-9]+)?"
MAX_NAMED = 3
SHORT_DAYS = {"dd.mm.yy": r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2}", "mm/dd/yy": r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}"}
SHORTEST_CODE = 4  # digits


def remark_on_texts(name: str, values: pa.Array) -> list[str]:
    """Say what looks odd in a column of texts, given its distinct ones: at most one sentence.

    >>> remark_on_texts("weight", pa.array(["70 kg", "71 kg"]))[0][:47]
    "Column 'weight' has numbers with a unit, and is"
    """
    if not len(values):
        return []
    for look in (_remark_on_numbers, _remark_on_decimal_marks, _remark_on_dates, _remark_on_units):
        sentence = look(name, values)
        if sentence is not None:
            return [sentence]
    return []


def _remark_on_numbers(name: str, values: pa.Array) -> str | None:
    if parse_numbers(values) is None or _look_like_codes(values):
        return None
    return (
        f"Column {name!r} holds numbers stored as text; if they are no codes, read them with"
        f" column_types={{{name!r}: 'number'}}."
    )


def _look_like_codes(values: pa.Array) -> bool:
    """Return whether all texts have as many digits, as postcodes have."""
    lengths = pc.min_max(pc.utf8_length(values)).as_py()
    return bool(match_all(values, r"[0-9]+") and lengths["min"] == lengths["max"] >= SHORTEST_CODE)


def _remark_on_decimal_marks(name: str, values: pa.Array) -> str | None:
    both = match_all(values, EITHER) and all(
        pc.any(pc.match_substring(values, mark)).as_py() for mark in (COMMA, POINT)
    )
    if not both:
        return None
    return (
        f"Column {name!r} has decimal commas and decimal points, and is read as text; correct it, or keep it with"
        f" {_advice_as_text(name)}."
    )


def _remark_on_dates(name: str, values: pa.Array) -> str | None:
    for short, pattern in SHORT_DAYS.items():
        if match_all(values, pattern):
            return (
                f"Column {name!r} has days with two digits for the year, and is read as text; if these are years from"
                f" 1930 to 2029, pass date_format={short!r}, otherwise write four digits."
            )
    formats = _matching_date_formats(values)
    if len(formats) > 1:
        how = f"date:{'|'.join(formats)}"
        return (
            f"Column {name!r} has dates in {len(formats)} formats, {' and '.join(formats)}, and is read as text; read"
            f" all with column_types={{{name!r}: {how!r}}}, or correct it."
        )
    if formats and parse_narrowest(values) is None and not list_fitting_date_formats(values):
        return (
            f"Column {name!r} has days written {formats[0]} that no calendar has, and is read as text; correct it, or"
            f" keep it with {_advice_as_text(name)}."
        )
    return None


def _matching_date_formats(values: pa.Array) -> list[str]:
    """Return the fewest usual formats that all texts have the shape of; none if there are other texts."""
    known = {form: re.sub(r"\(\?P<[a-z]+>", "(?:", DateFormat(form).pattern) for form in (ISO, *USUAL_FORMATS)}
    if not match_all(values, "|".join(known.values())):
        return []
    left, found = values, []
    while len(left):
        fits = {form: pc.match_substring_regex(left, rf"\A(?:{pattern})\z") for form, pattern in known.items()}
        best = max(fits, key=lambda form: pc.sum(fits[form]).as_py())
        found.append(best)
        left = left.filter(pc.invert(fits[best]))
    return found


def list_fitting_date_formats(values: pa.Array) -> list[str]:
    """Return the usual formats that fit all texts, without leading zeros where some have none.

    >>> list_fitting_date_formats(pa.array(["31.12.2024", "1.2.2024"]))
    ['d.m.yyyy']
    """
    shortest = pc.min(pc.utf8_length(values)).as_py()
    fitting = [form for form in USUAL_FORMATS if DateFormat(form).fits(values)]
    return [form if shortest >= len(form) else form.replace("mm", "m").replace("dd", "d") for form in fitting]


def _remark_on_units(name: str, values: pa.Array) -> str | None:
    units = detect_units(values)
    if not units:
        return None
    if len(units) > 1:
        return f"Column {name!r} has numbers with {len(units)} units, and is read as text; bring them to one unit."
    how = f"number:{units[0]}"
    return (
        f"Column {name!r} has numbers with a unit, and is read as text; read the numbers with"
        f" column_types={{{name!r}: {how!r}}}."
    )


def _advice_as_text(name: str) -> str:
    return f"column_types={{{name!r}: 'text'}}"


def subject_with_have(names: Sequence[str]) -> str:
    """Begin a sentence about columns.

    >>> subject_with_have(["height"]), subject_with_have(["a", "b", "c", "d", "e"])
    ("Column 'height' has", "Columns 'a', 'b', 'c' and 2 more have")
    """
    if len(names) == 1:
        return f"Column {names[0]!r} has"
    shown = [repr(name) for name in names[:MAX_NAMED]]
    last = f"{len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else shown.pop()
    return f"Columns {', '.join(shown)} and {last} have"


def subject_with_read(names: Sequence[str]) -> str:
    """Go on with a sentence about columns."""
    return "is read" if len(names) == 1 else "are read"


# Totals below the last record, which would be taken for a person.

MIN_RECORDS = 3
WORDS = (
    r"(?i)\A\W*(?:grand )?(?:total|totals|sum|subtotal|summe|gesamt|insgesamt|zusammen|gesamtsumme|summa|somme|suma"
    r"|totale|totaal|合计|总计|总和|共计|小计)\W*\z"
)


def detect_total_row(table: pa.Table) -> list[str]:
    """Say that the last row seems to be a total: it is named so, or has sums and nothing else.

    >>> detect_total_row(pa.table({"name": ["Eve", "Bob", "Ann", None], "cost": [1, 2, 3, 6]}))[0][:42]
    'The last row seems to hold totals, no reco'
    """
    records = table.num_rows - 1
    if records < MIN_RECORDS:
        return []
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    numbers = [
        column for column in table.columns if is_metric_type(column.type) and not pa.types.is_temporal(column.type)
    ]
    named = any(_is_labeled_total(column, records) for column in texts)
    bare = texts and all(not column[records].is_valid for column in texts)
    if not named and not (bare and any(_is_sum(column, records) for column in numbers)):
        return []
    return ["The last row seems to hold totals, no record; leave it out with skip_last=1."]


def _is_labeled_total(column: pa.ChunkedArray, records: int) -> bool:
    last, others = column.slice(records), column.slice(0, records)
    if not pc.any(pc.match_substring_regex(last, WORDS)).as_py():
        return False
    return not pc.any(pc.match_substring_regex(others.unique(), WORDS)).as_py()


def _is_sum(column: pa.ChunkedArray, records: int) -> bool:
    last, total = column[records].as_py(), pc.sum(column.slice(0, records).cast(pa.float64(), safe=False)).as_py()
    return bool(last and total and abs(last - total) <= abs(total) * 1e-9)
