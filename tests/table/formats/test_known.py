"""The one table of formats: what it says is what is done, on the page, on the command line and in code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io.formats import (
    FORMATS,
    READ_OPTIONS,
    WRITE_OPTIONS,
    Format,
    check_options,
    resolve_format,
    resolve_release_format,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "reading-and-writing.md"
MARKS = [(form, mark) for form in FORMATS.values() for mark in (*form.suffixes, *(f"{s}://" for s in form.schemes))]


def nothing(*_: object) -> None:
    """Read or write nothing."""


def made(**given: object) -> Format:
    return Format(**{"name": "made", "kind": "a made file", "suffixes": (".made",), "read": nothing, **given})


def cells(row: str) -> list[list[str]]:
    return [re.findall(r"`([^`]*)`", cell) for cell in row.strip("|").split("|")]


def test_the_page_shows_the_table():
    rows = [cells(line) for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| `\w+` \|", line)][
        : len(FORMATS)
    ]
    assert [name for (name,), *_ in rows] == list(FORMATS)
    for (name,), marks, reading, writing, needs in rows:
        form = FORMATS[name]
        assert tuple(marks) == form.suffixes or marks[0].startswith(f"{form.schemes[0]}://")
        assert tuple(reading) == form.read_options
        assert tuple(writing) == form.write_options
        assert needs == ([f"sfumato[{form.extra}]"] if form.extra else [])


@pytest.mark.parametrize(("form", "mark"), MARKS, ids=[mark for _, mark in MARKS])
def test_a_format_is_found_by_each_of_its_marks(form, mark):
    sources = [f"{mark}host/x", f"{mark.upper()}host/x"] if form.schemes else [f"a.b{mark}", Path(f"A{mark.upper()}")]
    assert [resolve_format(source, ReadError) for source in sources] == [form, form]


def test_the_options_of_all_formats_are_those_of_read_and_write():
    assert {option for form in FORMATS.values() for option in form.read_options} == set(READ_OPTIONS)
    assert {option for form in FORMATS.values() for option in form.write_options} == set(WRITE_OPTIONS)


def test_options_that_were_not_given_are_left_to_the_format():
    given = {"separator": None, "encoding": "utf-8", "missing": ()}
    assert check_options(FORMATS["csv"], "read", given) == {"encoding": "utf-8", "missing": ()}
    assert check_options(FORMATS["parquet"], "write", {"excel_safe": False}) == {}


@pytest.mark.parametrize("name", ["ods", "sqlite", "", None, ["csv"]])
def test_a_release_is_written_in_a_format_of_files(name):
    assert resolve_release_format("xlsx") is FORMATS["xlsx"]
    assert resolve_release_format("csv", excel_safe=True) is FORMATS["csv"]
    with pytest.raises(InvalidParameterError, match=r"^write\.excel_safe must be left out unless"):
        resolve_release_format("parquet", excel_safe=True)
    with pytest.raises(InvalidParameterError, match=r"^write\.table_format must be one of csv, parquet, xlsx; got "):
        resolve_release_format(name)


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"name": ""}, "name"),
        ({"suffixes": ("made",)}, "suffixes"),
        ({"suffixes": ".made"}, "suffixes"),
        ({"suffixes": (".MADE",)}, "suffixes"),
        ({"suffixes": ()}, "suffixes"),
        ({"schemes": ("made",)}, "suffixes"),
        ({"read_options": ("excel_safe",)}, "read_options"),
        ({"write_options": ("sheet",)}, "write_options"),
        ({"read": None}, "read"),
    ],
)
def test_a_format_that_cannot_work_is_refused(given, refused):
    assert made().name == "made"
    with pytest.raises(InvalidParameterError, match=rf"^Format\.{refused} must be "):
        made(**given)
