"""Labels have one text each, and a publication knows who is left out."""

from __future__ import annotations

from datetime import date, datetime
from math import inf

import numpy as np
import pytest

from sfumato.encoding.coded_table import CodedTable
from sfumato.tables.published.solution import (
    NOT_PUBLISHED,
    Center,
    Exact,
    Interval,
    MissingCell,
    Node,
    RecodedAttribute,
    Suppressed,
    TableSolution,
    ValueSet,
)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (Exact(39), "39"),
        (Exact(39.0), "39"),
        (Exact("a b"), "a b"),
        (Exact(True), "true"),  # noqa: FBT003 - a cell
        (Exact(date(2024, 2, 29)), "2024-02-29"),
        (Center(0.5), "0.5"),
        (Interval(20, 30), "[20, 30]"),
        (Interval(20, 30, high_closed=False), "[20, 30)"),
        (Interval(-1.5, 2, low_closed=False), "(-1.5, 2]"),
        (Interval(-inf, 2, low_closed=False), "(-inf, 2]"),
        (Interval("low", "high"), "[low, high]"),
        (Interval(date(2024, 1, 1), date(2024, 2, 1)), "[2024-01-01, 2024-02-01]"),
        (Interval(datetime(2024, 1, 1), datetime(2024, 1, 1, 12)), "[2024-01-01T00:00:00, 2024-01-01T12:00:00]"),  # noqa: DTZ001 - naive
        (Node("537**"), "537**"),
        (ValueSet(("flu", "cold")), "{flu, cold}"),
        (ValueSet(("a, b", 'say "ah"', "{x}", " y", "")), '{"a, b", "say ""ah""", "{x}", " y", ""}'),
        (ValueSet(()), "{}"),
        (MissingCell(), None),
        (Suppressed(), "*"),
    ],
)
def test_every_label_has_one_text(label, text):
    assert label.text == text


def test_equal_labels_are_one_label():
    assert {Exact(1), Exact(1), Suppressed(), Suppressed(), MissingCell(), Node("*")} == {
        Exact(1),
        Suppressed(),
        MissingCell(),
        Node("*"),
    }


def test_a_publication_counts_who_is_left_out():
    group = np.array([0, NOT_PUBLISHED, 1, NOT_PUBLISHED], dtype=np.int32)
    weights = np.array([1, 5, 2, 2**40])
    assert TableSolution(group, {}).suppressed(CodedTable(4, (), ())) == 2
    assert TableSolution(group, {}).suppressed(CodedTable(2**40 + 8, (), (), weights=weights)) == 2**40 + 5
    assert TableSolution(np.zeros(4, dtype=np.int32), {}).suppressed(CodedTable(4, (), ())) == 0


def test_a_publication_does_not_show_its_labels():
    recoded = RecodedAttribute([Exact("secret")], np.zeros(1, dtype=np.int32))
    publication = TableSolution(np.zeros(1, dtype=np.int32), {"age": recoded})
    assert "secret" not in repr(publication) + repr(recoded)
