"""Find out how numbers and days are written, and say what looks odd; never with a cell in the sentence.

A convention is adopted only if nothing speaks against it, and it is always told. What is doubtful is told, and left as
text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato.io._column_types import parse_by_conventions
from sfumato.io._conventions import COMMA, POINT, THOUSANDS, Conventions, normalize_numbers
from sfumato.io._remarks import list_fitting_date_formats, remark_on_texts, subject_with_have, subject_with_read
from sfumato.io._type_inference import EXPONENT, match_all, parse_narrowest, parse_numbers
from sfumato.io.formats import FileFindings

FRACTION = r"[0-9]+"
CONTINENTAL = rf"-?(?:[0-9]+|[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})+)?(?:,{FRACTION})?(?:{EXPONENT})?"
ENGLISH = rf"-?(?:[0-9]+|[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+)?(?:\.{FRACTION})?(?:{EXPONENT})?"
Parsed: TypeAlias = Mapping[str, pa.Array | None]
GROUPS = r"-?[1-9][0-9]{0,2}(?:\.[0-9]{3})*"


class DetectedConventions(NamedTuple):
    """Conventions with what was found out, and a sentence for everything that the owner should know.

    `parsed` are the columns that no type is given for, as everybody would read them: None where they are texts so.
    """

    conventions: Conventions
    remarks: tuple[str, ...]
    parsed: Parsed


def detect_conventions(columns: Mapping[str, pa.Array], given: Conventions) -> DetectedConventions:
    """Complete the conventions of a table.

    Parameters
    ----------
    columns : the distinct texts of every column, without spellings of a missing value.
    given : what is known; only what is None is found out.
    """
    open_ = {name: values for name, values in columns.items() if len(values) and name not in given.column_types}
    plainly = dict(
        zip(open_, map_in_threads(parse_narrowest, open_.values(), sum(map(len, open_.values()))), strict=True)
    )
    numbers, said = _detect_numbers(open_, given, plainly)
    left = _text_columns(open_, numbers, plainly)
    found, more = _detect_dates(left, numbers)
    if found != numbers:
        left = _text_columns(left, found, plainly)
    odd = (remark for name in left for remark in remark_on_texts(name, left[name]))
    return DetectedConventions(found, (*said, *more, *odd), plainly)


def add_findings(found: DetectedConventions, given: Conventions, findings: FileFindings) -> None:
    """Note what was found out and is used, and what is odd."""
    for name in ("decimal", "thousands", "date_format", "column_types"):
        settled = getattr(found.conventions, name)
        if settled != getattr(given, name):
            findings.options[name] = settled
    findings.remarks += found.remarks


def _text_columns(columns: Mapping[str, pa.Array], conventions: Conventions, plainly: Parsed) -> dict[str, pa.Array]:
    """Return the columns that stay texts."""

    def stays(name: str) -> bool:
        return parse_by_conventions(columns[name], conventions, lambda _: plainly[name]) is None

    return {name: columns[name] for name in columns if stays(name)}


def _detect_numbers(
    columns: Mapping[str, pa.Array], given: Conventions, plainly: Parsed
) -> tuple[Conventions, list[str]]:
    if given.decimal is not None and given.thousands is not None:
        return given, []
    texts = {name: values for name, values in columns.items() if plainly[name] is None}
    continental = {name for name, values in texts.items() if _is_number(values, CONTINENTAL, COMMA, POINT)}
    english = {name for name, values in texts.items() if _is_number(values, ENGLISH, POINT, COMMA)}
    commas, groups, doubtful = continental - english, english - continental, continental & english
    if given.decimal != POINT and commas:
        return _adopt_decimal_commas(columns, given, sorted(commas | doubtful, key=list(columns).index))
    if given.decimal != COMMA and groups and given.thousands is None:
        names = sorted(groups | doubtful, key=list(columns).index)
        confirmed = f"commas between thousands and {subject_with_read(names)} as numbers; confirm it with thousands=','"
        return replace(given, decimal=POINT, thousands=COMMA), [f"{subject_with_have(names)} {confirmed}."]
    said = []
    if doubtful and given.decimal is None and given.thousands is None:
        names = sorted(doubtful, key=list(columns).index)
        doubt = f"commas that may be decimal marks or stand between thousands, and {subject_with_read(names)} as text"
        said = [f"{subject_with_have(names)} {doubt}; pass decimal=',' or thousands=','."]
    return _adopt_thousands_marks(texts, given, said)


def _adopt_decimal_commas(
    columns: Mapping[str, pa.Array], given: Conventions, commas: Sequence[str]
) -> tuple[Conventions, list[str]]:
    """Adopt decimal commas, unless other columns have decimal points."""
    real = [name for name, values in columns.items() if _has_points(values)]
    pointed = [name for name in real if not match_all(columns[name], GROUPS)]
    if pointed and given.decimal is None:
        doubt = f"decimal commas, and so {subject_with_read(commas)} as text, but other columns have decimal points"
        return given, [
            f"{subject_with_have(commas)} {doubt}; pass decimal=',' to read the former, or decimal='.' to keep them."
        ]
    grouped = [name for name in (*commas, *real) if pc.any(pc.match_substring(columns[name], POINT)).as_py()]
    said = []
    if given.decimal is None:
        confirmed = f"decimal commas and {subject_with_read(commas)} as numbers; confirm it with decimal=','"
        said.append(f"{subject_with_have(commas)} {confirmed}.")
    if not grouped or given.thousands is not None:
        return replace(given, decimal=COMMA), said
    said.append(f"{subject_with_have(grouped)} points between thousands; confirm it with thousands='.'.")
    return replace(given, decimal=COMMA, thousands=POINT), said


def _adopt_thousands_marks(
    texts: Mapping[str, pa.Array], given: Conventions, said: list[str]
) -> tuple[Conventions, list[str]]:
    """Find spaces and apostrophes between thousands."""
    for mark in THOUSANDS[2:] if given.thousands is None else ():
        for decimal in (COMMA, POINT) if given.decimal is None else (given.decimal,):
            names = [name for name, values in texts.items() if _is_number(values, r".*", decimal, mark, having=mark)]
            if names:
                what = "apostrophes" if mark in "'\u2019" else "spaces"
                marks = f"thousands={mark!r} and decimal={decimal!r}"
                told = (
                    f"{subject_with_have(names)} {what} between thousands and {subject_with_read(names)} "
                    f"as numbers; confirm it with {marks}."
                )
                return replace(given, decimal=decimal, thousands=mark), [*said, told]
    return given, said


def _is_number(values: pa.Array, pattern: str, decimal: str, thousands: str, having: str = COMMA) -> bool:
    if not match_all(values.slice(0, 1), pattern) or not pc.any(pc.match_substring(values, having)).as_py():
        return False
    bare = normalize_numbers(values, decimal, thousands) if match_all(values, pattern) else None
    return bare is not None and parse_numbers(bare) is not None


def _has_points(values: pa.Array) -> bool:
    return parse_numbers(values) is not None and bool(pc.any(pc.match_substring(values, POINT)).as_py())


def _detect_dates(columns: Mapping[str, pa.Array], given: Conventions) -> tuple[Conventions, list[str]]:
    """Find the format of days; that of most columns is the file's, and others are given to their columns."""
    if given.date_format is not None:
        return given, []
    found = {name: list_fitting_date_formats(values) for name, values in columns.items()}
    sure = {name: formats[0] for name, formats in found.items() if len(formats) == 1}
    doubtful = {name: formats for name, formats in found.items() if len(formats) > 1}
    usual = max(sure.values(), key=list(sure.values()).count) if sure else None
    said = []
    for name in [each for each, formats in doubtful.items() if usual in formats]:
        sure[name] = str(usual)
        del doubtful[name]
    others = {name: f"date:{form}" for name, form in sure.items() if form != usual}
    if usual is not None:
        names = [name for name in sure if name not in others]
        confirmed = f"confirm it with date_format={usual!r}"
        said.append(
            f"{subject_with_have(names)} dates written {usual} and {subject_with_read(names)} as dates; {confirmed}."
        )
    for name, how in others.items():
        confirmed = f"confirm it with column_types={{{name!r}: {how!r}}}"
        said.append(f"{subject_with_have([name])} dates written {how[5:]} and is read as dates; {confirmed}.")
    for name, formats in doubtful.items():
        doubt = "dates in which day and month cannot be told apart, and is read as text"
        said.append(
            f"{subject_with_have([name])} {doubt}; pass {' or '.join(f'date_format={each!r}' for each in formats)}."
        )
    if usual is None:
        return given, said
    return replace(given, date_format=usual, column_types={**given.column_types, **others}), said
