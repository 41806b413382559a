"""`sfumato baskets log`: counts of a log, paid from a budget of epsilon and delta."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def searches(tmp_path):
    rows = [f"u{user},{query},{click}" for user in range(40) for query, click in (("news", "a.org"), ("weather", ""))]
    path = tmp_path / "searches.csv"
    path.write_text("\n".join(["user,query,clicked", *rows, "u99,my own name,b.org"]) + "\n")
    return path


def log(run, searches, out, *more, epsilon="50", item=("query",)):
    named = [part for each in item for part in ("--item", each)]
    asked = ("--person", "user", *named, "--max-items", "2", "--epsilon", epsilon, "--delta", "1e-6")
    place = ("--budget", searches.parent / "budget.sqlite", "--analyst", "ann", "--out", out)
    return run("baskets", "log", searches, *asked, *place, *more)


def test_a_log_is_counted_and_paid_for(run, searches, tmp_path):
    out = tmp_path / "queries.csv"
    done = log(run, searches, out, "--total", "120", "--total-delta", "1e-5")
    assert done.exit_code == 0, done.output
    assert out.read_text().split() == ["query,persons", "news,40", "weather,40"]
    assert (
        "epsilon 50 for adding or removing one individual (by 'user', with all rows) was spent, 70 of 120 is left"
        in done.output
    )
    assert "delta 0.000001 was spent, 0.000009 of 0.00001 is left" in done.output
    assert "own name" not in done.output
    clicks = log(run, searches, tmp_path / "clicks.csv", "--json", item=("query", "clicked"))
    told = json.loads(clicks.output)
    assert (told["items"], told["epsilon_left"], told["delta_left"]) == (1, "20", "0.000008")
    assert (tmp_path / "clicks.csv").read_text().split() == ["query,clicked,persons", "news,a.org,40"]


def test_an_exhausted_budget_and_bad_requests_are_told_by_the_exit_code(run, searches, tmp_path):
    out = tmp_path / "queries.csv"
    refused = log(run, searches, out, "--total", "10", "--total-delta", "1e-5")
    assert refused.exit_code == 1
    assert "The budget of the table has 10 left, but the question costs 50" in refused.output
    assert not out.exists()
    assert log(run, searches, searches).exit_code == 2
    nobody = log(run, searches, out, "--keep", "popular", epsilon="1")
    assert nobody.exit_code == 2
    assert "keep must be 'random' or 'frequent'" in nobody.output


ODD = (
    b"",
    b"u1\n",
    b"u1,news,a.org,more\n",
    b'u1,"news\n,news,\nu1,,\n',
    b"u1,\xff\xfe,\x00\nu1,a\rb,c\n",
    b"u1," + b"x" * 300_000 + b",y\n",
    "u1,\u00e9\u200b,\u2028\n".encode(),
)


def test_whatever_one_person_adds_to_a_log_the_command_says_the_same(run, searches, tmp_path):
    whole, seen = searches.read_bytes(), set()
    for number, odd in enumerate([*ODD, None]):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = folder / "log.csv"
        file.write_bytes(whole.split(b"\n")[0] + b"\n" if odd is None else whole + odd)
        granted = ("--total", "1", "--total-delta", "1e-5", "--another-budget")  # some of these logs are read alike
        done = log(run, file, folder / "out.csv", *granted, epsilon="0.1")
        seen.add((done.exit_code, done.output.replace(str(folder), "")))
    assert len(seen) == 1, seen
    assert seen.pop()[0] == 0
