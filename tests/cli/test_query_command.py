"""`sfumato query`: stores, questions as people write them, budgets, and refusals in a sentence."""

from __future__ import annotations

import json
import re
import sqlite3
import tomllib
from contextlib import closing

import pandas as pd
import pytest

from sfumato.dp.accountant import Accountant
from sfumato.dp.question import Question
from sfumato.errors import InvalidParameterError

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
        "discrete Laplace of scale 0.0001; epsilon 10000 for adding or removing one row was spent",
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
    head, told = run("query", "budget", store).output.split("\n", 1)
    assert head == "epsilon for adding or removing one row"
    assert re.sub(" +", " ", told).splitlines() == [" spent of left", "all 40000 100000 60000", "ann 40000 60000 20000"]
    assert json.loads(run("query", "budget", store, "--json").output)["answers"] == 4


def test_the_budget_tells_the_delta_of_an_accountant_that_grants_one(run, store):
    budget = store.with_suffix(".sqlite")
    budget.unlink()
    Accountant(budget, total=2, total_delta="1e-6").spend("ann", 1, "log", delta="1e-7")
    told = re.sub(" +", " ", run("query", "budget", store).output).splitlines()
    assert told[-1] == "delta of all 0.0000001 0.000001 0.0000009"
    assert json.loads(run("query", "budget", store, "--json").output)["delta"]["left"] == "0.0000009"


def test_a_grid_is_asked_for_in_a_sentence(run, store):
    found = json.loads(ask(run, store, "grid of age, cost", "--json", epsilon="200").output)
    assert found["columns"] == ["age", "cost"]
    assert sum(found["counts"]) == pytest.approx(60)
    assert found["steps"] == ["made consistent"]


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
    assert "make one by sfumato query init" in run("query", "budget", path).output
    path.write_text("format = 'something else'\n")
    assert "is not a store" in run("query", "budget", path).output


def test_columns_may_be_named_like_words_of_a_question():
    read = Question.parse("sum of days in bed where ward of stay = A and sex in F, M")
    assert read.columns == ("days in bed",)
    assert read.where == {"ward of stay": ("=", "A"), "sex": ["F", "M"]}
    with pytest.raises(InvalidParameterError, match="not understood"):
        Question.parse("")


def begun(run, tmp_path, text, *stated):
    source, path = tmp_path / "rows.csv", tmp_path / "rows.toml"
    source.write_text(text)
    done = run("query", "init", source, "--store", path, *stated, "--total", "1000000")
    assert done.exit_code == 0, done.output
    return path, done


GROUPS = ["group,day", *(f"{1 + each % 3}.0,2020-01-0{1 + each % 9}" for each in range(300))]


@pytest.mark.parametrize("hostile", ["x,unknown", "true,", "1e999,x", ",,,,", '"', "7;8;9", "\u00e9,\u20ac"])
def test_one_row_changes_how_no_other_row_is_counted(run, tmp_path, hostile):
    stated = ("--categories", "group=1,2,3", "--bounds", "day=2019-01-01,2021-01-01")
    path, _ = begun(run, tmp_path, "\n".join([*GROUPS, "1,2020-01-01"]), *stated)
    (tmp_path / "rows.csv").write_text("\n".join([*GROUPS, hostile]), encoding="utf-8")
    (tmp_path / "rows.sqlite").unlink()
    Accountant(tmp_path / "rows.sqlite", total=10**6)  # the budget of the neighboring table
    found = json.loads(ask(run, path, "histogram of group", "--json").output)
    assert found["counts"] == [100, 100, 100]
    later = json.loads(ask(run, path, "count where day >= 2020-01-09", "--json").output)
    assert later["value"] == 33


def test_the_owner_hears_what_is_not_as_stated(run, tmp_path):
    _, done = begun(run, tmp_path, "age,sex\n30,F\nold,M\n40\n", "--bounds", "age=0,100", "--categories", "sex=F,M")
    assert "2 of 3 cells of age are missing or not as stated" in done.output
    assert "1 of 3 cells of sex" in done.output


def test_how_a_table_is_read_is_settled_at_the_beginning(run, tmp_path):
    path, _ = begun(run, tmp_path, "age;sex\n30;F\n40;M\n", "--bounds", "age=0,100")
    assert tomllib.loads(path.read_text())["reading"] == {"separator": ";", "encoding": "utf-8"}
    assert ask(run, path, "count where age >= 40").output.startswith("1\n")
    assert ask(run, path, "count", "--separator", ",").exit_code == 2
    (tmp_path / "lines.csv").write_text('age,note\n30,"a\nb"\n')
    several = run("query", "init", tmp_path / "lines.csv", "--store", tmp_path / "lines.toml", "--total", "1")
    assert several.exit_code == 2
    assert "not closed on its line" in several.output


@pytest.mark.parametrize("kind", ["sheet.xlsx", "people.parquet"])
def test_other_files_are_read_cell_by_cell_too(run, tmp_path, kind):
    source, path = tmp_path / kind, tmp_path / "store.toml"
    frame = pd.DataFrame({"group": [1.0, 2.0, float("inf")], "name": ["a", "b", "c"]})
    if kind.endswith("xlsx"):
        frame["group"] = [1, "x", 2.0]
        frame.to_excel(source, index=False)
    else:
        frame.to_parquet(source)
    stated = ("--categories", "group=1,2", "--total", "100000")
    assert run("query", "init", source, "--store", path, *stated).exit_code == 0
    assert json.loads(ask(run, path, "histogram of group", "--json").output)["counts"] == [1, 1]


def test_a_database_is_read_cell_by_cell_too(run, tmp_path):
    with closing(sqlite3.connect(tmp_path / "people.db")) as file:
        file.execute("CREATE TABLE people (age, day DATE)")
        file.executemany("INSERT INTO people VALUES (?, ?)", [(1, "2020-01-01"), ("x", b"y"), (2.5, "soon")])
        file.commit()
    stated = ("--bounds", "age=0,9", "--bounds", "day=2019-01-01,2021-01-01", "--table", "people", "--total", "100000")
    path = tmp_path / "store.toml"
    assert run("query", "init", f"sqlite:///{tmp_path}/people.db", "--store", path, *stated).exit_code == 0
    assert ask(run, path, "count where age >= 1").output.startswith("2\n")
    assert ask(run, path, "count where day >= 2020-01-01").output.startswith("1\n")


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


@pytest.mark.parametrize(
    ("option", "value"), [("--decimal", ","), ("--column-type", "age=text"), ("--thousands", "."), ("--skip-last", 1)]
)
def test_conventions_are_refused_where_every_cell_is_read_as_it_is_written(run, patients_file, tmp_path, option, value):
    found = run("query", "init", patients_file, "--store", tmp_path / "s.toml", "--total", 1, option, value)
    assert found.exit_code == 2
    assert f"{option} cannot be used with sfumato query" in found.stderr, found.stderr


def test_a_quantile_that_cannot_be_computed_is_refused_alike_for_every_number_of_rows(run, tmp_path):
    told = set()
    for rows in (999, 1000, 1001):
        folder = tmp_path / str(rows)
        folder.mkdir()
        pd.DataFrame({"age": [each % 100 for each in range(rows)]}).to_csv(folder / "people.csv", index=False)
        path = folder / "study.toml"
        run("query", "init", folder / "people.csv", "--store", path, "--bounds", "age=0,120", "--total", 10)
        told.add(ask(run, path, "quantile 0.999999 of age", "--confidence", 0.9761135403840221, epsilon="8e-12").output)
        assert Accountant(path.with_suffix(".sqlite")).balance().answers == 0
    assert len(told) == 1
    assert "ranks that do not fit into 64 bits" in told.pop()


def test_a_table_has_one_budget_unless_another_one_is_asked_for(run, people, store, tmp_path):
    second = ("query", "init", people, "--store", tmp_path / "second.toml", *STATED, "--total", 1)
    refused = run(*second)
    assert refused.exit_code == 2
    assert f"have a budget already: {store.with_suffix('.sqlite')}. Ask with that one; or ask for" in refused.output
    assert "by --another-budget, and what both spend adds up" in refused.output
    assert not (tmp_path / "second.sqlite").exists()
    assert run(*second, "--another-budget").exit_code == 0
    assert ask(run, tmp_path / "second.toml", "count", epsilon="1").exit_code == 0
    assert ask(run, store, "count").exit_code == 0


@pytest.mark.usefixtures("store")
def test_another_notation_of_the_numbers_does_not_make_another_table(run, people, tmp_path):
    table = pd.read_csv(people)
    other, written = tmp_path / "other.parquet", tmp_path / "other.csv"
    table.astype({"cost": float}).to_parquet(other)
    table.assign(cost="500.00").to_csv(written, index=False)
    for copy in (other, written):
        refused = run("query", "init", copy, "--store", tmp_path / "second.toml", *STATED, "--total", 1)
        assert refused.exit_code == 2
        assert "have a budget already" in refused.output


def test_a_mistake_in_what_is_stated_leaves_no_budget_behind(run, people, tmp_path):
    init = ("query", "init", people, "--store", tmp_path / "study.toml", "--total", 1)
    assert run(*init, "--bounds", "age=5,1").exit_code == 2
    assert run(*init, "--bounds", "age=0,100").exit_code == 0


def test_a_budget_that_is_copied_back_is_refused(run, store, tmp_path, monkeypatch):
    budget = store.with_suffix(".sqlite")
    kept = budget.read_bytes()
    assert ask(run, store, "count").exit_code == 0
    spent = budget.read_bytes()
    budget.write_bytes(kept)
    for refused in (ask(run, store, "count"), run("query", "budget", store), run("query", "repair", store)):
        assert (refused.exit_code, "is older than the record of it" in refused.output) == (2, True), refused.output
    budget.write_bytes(spent)
    assert "nothing to repair" in run("query", "repair", store).output
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "somebody else"))
    assert "sfumato query repair" in ask(run, store, "count").output
    assert "is remembered from now on" in run("query", "repair", budget).output
    assert ask(run, store, "count").exit_code == 0
