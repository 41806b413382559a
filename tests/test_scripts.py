"""The scripts that check the project: what they print, and where they fail."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture(scope="module")
def coverage_by_room():
    return runpy.run_path(str(SCRIPTS / "coverage_by_room.py"))


@pytest.mark.parametrize(
    ("whole", "single", "said"),
    [
        (80, {}, []),
        (80.1, {}, ["The tests reach 80.0 % of total, and 80.1 % is the floor in pyproject.toml."]),
        (80, {"models": 90}, []),
        (80, {"models": 91}, ["The tests reach 90.0 % of models, and 91 % is the floor in pyproject.toml."]),
    ],
)
def test_every_room_is_listed_and_a_floor_that_is_not_reached_is_named(coverage_by_room, whole, single, said):
    reach = coverage_by_room["Reach"]
    rooms = {"models": reach(60, 40, 60, 30), "table": reach(80, 20, 60, 10)}
    text, broken = coverage_by_room["table"](rooms, whole, single)
    assert [line.split()[:5] for line in text.splitlines()[1:]] == [
        ["models", "60", "40", "10", "90.0"],
        ["table", "80", "20", "10", "70.0"],
        ["total", "140", "60", "20", "80.0"],
    ]
    assert broken == said


def test_a_share_is_never_rounded_up(coverage_by_room):
    assert coverage_by_room["Reach"](999, 1001, 999, 1000).percent == 99.9


def test_the_test_command_measures_coverage_and_ends_below_the_floor(coverage_by_room):
    whole, single = coverage_by_room["floors"]()
    assert whole >= 90
    assert all(floor > whole for floor in single.values())
    _, _, after = (SCRIPTS / "test").read_text("utf-8").partition("\npytest -n 2 --dist loadfile --cov ")
    assert "\npython scripts/coverage_by_room.py\n" in after
