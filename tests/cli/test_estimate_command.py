"""`sfumato estimate`: the same answers as Python, and refusals in a sentence."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf

PUBLISHED = pa.table(
    {
        "age": ["[20, 29]", "[20, 29]", "[30, 39]", "[30, 39]", "[30, 39]"],
        "sex": ["F", "F", "F", "M", "M"],
        "salary": [2100, 2900, 3300, 2500, 4100],
        "_bucket_salary": [1, 2, 1, 2, 2],
    }
)
ORIGINAL = pa.table(
    {"age": [21, 25, 33, 35, 39], "sex": ["F", "F", "F", "M", "M"], "salary": [2100, 2500, 3300, 2900, 4100]}
)
ROLES = ("--quasi", "age,sex", "--sensitive", "salary")


@pytest.fixture
def table(tmp_path):
    sf.write(PUBLISHED, tmp_path / "table.csv")
    return tmp_path / "table.csv"


def test_counts_sums_and_averages_are_those_of_python(run, table):
    assert run("estimate", table, *ROLES, "--where", "age < 25").output == "1 expected\nbetween 0 and 2\n"
    summed = run("estimate", table, *ROLES, "--sum", "salary", "--where", "sex = M", "--json")
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["salary"])
    found = sf.queries.estimate(PUBLISHED, schema, sf.queries.Query(kind="sum", over="salary", where={"sex": "M"}))
    assert json.loads(summed.output) == {"expected": found.expected, "lower": 5400, "upper": 7000}
    averaged = run("estimate", table, *ROLES, "--avg", "salary", "--where", "sex in M")
    assert averaged.output == "3166.67 expected\nbetween 2700 and 3500\n"


def test_whole_numbers_have_whole_bounds(run, tmp_path):
    sf.write(pa.table({"x": ["[0, 2)"] * 400}), tmp_path / "ranges.csv")
    asked = ("estimate", tmp_path / "ranges.csv", "--quasi", "x", "--sum", "x")
    assert run(*asked, "--whole", "x").output == "200 expected\nbetween 0 and 400\n"
    found = run(*asked)
    assert "200 expected\nbetween 0 and 800\n" in found.output
    assert "give --whole for narrower bounds" in found.output
    assert "has no role" in run(*asked, "--whole", "y").output


def test_errors_of_random_questions_need_the_original(run, table, tmp_path):
    sf.write(ORIGINAL, tmp_path / "original.csv")
    asked = ("estimate", table, *ROLES, "--sum", "salary", "--errors", "20")
    found = json.loads(run(*asked, "--original", tmp_path / "original.csv", "--json").output)
    assert found["queries"] == 20
    assert found["within_bounds"] == 1
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "Give --errors and --original together." in refused.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--where", "old"], "Condition 1 is not understood"),
        (["--where", "age >"], "Condition 1 is not understood"),
        (["--where", "age > 3", "--where", "age < 9"], "Two conditions name 'age'; give one per column."),
        (["--sum", "salary", "--avg", "salary"], "Give --sum or --avg, not both."),
        (["--where", "height = 3"], "height"),
    ],
)
def test_what_is_not_understood_is_refused_in_a_sentence(run, table, options, sentence):
    refused = run("estimate", table, *ROLES, *options)
    assert refused.exit_code == 2
    assert sentence in refused.stderr
