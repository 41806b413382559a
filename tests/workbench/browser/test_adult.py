"""The solutions of Adult, as the specification counts them, in a real browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

import sfumato as sf
from adult import read_adult
from sfumato.core.recipe import Recipe

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country"]


@pytest.mark.shared_data
def test_523_of_720_solutions_keep_the_promise_and_the_second_is_adopted(shared_data, start_server, visit):
    table, trees = read_adult(shared_data)
    here = visit(start_server(shared_data / "adult" / "adult.csv")).enter()
    page = here.page
    expect(page.locator("#size")).to_contain_text("30,162 records")
    schema = sf.Schema(
        quasi_identifiers=QUASI, sensitive=["salary-class"], hierarchies={name: trees[name] for name in QUASI}
    )
    recipe = Recipe(
        schema=schema, models=[sf.models.KAnonymity(k=5)], algorithm=sf.algorithms.Optimal(), max_suppressed=0.05
    ).to_dict()
    current = json.loads(page.request.get(f"{here.server.base}/recipe").text())
    answer = page.request.patch(
        f"{here.server.base}/recipe",
        headers={"origin": here.server.origin, "x-sfumato": "1"},
        data={
            "version": current["version"],
            "step": "promise",
            "set": [[[name], recipe[name]] for name in ("attributes", "models", "algorithm", "release")],
        },
    )
    assert answer.ok, answer.text()
    here.go("explore")
    page.click("#explore")
    told = page.locator("#found")
    expect(told).to_contain_text("There are 720 full-domain recodings: 523 keep the promise, 197 do not.")
    expect(told).to_contain_text("nothing loses less than 0.141202")
    idle = page.locator("#progress")
    expect(idle).to_be_hidden()
    for node in range(3):
        page.click(f"#pin-node-{node}")
        expect(page.locator(f"#pin-node-{node}")).to_have_count(0)
        expect(idle).to_be_hidden()
    expect(page.locator(".compare thead th")).to_have_text([re.compile("^A"), re.compile("^B"), re.compile("^C")])
    second = page.locator("tr[data-candidate]").filter(has=page.locator(".letter-badge", has_text="B"))
    number = second.get_attribute("data-candidate")
    page.click(f"#adopt-{number}")
    expect(page.locator(f"tr[data-candidate='{number}']")).to_contain_text("in the recipe")
    expect(page.locator(f"tr[data-candidate='{number}'] .badge.good", has_text="holds")).to_be_visible()
    levels = sf.explore(table, schema, [sf.models.KAnonymity(k=5)], max_suppressed=0.05).ranked(2)[1].levels
    adopted = json.loads(page.request.get(f"{here.server.base}/recipe").text())["recipe"]["algorithm"]
    assert adopted == {"name": "fixed-levels", "levels": dict(levels)}
    here.check_looks("explore")
