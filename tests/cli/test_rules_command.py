"""`sfumato rules`: what is found, what is hidden, and refusals."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf

WORKED = ["abc", "abc", "bad", "acd", "bcd", "abcd", "ab", "cd"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = [(number, item) for number, each in enumerate(WORKED) for item in each]
    sf.write(pa.table({"basket": [p[0] for p in pairs], "item": [p[1] for p in pairs]}), "baskets.csv")
    sf.write(pa.table({item: [item in each for each in WORKED] for item in "abcd"}), "flags.parquet")
    return tmp_path


def test_rules_are_printed_with_support_and_confidence(run):
    result = run("rules", "mine", "baskets.csv", "--support", 3, "--confidence", 0.6)
    assert result.exit_code == 0, result.stderr
    assert "13 rules in 8 transactions" in result.stdout
    assert "a => b" in result.stdout
    same = run("rules", "mine", "flags.parquet", "--support", 0.375, "--confidence", 0.6)
    assert same.stdout == result.stdout


def test_json_lists_rules(run):
    result = run("rules", "mine", "baskets.csv", "--support", 3, "--confidence", 0.8, "--json")
    assert json.loads(result.stdout)[0] == {"left": ["a"], "right": ["b"], "support": 5, "confidence": 5 / 6}


def test_an_item_set_is_hidden_and_the_table_keeps_its_form(run):
    result = run("rules", "hide", "baskets.csv", "--items", "a, b", "--support", 3, "--out", "hidden.csv")
    assert result.exit_code == 0, result.stderr
    assert "1 of 1 patterns hidden" in result.stdout
    assert "The changed table is in hidden.csv" in result.stdout
    written = sf.read("hidden.csv")
    assert written.column_names == ["transaction", "item"]
    assert sf.mining.TransactionMatrix.from_data(written).support({"a", "b"}) == 2


def test_a_rule_is_made_unsure_by_blocking_with_empty_cells(run):
    what = ["--rule", "a => b", "--support", 3, "--confidence", 0.6, "--method", "blocking", "--json"]
    result = run("rules", "hide", "baskets.csv", *what, "--out", "hidden.csv")
    assert result.exit_code == 1, result.stderr  # whoever takes unknown cells for present items finds it
    facts = json.loads(result.stdout)
    written = sf.mining.TransactionMatrix.from_data(sf.read("hidden.csv"))
    assert (facts["failed"], facts["failed_if_present"], facts["out"]) == (0, 1, "hidden.csv")
    assert int(written.unknown.sum()) == facts["blocked"] > 0


def test_what_cannot_be_hidden_is_exit_code_1(run):
    what = ["--rule", "a => b", "--support", 3, "--confidence", 0.5, "--method", "1.a"]
    result = run("rules", "hide", "baskets.csv", *what, "--out", "hidden.csv")
    assert result.exit_code == 1
    assert "0 of 1 patterns hidden" in result.stdout


def test_columns_can_be_chosen(run):
    table = sf.read("baskets.csv").append_column("price", pa.array([1] * 23))
    sf.write(table, "priced.csv")
    assert run("rules", "mine", "priced.csv", "--support", 3).exit_code == 2
    assert run("rules", "mine", "priced.csv", "--support", 3, "--columns", "basket,item").exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--support", "many", "--rule", "a => b"],
        ["--support", "0", "--rule", "a => b"],
        ["--support", "3"],
        ["--support", "3", "--rule", "a b"],
        ["--support", "3", "--rule", "a => zebra"],
        ["--support", "3", "--rule", "a => b", "--method", "best"],
        ["--support", "3", "--items", "a, b", "--method", "2.a"],
        ["--support", "3", "--rule", "a => b", "--out", "baskets.csv"],
    ],
)
def test_bad_requests_for_rules_are_one_sentence_and_exit_code_2(run, options):
    result = run("rules", "hide", "baskets.csv", "--out", "hidden.csv", *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("sfumato: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert "zebra" not in result.stderr


def test_baskets_are_flipped_and_rules_recovered(run):
    flipped = run("rules", "flip", "flags.parquet", "--present", 1, "--out", "flipped.csv", "--json")
    assert json.loads(flipped.stdout)["items"] == 4
    found = run("rules", "estimate", "flipped.csv", "--present", 1, "--support", 3, "--confidence", 0.8, "--json")
    first = json.loads(found.stdout)[0]
    assert first["left"] == ["a"]
    assert first["support"] == {"value": 5.0, "error": 0.0}
    assert first["confidence"]["value"] == pytest.approx(5 / 6)
    shown = run("rules", "estimate", "flipped.csv", "--present", 1, "--support", 3, "--confidence", 0.8)
    assert "rules in 8 flipped baskets" in shown.stdout
    assert shown.stdout.splitlines()[1].split() == ["rule", "support", "+-", "confidence", "+-"]


def test_pairs_are_flipped_on_a_stated_domain(run):
    asked = ("--present", 0.9, "--domain", "a,b,c,d,e", "--out", "flipped.csv")
    flipped = run("rules", "flip", "baskets.csv", *asked)
    assert flipped.stdout.splitlines() == [
        "8 flipped baskets are in flipped.csv",
        "epsilon 10.99 for any two baskets, of 5 items together",
    ]
    assert sf.read("flipped.csv").column_names == list("abcde")
    again = run("rules", "flip", "baskets.csv", *asked)
    assert again.exit_code == 2
    short = run("rules", "flip", "baskets.csv", "--present", 0.9, "--domain", "a,b", "--out", "other.csv")
    assert (short.exit_code, short.stderr) == (0, "")
    assert short.stdout.splitlines()[0] == "8 flipped baskets are in other.csv"
    lone = run("rules", "flip", "baskets.csv", "--present", 0.9, "--out", "no.csv")
    assert (lone.exit_code, "must not come from the baskets" in lone.stderr) == (2, True)


def test_an_infinite_epsilon_is_still_json(run):
    domain = ("--domain", "a,b,c,d")
    result = run("rules", "flip", "baskets.csv", "--present", 1, *domain, "--out", "same.csv", "--json")
    assert json.loads(result.stdout, parse_constant=pytest.fail)["epsilon"] == "infinity"
