"""`sfumato query`: stores, questions as people write them, budgets, and refusals in a sentence."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from sfumato.exceptions import InvalidParameterError
from sfumato.queries.private.sentences import Question

STATED = ("--bounds", "age=0,100", "--bounds", "cost=0,1000", "--categories", "sex=F,M")


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    ages = list(range(20, 80))
    frame = pd.DataFrame({"id": [age // 2 for age in ages], "age": ages, "sex": ["F", "M"] * 30, "cost": 500})
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def store(run, people, tmp_path):
    path = tmp_path / "study.toml"
    done = run("query", "init", people, "--store", path, *STATED, "--total", "100000", "--per-analyst", "60000")
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(path)
    return path


def ask(run, store, question, *more, epsilon="10000"):
    return run("query", "ask", store, question, "--epsilon", epsilon, "--analyst", "ann", *more)


def test_questions_are_answered_and_paid_for(run, store):
    counted = ask(run, store, "count where age >= 60")
    assert counted.output.splitlines() == [
        "20",
        "between 20 and 20 with confidence 0.95",
        "discrete Laplace of scale 0.0001; epsilon 10000 was spent",
    ]
    assert json.loads(ask(run, store, "mean of cost where sex = F", "--json").output)["value"] == pytest.approx(
        500, abs=1
    )
    assert ask(run, store, "median of age").output.splitlines()[0] in {"49", "50"}
    listed = ask(run, store, "table of sex, age where age from 20 to 39", "--edges", "age=0,30,100").output
    assert re.sub(" +", " ", listed).splitlines()[:3] == [
        "sex age count from to",
        "F [0, 30) 5 5 5",
        "F [30, 100] 5 5 5",
    ]
    told = run("query", "budget", store).output
    assert re.sub(" +", " ", told).splitlines() == [" spent of left", "all 40000 100000 60000", "ann 40000 60000 20000"]
    assert json.loads(run("query", "budget", store, "--json").output)["answers"] == 4


def test_an_exhausted_budget_is_told_by_the_exit_code(run, store):
    refused = ask(run, store, "count", epsilon="70000")
    assert refused.exit_code == 1
    assert "sfumato: The budget of analyst 'ann' has 60000 left, but the question costs 70000;" in refused.output


def test_persons_with_several_rows_take_part_as_stated(run, people, tmp_path):
    path = tmp_path / "study.toml"
    unit = ("--person", "id", "--max-rows", "1")
    run("query", "init", people, "--store", path, *STATED, *unit, "--total", "100000")
    assert ask(run, path, "count").output.startswith("30\n")


def test_a_store_is_never_begun_anew(run, store, people):
    again = run("query", "init", people, "--store", store, *STATED, "--total", "5")
    assert again.exit_code == 2
    assert "exists" in again.output
    store.unlink()
    beside = run("query", "init", people, "--store", store, *STATED, "--total", "5")
    assert beside.exit_code == 2
    assert ".sqlite already exists" in beside.output


def test_a_mistake_in_init_leaves_nothing(run, people, tmp_path):
    path = tmp_path / "study.toml"
    for wrong in (("--bounds", "agee=0,1"), ("--bounds", "age=1"), ("--bounds", "age=x,y"), ("--categories", "sex")):
        assert run("query", "init", people, "--store", path, *wrong, "--total", "5").exit_code == 2
    assert run("query", "init", people, "--store", path, "--total", "-5").exit_code == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.csv"]


def test_another_table_has_no_budget(run, store, people):
    people.write_text(people.read_text().replace("500", "501"))
    assert "keeps the budget of another table" in ask(run, store, "count").output


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("how many?", "The question is not understood; write count, sum of A"),
        ("count where age", "Condition 1 is not understood"),
        ("count where sex = F and age >= 6 and age < 9", "Two conditions name 'age'"),
        ("sum of cost, age", "A sum takes one column"),
        ("quantile 1.1.1 of age", "share of a quantile must be a number"),
        ("sum of name", "has no column 'name'"),
    ],
)
def test_a_question_that_is_not_understood_costs_nothing(run, store, question, sentence):
    refused = ask(run, store, question)
    assert refused.exit_code == 2
    assert sentence in refused.output
    assert json.loads(run("query", "budget", store, "--json").output)["answers"] == 0


def test_what_is_no_store_is_refused(run, tmp_path):
    path = tmp_path / "study.toml"
    assert "There is no store" in run("query", "budget", path).output
    path.write_text("format = 'something else'\n")
    assert "is not a store" in run("query", "budget", path).output
    path.write_text("not = [toml\n")
    assert "is not a store" in run("query", "budget", path).output


def test_columns_may_be_named_like_words_of_a_question():
    read = Question.read("sum of days in bed where ward of stay = A and sex in F, M")
    assert read.columns == ("days in bed",)
    assert read.where == {"ward of stay": ("=", "A"), "sex": ["F", "M"]}
    with pytest.raises(InvalidParameterError, match="not understood"):
        Question.read("")


def exact(run, people, question, *more):
    history = people.parent / "history.sqlite"
    return run("query", "exact", people, question, "--history", history, "--public", "age,sex", "--user", "ann", *more)


def test_exact_answers_are_audited_across_runs(run, people):
    people.write_text("age,sex,pay\n20,F,100\n30,F,300\n40,M,250\n50,M,90\n60,F,70\n")
    assert exact(run, people, "sum of pay where sex = F").output == "470\n"
    denied = exact(run, people, "avg of pay where sex = F and age < 60")
    assert denied.exit_code == 1
    assert "sfumato: Together with earlier answers, this one could reveal somebody's value." in denied.output
    assert json.loads(exact(run, people, "max of pay where sex = M", "--json").output)["value"] == 250
    assert exact(run, people, "count of pay").output == "5\n"


def test_a_bad_exact_question_is_refused(run, people):
    for question, more, sentence in (
        ("sum pay", (), "not understood"),
        ("sum of cost", (), "fewer than 3 different values"),
        ("sum of id where cost = 5", (), "Conditions may use age, sex, not 'cost'"),
        ("sum of id", ("--tolerance", "5", "--bounds", "0"), "takes two numbers"),
    ):
        refused = exact(run, people, question, *more)
        assert refused.exit_code == 2
        assert sentence in refused.output
