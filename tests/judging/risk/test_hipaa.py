"""The HIPAA safe harbor: 18 identifiers by names and looks, ZIP codes, dates, ages, and what nobody can automate."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

from sfumato.io._dataframes import to_canonical
from sfumato.tables.inspection._column_names import WORDS
from sfumato.tables.risk._hipaa import ADDRESSES, IDENTIFIERS, LABELS, check_safe_harbor, identifying_columns

DAY = date(2026, 1, 1)
PEOPLE = {"537": 300_000, "036": 15_000}


def judged(columns, **options):
    return check_safe_harbor(to_canonical(pa.table(columns)), as_of=DAY, **options)


def verdict(letter, columns, **options):
    """Sum up the findings of one letter: False if any failed, None if any is open."""
    found = judged(columns, **options)
    mine = [finding.passed for finding in found.findings if finding.name.startswith(f"({letter})")]
    return False if False in mine else None if None in mine else True


def test_a_harmless_table_passes_all_but_knowledge():
    found = judged({"sex": ["f", "m"] * 20, "state": ["WI", "MN"] * 20, "year": [2020, 2021] * 20})
    assert found.failed == ()
    assert [finding.name for finding in found.open] == ["no actual knowledge"]
    assert len(found.findings) == 18 + 1 + 1  # dates and ages are one letter, and knowledge is none
    assert "no actual knowledge" in found.limits


def test_every_word_is_one_that_column_names_are_read_by():
    known = {word.removeprefix("=") for words in WORDS.values() for word in words.split()}
    ours = [word for each in IDENTIFIERS for word in each.words.split()]
    assert set(ours) <= known
    assert len(set(ours)) == len(ours)
    assert known >= ADDRESSES | LABELS
    assert [each.letter for each in IDENTIFIERS] == list("ABCDEFGHIJKLMNOPQR")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("last_name", "A"),
        ("Name", "A"),
        ("street", "B"),
        ("city", "B"),
        ("phone", "D"),
        ("Telefon", "D"),
        ("fax", "E"),
        ("email", "F"),
        ("email_address", "F"),
        ("ssn", "G"),
        ("MRN", "H"),
        ("patient_id", "H"),
        ("insurance_number", "I"),
        ("account", "J"),
        ("license_number", "K"),
        ("license_plate", "L"),
        ("serial_number", "M"),
        ("website", "N"),
        ("ip_address", "O"),
        ("fingerprint", "P"),
        ("photo", "Q"),
        ("passport", "R"),
        ("employee_id", "R"),
    ],
)
def test_identifiers_are_found_by_the_names_of_columns(name, letter):
    columns = {name: [f"x{i % 7}" for i in range(30)], "sex": ["f", "m"] * 15}
    assert verdict(letter, columns) is False
    others = [each.letter for each in IDENTIFIERS if each.letter != letter]
    assert [other for other in others if verdict(other, columns) is False] == []


@pytest.mark.parametrize(
    ("cell", "letter"),
    [
        ("ann{}@example.org", "F"),
        ("https://example.org/{}", "N"),
        ("10.0.0.{}", "O"),
        ("123-45-67{:02}", "G"),
        ("00:1B:44:11:3A:{:02}", "M"),
        ("+49 30 12345{:02}", "D"),
    ],
)
def test_identifiers_are_found_by_the_looks_of_values(cell, letter):
    assert verdict(letter, {"x17": [cell.format(i) for i in range(30)]}) is False


def test_values_that_hardly_repeat_are_another_unique_code():
    assert verdict("R", {"x17": [f"k{i:05}" for i in range(100)]}) is False


def test_free_text_is_open():
    notes = [f"patient number {i} came in and said that it hurts a lot" for i in range(40)]
    assert verdict("A", {"remarks": notes}) is None


def test_columns_that_show_nothing_pass():
    assert verdict("D", {"phone": ["*", "*", "*"], "fax": pa.array([None, None, None], pa.string())}) is True


def test_a_flag_that_only_tells_of_a_number_passes():
    assert verdict("D", {"has_phone": [True, False]}) is True


@pytest.mark.parametrize(
    ("cells", "options", "expected"),
    [
        (["53715", "53703"], {}, False),
        (["53715-1234", "*"], {"zip3_population": PEOPLE}, False),
        (["537**", "537"], {}, None),
        (["537**", "537"], {"zip3_population": PEOPLE}, True),
        (["036**", "537**"], {"zip3_population": PEOPLE}, False),
        (["999**", "537**"], {"zip3_population": PEOPLE}, False),
        (["000", "000**"], {}, True),
        (["53***", "*"], {}, True),
        ([53715, 2139], {"zip3_population": PEOPLE}, False),
    ],
)
def test_zip_codes_keep_three_digits_where_enough_people_live(cells, options, expected):
    assert verdict("B", {"zip": cells}, **options) is expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([date(2020, 5, 1), date(2021, 5, 1)], False),
        (["2020-05-01", "2021-05-01"], False),
        (["12/31/2020", "01/02/2021"], False),
        (["2020-05", "2021"], False),
        (["[2020-05-01, 2020-06-01)", "*"], False),
        (["[2020-01-01, 2021-01-01)", "[2021-01-01, 2022-01-01)"], True),
        (["2020", "2021"], True),
        ([2020, 2021], True),
    ],
)
def test_dates_keep_the_year(cells, expected):
    assert verdict("C", {"admission": cells}) is expected


def test_parts_of_dates_are_open():
    assert verdict("C", {"birth_month": [1, 2, 3]}) is None


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([30, 89], True),
        ([30, 90], None),
        ([30, 91], False),
        ([90, 91], False),
        (["[80, 90)", "[30, 40)"], True),
        (["[85, 95)", "[30, 40)"], None),
        (["[85, 95)", "[90, 100)"], False),
        ([">=90", "30-40"], True),
        (["90+", "30-40"], True),
        (["*", "30"], True),
    ],
)
def test_ages_over_89_are_told_together(cells, expected):
    assert verdict("C", {"age": cells}) is expected


@pytest.mark.parametrize(("year", "expected"), [(1936, False), (1937, True), (1990, True)])
def test_years_of_birth_do_not_tell_ages_over_89(year, expected):
    assert verdict("C", {"birth_year": [year, 1980]}) is expected


def test_no_finding_tells_a_cell():
    columns = {"name": ["Canaria"] * 3, "zip": ["73737"] * 3, "age": [97] * 3, "mail": ["canary@nest.org"] * 3}
    found = judged(columns)
    text = repr(found) + str(found.to_dict()) + found._repr_html_()
    assert len(found.failed) == 4
    assert not any(cell in text for cell in ("Canaria", "73737", "97", "canary"))


def test_columns_that_tell_persons_are_listed_without_places():
    table = pa.table({"email": ["a@b.org"], "city": ["x"], "sex": ["f"]})
    assert identifying_columns(table) == ("email",)
