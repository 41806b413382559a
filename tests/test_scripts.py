"""The scripts that check the project: what they print, and where they fail."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture(scope="module")
def coverage_by_package():
    return runpy.run_path(str(SCRIPTS / "coverage_by_package.py"))


@pytest.fixture(scope="module")
def long_run():
    return runpy.run_path(str(SCRIPTS / "long-run"))


@pytest.mark.parametrize(
    ("whole", "single", "said"),
    [
        (80, {}, []),
        (80.1, {}, ["The tests reach 80.0 % of total, and 80.1 % is the floor in pyproject.toml."]),
        (80, {"models": 90}, []),
        (80, {"models": 91}, ["The tests reach 90.0 % of models, and 91 % is the floor in pyproject.toml."]),
    ],
)
def test_every_package_is_listed_and_a_floor_that_is_not_reached_is_named(coverage_by_package, whole, single, said):
    reach = coverage_by_package["Reach"]
    packages = {"models": reach(60, 40, 60, 30), "table": reach(80, 20, 60, 10)}
    text, broken = coverage_by_package["table"](packages, whole, single)
    assert [line.split()[:5] for line in text.splitlines()[1:]] == [
        ["models", "60", "40", "10", "90.0"],
        ["table", "80", "20", "10", "70.0"],
        ["total", "140", "60", "20", "80.0"],
    ]
    assert broken == said


def test_a_share_is_never_rounded_up(coverage_by_package):
    assert coverage_by_package["Reach"](999, 1001, 999, 1000).percent == 99.9


def test_the_test_command_measures_coverage_and_ends_below_the_floor(coverage_by_package):
    whole, single = coverage_by_package["floors"]()
    assert whole >= 90
    assert all(floor > whole for floor in single.values())
    _, _, after = (SCRIPTS / "test").read_text("utf-8").partition("\npytest -n 3 --dist loadfile --cov ")
    assert "\npython scripts/coverage_by_package.py\n" in after


def test_the_lowest_versions_are_those_that_the_project_allows(long_run):
    pins = dict(line.strip().split("==") for line in long_run["lowest_versions"]())
    project = tomllib.loads((SCRIPTS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    for requirement in project["dependencies"]:
        name, lowest = requirement.split(">=")
        assert pins[name] == lowest
    assert {"opendp", "pandas", "polars"} <= set(pins)


@pytest.mark.parametrize("results", [["passed", "not run"], ["passed", "FAILED"]])
def test_the_page_of_a_long_run_has_a_line_for_each_part_and_names_what_failed(long_run, results):
    lines = [
        long_run["Line"](name, result, "3 passed", 1.0, [f"FAILED tests/{name}"] if result == "FAILED" else [])
        for name, result in zip(("lowest", "newest"), results, strict=True)
    ]
    page = long_run["page"](lines, Path("logs"))
    assert [line.split()[:2] for line in page.splitlines()[3:5]] == [
        ["lowest", "passed"],
        ["newest", results[1].split()[0]],
    ]
    assert ("newest: FAILED tests/newest" in page) == ("FAILED" in results)
    assert page.endswith("Logs: logs")


def test_counts_are_read_from_what_pytest_says_last(long_run):
    said = "== 5 failed, 1176 passed in 166.22s (0:02:46) ==\n3 failed, 1 error in 1.2s\nno more"
    assert long_run["SUMMARY"].findall(said) == ["5 failed, 1176 passed", "3 failed, 1 error"]
