"""Proposed roles, rule by rule."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from sfumato.schema.roles import Role
from sfumato.tables.inspection._column_names import find_name_hint
from sfumato.tables.inspection._profiles import profile_column
from sfumato.tables.inspection._roles import propose_role


def propose(name, cells, type_=None):
    return propose_role(profile_column(name, pa.chunked_array([cells], type_)), find_name_hint(name))


def numbered(prefix, count, each=1):
    return [f"{prefix}{i // each}" for i in range(count * each)]


DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(30)]

IDENTIFIERS = {
    "an identifier by name": (
        "email",
        ["x", "y"],
        "column name contains 'email': it identifies or reaches people",
    ),
    "patients with many rows": (
        "patient_id",
        [1, 2] * 50,
        "column name contains 'patientid': it identifies or reaches people",
    ),
    "one person throughout": ("name", ["a"] * 5, "column name contains 'name': it may identify people"),
    "few rows per label": ("visit_id", [1, 2, 3], "column name contains 'id': it may identify people"),
    "persons": ("patient", numbered("p", 9), "column name contains 'patient': it may identify people"),
    "numbers of a known thing": (
        "disease_id",
        list(range(30)),
        "30 of 30 values are distinct: it identifies people",
    ),
    "addresses by their looks": (
        "x",
        [f"a{i}@example.org" for i in range(4)] + ["none"],
        "80% of distinct values look like e-mail addresses",
    ),
    "looks outweigh names": (
        "city",
        ["+49 30 1234567", "+49 30 1234568"],
        "100% of distinct values look like telephone numbers",
    ),
    "short remarks that grades are called like": (
        "note",
        [f"called on {day} of May" for day in range(30)],
        "column name contains 'note': free text may name people",
    ),
    "nearly unique texts": ("x", numbered("a", 20), "20 of 20 values are distinct: it identifies people"),
    "nearly unique numbers": (
        "x",
        [*range(97), 0, 1, 2],
        "97 of 100 values are distinct: it identifies people",
    ),
    "free text by name": (
        "comment",
        ["a", "b"],
        "column name contains 'comment': free text may name people",
    ),
    "free text by length": ("diagnosis", ["a b " * 20, "c d " * 20], "2 of 2 values are distinct"),
    "very long texts": (
        "transcription",
        numbered("a b " * 25, 20, each=5),
        "20 of 100 values are distinct",
    ),
    "boundless texts": ("city", numbered("a rather long name ", 100), "100 of 100 values are distinct"),
    "too many texts": ("city", numbered("c", 10_001, each=2), "10,001 of 20,002 values are distinct"),
}
QUASI = {
    "a demographic name": ("age", [30, 40], "column name contains 'age': others may know it"),
    "a postcode": ("zip", numbered("537", 99), "column name contains 'zip': others may know it"),
    "dates": ("x", DAYS, "dates are also recorded elsewhere"),
    "dates of something secret": ("diagnosis", DAYS, "dates are also recorded elsewhere"),
    "dates as text": (
        "x",
        [day.strftime("%d.%m.%Y") for day in DAYS],
        "100% of distinct values look like dates written as text",
    ),
    "nothing known": (
        "x",
        [0.5, 1.5],
        "nothing shows what it is: a quasi-identifier, to be safe",
    ),
    "a word that tells little": (
        "product_name",
        ["a", "b"] * 50,
        "column name contains 'name', which says little: a quasi-identifier, to be safe",
    ),
    "whether there is an address": (
        "email",
        [True, False],
        "column name contains 'email', which says little: a quasi-identifier, to be safe",
    ),
    "a number of few values": (
        "num",
        [0, 1, 2, 3, 4] * 60,
        "column name contains 'num', which says little: a quasi-identifier, to be safe",
    ),
    "no postcodes": (
        "cp",
        [1, 2, 3, 4] * 30,
        "column name contains 'cp', which says little: a quasi-identifier, to be safe",
    ),
    "addresses that tell town or country": (
        "address",
        ["U", "R"] * 50,
        "column name contains 'address', which says little: a quasi-identifier, to be safe",
    ),
    "one row": ("x", ["a"], "nothing shows what it is: a quasi-identifier, to be safe"),
    "numbers that repeat": (
        "x",
        [*range(94), 0, 1, 2, 3, 4, 5],
        "nothing shows what it is: a quasi-identifier, to be safe",
    ),
    "few unique texts": (
        "x",
        numbered("a", 19),
        "nothing shows what it is: a quasi-identifier, to be safe",
    ),
    "a target of many values": (
        "class",
        numbered("a", 11),
        "column name contains 'class', which says little: a quasi-identifier, to be safe",
    ),
    "one value or none": (
        "x",
        ["a", None],
        "nothing shows what it is: a quasi-identifier, to be safe",
    ),
}
SENSITIVE = {
    "grades": (
        "Note",
        ["1,3", "2,0", "sehr gut"],
        "column name contains 'note': nobody should learn it about a person",
    ),
    "a secret": (
        "disease",
        ["flu", "cold"],
        "column name contains 'disease': nobody should learn it about a person",
    ),
    "a secret of everybody": (
        "hiv",
        ["yes", "yes"],
        "column name contains 'hiv': nobody should learn it about a person",
    ),
    "unique incomes": (
        "income",
        list(range(100)),
        "column name contains 'income': nobody should learn it about a person",
    ),
    "what happens in a period": (
        "default payment next month",
        [0, 1],
        "column name contains 'payment': nobody should learn it about a person",
    ),
    "whether something happened in a period": (
        "default month",
        [0, 1],
        "column name contains 'default': nobody should learn it about a person",
    ),
    "costs that few records share": (
        "cost",
        [0.5, 1.5],
        "column name contains 'cost': nobody should learn it about a person",
    ),
    "a target": ("class", ["a", "b"], "column name contains 'class': it is what others want to predict"),
}
INSENSITIVE = {
    "one value": ("x", ["a", "a"], "all records share one value: it separates nobody"),
    "one town": ("city", ["a", "a"], "all records share one value: it separates nobody"),
    "amounts": ("cost", [0.5, 1.5] * 9, "column name contains 'cost': an amount that others rarely know"),
}


@pytest.mark.parametrize(
    ("role", "name", "cells", "reason"),
    [
        pytest.param(role, *case, id=f"{role}: {title}")
        for role, cases in zip(Role, (IDENTIFIERS, QUASI, SENSITIVE, INSENSITIVE), strict=True)
        for title, case in cases.items()
    ],
)
def test_a_column_gets_the_role_that_its_clues_tell(role, name, cells, reason):
    found = propose(name, cells)
    assert found.role is role
    assert found.reasons[0] == reason


@pytest.mark.parametrize("name", ["x", "age", "disease", "cost"])
def test_a_column_without_values_is_insensitive(name):
    assert propose(name, [None, None], pa.string()) == (Role.INSENSITIVE, ("no record has a value",))


def test_an_identifier_without_values_stays_one():
    assert propose("email", [None, None], pa.string()).role is Role.IDENTIFIER


def test_amounts_as_text_are_not_trusted():
    assert propose("cost", ["low", "high"]).role is Role.QUASI


@pytest.mark.parametrize("name", ["cost", "income"])
def test_unique_values_that_are_published_come_with_a_warning(name):
    reasons = propose(name, [i + 0.5 for i in range(30)]).reasons
    assert reasons[1].startswith("30 of 30 values are distinct: anyone who knows one finds the record")
    assert len(propose(name, [i % 3 + 0.5 for i in range(30)]).reasons) == 1


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([1, 1, 2, 2], "2 distinct values separate 66% of all pairs of records"),
        ([1, None], "1 distinct value separates 100% of all pairs of records"),
    ],
)
def test_a_quasi_identifier_says_how_far_it_separates(cells, reason):
    assert propose("age", cells).reasons[-1] == reason
