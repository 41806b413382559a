"""Personalized series on the command line: flags come and go from quarter to quarter."""

from __future__ import annotations

import json

import pytest

RECIPE = """
[attributes]
patient = { role = "identifier" }
age = { role = "quasi" }
disease = { role = "sensitive", flags = "hide" }

[[models]]
name = "frequency-l-diversity"
l = 4
sensitive = "disease"

[[models]]
name = "series-exposure"
limit = 0.34
sensitive = "disease"

[algorithm]
name = "local-anatomy"
"""
QUARTERS = ["1x+ 2y+ 3z+ 4w+ 5x-", "1x- 2y+ 3z+ 4w+ 5x-", "1x- 2y- 3z+ 4w+ 5x-", "1x- 2y- 3z+ 4w+ 5x+"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, written in enumerate(QUARTERS, start=1):
        rows = [f"{cell[0]},{20 + int(cell[0])},{cell[1]},{cell[2] == '+'}" for cell in written.split()]
        (tmp_path / f"q{number}.csv").write_text("\n".join(["patient,age,disease,hide", *rows]), "utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    return tmp_path


def test_four_quarters_are_released_judged_and_told(run):
    assert run("ledger", "init", "h.ledger").exit_code == 0

    def released(number, *options):
        command = ["anonymize", f"q{number}.csv", "--recipe", "recipe.toml", "--ledger", "h.ledger"]
        return run(*command, "--out", f"r{number}", *options)

    first = released(1)
    assert first.exit_code == 0
    assert "Flags of" not in first.stdout
    assert "no longer flagged and shown: 1, hidden all the same: 0; flagged though" in released(2).stdout
    assert "no longer flagged and shown: 0, hidden all the same: 1; flagged though" in released(3).stdout
    refused = released(4)
    assert refused.exit_code == 2
    assert "1 cells of 'disease' are flagged that earlier releases showed" in refused.stderr
    told = released(4, "--algorithm", "local-anatomy:allow_shown=true", "--json")
    assert told.exit_code == 0
    changes = {"flagged_late": 1, "shown_now": 0, "kept_hidden": 1}
    assert json.loads(told.stdout)["series"]["flags"] == {"disease": changes}
    folders, originals = [f"r{at}" for at in range(1, 5)], [f"q{at}.csv" for at in range(1, 5)]
    judged = run("audit", *folders, "--series", "--originals", *originals)
    assert judged.exit_code == 0, judged.stderr
    assert "Series: holds, 4 releases, 5 persons" in judged.stdout
    by_ledger = run(
        "audit", "--series", "--ledger", "h.ledger", "--model", "series-exposure:limit=0.34,sensitive=disease"
    )
    assert by_ledger.exit_code == 0
    exposed = run("ledger", "exposure", "h.ledger", "--limit", "0.34")
    assert exposed.exit_code == 0
    assert run("ledger", "exposure", "h.ledger", "--limit", "0.3").exit_code == 1
    assert run("ledger", "verify", "h.ledger").exit_code == 0
    alone = run("audit", "r4/public/table.csv", "--recipe", "r4/internal/recipe.toml")
    assert alone.exit_code == 0, alone.stderr
