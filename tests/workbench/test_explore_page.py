"""What the page of solutions says, and what it makes of any address."""

from __future__ import annotations

import pytest

from sfumato._locale.messages import load_messages
from sfumato.report.charts.scatter import ScatterLabels, draw_solution_scatter
from sfumato.tables.published.solution import OptimalityProof
from sfumato.workbench._pages.explore import _filter_summary, _solution_summary

SAY = load_messages("en")
COUNTS = {"anonymous": 12, "not anonymous": 30, "bounded": 0}


def explored(**more):
    best = {"levels": {"age": 1}, "loss": 0.1412021, "suppressed": 3}
    return {"nodes": 42, "status": COUNTS, "best": best, "bound": 0.1, "proven": True, **more}


def test_the_best_is_called_proven_only_if_it_is():
    assert "nothing loses less than 0.141202." in _solution_summary(explored(), SAY)
    gap = _solution_summary(explored(proven=False), SAY)
    assert "proven" not in gap
    assert "The best one found loses 0.141202; none can lose less than 0.1." in gap


def test_large_losses_are_no_powers_of_ten():
    best = {"levels": {"age": 1}, "loss": 1.128e9, "suppressed": 3}
    assert "nothing loses less than 1,128,000,000." in _solution_summary(explored(best=best), SAY)
    nodes = [{"levels": {"age": level}, "loss": 3e8 * (level + 1), "suppressed": level} for level in range(4)]
    said = ScatterLabels(title="t", description="d", loss="l", suppressed="s")
    picture = draw_solution_scatter(nodes, 100, marked={}, said=said)
    assert "1,200,000,000" in picture
    assert "e+" not in picture
    assert "1,260,000,000" in OptimalityProof("discernibility", 1.26e9, 1.26e9, 12, 34).describe


def test_no_solution_and_nodes_that_were_not_checked_are_told():
    assert "None of them keeps the promise." in _solution_summary(explored(best=None, bound=None), SAY)
    assert "7 were not checked" in _solution_summary(explored(status={**COUNTS, "bounded": 7}), SAY)


def test_it_is_told_if_not_all_solutions_are_kept():
    assert _filter_summary({"judged": 90, "ranked": [None] * 90}, 50, SAY).startswith("50 of 90 solutions")
    assert "the best 40 are listed" in _filter_summary({"judged": 90, "ranked": [None] * 90}, 50, SAY)
    assert _filter_summary({"judged": 9000, "ranked": [None] * 2000}, 50, SAY).startswith(
        "50 of the best 2,000 solutions"
    )


@pytest.fixture(scope="module")
def explored_client(opened_client):
    opened_client.patch((["release", "max_suppressed"], 0.1))
    for loss in ("loss", "entropy"):
        assert opened_client.job("explore", loss=loss).state == "done"
    return opened_client


@pytest.mark.parametrize(
    "query",
    [
        "l1=abc&l2=-1&l3=99",
        "l1=%F0%9D%9F%8F",
        "loss=nan&suppressed=inf",
        "loss=-1",
        "loss=1e999&suppressed=x",
        "by=evil",
    ],
)
def test_an_address_that_makes_no_sense_filters_nothing(explored_client, query):
    plain, odd = explored_client.get("/explore"), explored_client.get(f"/explore?{query}")
    assert odd.status_code == 200
    kept = [page.text.partition('id="kept">')[2].partition("<")[0] for page in (plain, odd)]
    assert kept[0] == kept[1]
    assert "pass the filters" in kept[0]


def test_another_loss_is_shown_when_it_is_asked_for(explored_client):
    found = explored_client.desk.result("explore", loss="entropy")
    page = explored_client.get("/explore?by=entropy").text
    assert f"{found['best']['loss']:.6g}" in page.partition('id="found"')[2].partition("</p>")[0]
    unknown = explored_client.get("/explore?by=discernibility").text
    assert 'id="explore"' in unknown


@pytest.mark.parametrize("query", ["row=0", "row=999999", "row=x", "population=-5", "row=%E0%A5%A7"])
def test_rows_that_are_not_there_are_not_looked_for(explored_client, query):
    page = explored_client.get(f"/risk?{query}")
    assert page.status_code == 200
    assert "why-section" not in page.text


def test_columns_that_are_not_there_are_not_looked_for(explored_client):
    assert explored_client.get("/utility?column=99&predict=abc").status_code == 200
