"""Well-known orders."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.datasets.hospital import EDUCATION_ORDER
from sfumato.tables.inspection._scales import find_known_order

ORDERS = [
    ["low", "medium", "high"],
    ["none", "mild", "moderate", "severe"],
    ["small", "medium", "large"],
    ["S", "M", "L", "XL"],
    ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    ["January", "February", "March", "April", "May"],
    ["I", "II", "III", "IV"],
    ["Preschool", "1st-4th", "12th", "HS-grad", "Some-college", "Assoc-voc", "Bachelors", "Doctorate"],
    ["High school", "Bachelor's degree", "Master\u2019s degree", "Ph.D."],
    list(EDUCATION_ORDER),
    ["niedrig", "mittel", "hoch"],
    ["klein", "mittel", "groß"],
    ["März", "April", "Mai"],
    ["faible", "moyen", "élevé"],
    ["小学", "初中", "高中", "本科"],
    ["<18", "18-29", "30-64", "65+"],
    ["under 18", "18 to 64", "65 and over"],
    ["[0, 10)", "[10, 20)", "[20, 30)"],
    ["<=10K", "10K-50K", ">50K"],
    ["$0 - $9,999", "$10,000 - $49,999", "$50,000+"],
    ["0.5-1.5", "1.5-2.5", "2.5-10"],
    ["5-9", "10-19", "20-29"],
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order[0])
def test_known_values_are_sorted_however_they_come(order):
    for seed in range(3):
        assert find_known_order(random.Random(seed).sample(order, len(order))) == order


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["low"],
        ["low", "high"],
        ["low", "high", "unknown"],
        ["red", "green", "blue"],
        ["monday", "january", "low"],
        ["30-20", "40-30", "50-40"],
        ["53715", "53703", "90210"],
        ["2020-01", "2020-02", "2020-03"],
        ["F", "M", "X"],
        ["single", "married", "widowed"],
        [f"{i}-{i + 1}" for i in range(101)],
    ],
)
def test_other_values_have_no_known_order(words):
    assert find_known_order(words) is None


def test_two_spellings_of_one_place_stay_side_by_side():
    assert find_known_order(["high", "LOW", "low", "medium"]) == ["LOW", "low", "medium", "high"]


@given(st.lists(st.text() | st.sampled_from(["low", "high", "1-2", "<3", "3+"]), unique=True, max_size=6))
def test_an_order_has_exactly_the_given_words(words):
    order = find_known_order(words)
    assert order is None or sorted(order) == sorted(words)
