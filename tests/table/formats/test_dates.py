"""Dates as offices write them, against the calendar of Python."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.io._conventions import ISO, USUAL_FORMATS, DateFormat
from sfumato.io._reading import read_with_findings

PYTHON = {"yyyy": "%Y", "mm": "%m", "dd": "%d"}
DAYS = st.lists(st.dates(min_value=date(1000, 1, 1)), min_size=1, max_size=5, unique=True)


def python_format(written: str) -> str:
    for part, code in PYTHON.items():
        written = written.replace(part, code)
    return written


@given(DAYS, st.sampled_from((ISO, *USUAL_FORMATS)))
def test_days_are_read_and_written_as_python_does(days, written):
    texts = [day.strftime(python_format(written)) for day in days]
    form = DateFormat(written)
    assert form.read(pa.array(texts)).to_pylist() == days
    assert form.write(pa.array([day.isoformat() for day in days])).to_pylist() == texts


@given(DAYS, st.sampled_from(["d.m.yyyy", "yyyy年m月d日", "m/d/yyyy"]))
def test_leading_zeros_can_be_left_out(days, written):
    form = DateFormat(written)
    texts = form.write(pa.array([day.isoformat() for day in days]))
    assert not any(part.startswith("0") for text in texts.to_pylist() for part in text.replace("年", ".").split("."))
    assert form.read(texts).to_pylist() == days


def test_a_time_may_follow_a_day():
    form = DateFormat("dd.mm.yyyy")
    read = form.read(pa.array(["31.12.2024 10:30", "01.01.2025"]))
    assert read.to_pylist() == [datetime(2024, 12, 31, 10, 30), datetime(2025, 1, 1)]  # noqa: DTZ001 - as in a file
    assert form.write(pa.array(["2024-12-31T10:30:00"])).to_pylist() == ["31.12.2024 10:30:00"]


@pytest.mark.parametrize("odd", ["31.02.2024", "2024-12-31", "1.1.24", "31.12.2024 25:00", "x", ""])
def test_what_is_no_day_of_the_format_makes_all_of_them_texts(odd):
    assert DateFormat("dd.mm.yyyy").read(pa.array(["01.01.2024", odd])) is None


@pytest.mark.parametrize("written", ["", "dd.mm", "dd.mm.y", "dd.mm.yyyy.dd", "%d.%m.%Y", "ddd.mm.yyyy", None])
def test_a_format_names_year_month_and_day_once(written):
    with pytest.raises(InvalidParameterError, match=r"date_format must be made of yyyy \(or yy\), mm"):
        DateFormat(written)


@given(st.lists(st.dates(date(1930, 1, 1), date(2029, 12, 31)), min_size=1))
def test_two_digits_are_years_from_1930_to_2029_and_written_as_four(days):
    form = DateFormat("dd.mm.yy")
    assert form.read(pa.array([day.strftime("%d.%m.%y") for day in days])).to_pylist() == days
    written = form.write(pa.array([day.isoformat() for day in days]))
    assert DateFormat(form.four_digits).read(written).to_pylist() == days


def test_two_digits_are_told_and_not_guessed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("born,n\n" + "".join(f"{day:02d}.03.6{day % 10},1\n" for day in range(1, 20)))
    assert read_with_findings(path, {}).table["born"].type == pa.string()
    assert "two digits for the year" in read_with_findings(path, {}).remarks[0]
    assert read_with_findings(path, {"date_format": "dd.mm.yy"}).table["born"].to_pylist()[0] == date(1961, 3, 1)
