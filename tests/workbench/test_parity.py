"""Three doors give the same bytes: what the workbench writes is what the command line and the script write."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from typer.testing import CliRunner

from sfumato._locale.messages import load_messages
from sfumato.cli._application import app
from sfumato.tables._catalogue import ALGORITHMS

HIERARCHIES = {
    "age": {"kind": "intervals", "widths": [10, 30]},
    "zip": {"kind": "prefixes"},
    "job": {"kind": "taxonomy", "tree": {"care": ["nurse", "cook"], "other": ["clerk", "smith"]}},
}
PARAMETERS = {
    "fixed-levels": {"levels": {"age": 2, "sex": 1, "zip": 5, "job": 1}},
    "top-down-specialization": {"target": "disease"},
    "bottom-up-generalization": {"target": "disease"},
    "k-optimize": {"most_checked": 100},  # it would look at every set of cuts
}
PROMISED = {
    "as-is": [{"name": "k-anonymity", "k": 1}],
    "m-invariant-buckets": [{"name": "m-invariance", "m": 2, "sensitive": "disease"}],
}
USUAL = [{"name": "k-anonymity", "k": 3}, {"name": "distinct-l-diversity", "l": 2, "sensitive": "disease"}]


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


FLAGS = ("local-anatomy", "local-anatomy-generalization")  # need flagged cells


@pytest.mark.parametrize("name", [each for each in ALGORITHMS if each not in FLAGS])
def test_every_algorithm_writes_the_bytes_of_the_command_line(opened_client, persons_csv, tmp_path, name):
    changes = [([*("attributes", column), "hierarchy"], how) for column, how in HIERARCHIES.items()]
    changes += [
        (["algorithm"], {"name": name, **PARAMETERS.get(name, {})}),
        (["models"], PROMISED.get(name, USUAL)),
        (["release", "max_suppressed"], 0.5),
    ]
    first = opened_client.desk.history.at
    answer = opened_client.patch(*changes)
    assert answer.status_code == 200, answer.text
    report = name == "mondrian"
    try:
        found = opened_client.job("anonymize")
        if found.state == "failed" and found.kind == "UnsupportedModelError":
            opened_client.patch((["models"], USUAL[:1] if ALGORITHMS[name].hides_identities else USUAL[1:]))
            found = opened_client.job("anonymize")
        assert found.state == "done", found.error
        written = opened_client.job("write", candidate=found.result["candidate"], format="csv", report=report)
        assert written.state == "done", written.error
    finally:
        opened_client.post(f"/changes/{first}")
    here = opened_client.desk.project.folder / "releases" / str(written.result["release"])
    command = ["anonymize", str(persons_csv), "--recipe", str(here / "internal" / "recipe.toml")]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out"), *([] if report else ["--no-report"])])
    assert done.exit_code == 0, done.output
    assert files_in(here) == files_in(tmp_path / "out")


def test_the_recipe_of_the_page_makes_the_same_release(opened_client, persons_csv, tmp_path):
    """The recipe that a user downloads has the seed and the date of the release."""
    found = opened_client.job("anonymize")
    written = opened_client.job("write", candidate=found.result["candidate"], format="csv")
    recipe = opened_client.get(f"/candidates/{found.result['candidate']}/recipe.toml").text
    here = opened_client.desk.project.folder / "releases" / str(written.result["release"])
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    command = ["anonymize", str(persons_csv), "--recipe", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert files_in(here) == files_in(tmp_path / "out")


def test_the_script_of_the_page_makes_the_same_release_too(opened_client, persons_csv, tmp_path, monkeypatch):
    found = opened_client.job("anonymize")
    written = opened_client.job("write", candidate=found.result["candidate"], format="csv")
    here = opened_client.desk.project.folder / "releases" / str(written.result["release"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "persons.csv").write_bytes(persons_csv.read_bytes())
    script = opened_client.get(f"/candidates/{found.result['candidate']}/release.py").text
    exec(script, {})  # noqa: S102 - what is tested
    assert files_in(tmp_path / "release") == files_in(here)


def test_the_packed_public_folder_holds_no_file_of_the_internal_one(opened_client):
    found = opened_client.job("anonymize")
    number = opened_client.job("write", candidate=found.result["candidate"], format="parquet").result["release"]
    here = opened_client.desk.project.folder / "releases" / str(number)
    packed = {}
    for part in ("public", "internal"):
        answer = opened_client.get(f"/releases/{number}/{part}.zip")
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            packed[part] = {name: archive.read(name) for name in archive.namelist()}
        assert packed[part] == {f"{part}/{name}": content for name, content in files_in(here / part).items()}
    assert not set(packed["public"].values()) & set(packed["internal"].values())
    assert {name.split("/")[0] for name in packed["public"]} == {"public"}


def test_a_report_is_shown_under_rules_of_its_own(opened_client):
    found = opened_client.job("anonymize")
    number = opened_client.job("write", candidate=found.result["candidate"]).result["release"]
    answer = opened_client.get(f"/releases/{number}/report.html")
    policy = answer.headers["content-security-policy"]
    assert answer.status_code == 200
    assert "sandbox" in policy
    assert "style-src 'sha256-" in policy
    assert "unsafe" not in policy


def test_risk_is_that_of_the_command_line(opened_client, persons_csv):
    job = opened_client.job("risk")
    quasi = ",".join(opened_client.desk.recipe.schema.quasi_identifiers)
    told = CliRunner().invoke(app, ["risk", str(persons_csv), "--quasi", quasi, "--json"])
    assert json.loads(told.stdout)["risk"]["unique_records"] == job.result["unique_records"]


def test_inspection_is_that_of_the_command_line(opened_client, persons_csv):
    told = CliRunner().invoke(app, ["inspect", str(persons_csv), "--json"])
    here, there = opened_client.desk.inspection, json.loads(told.stdout)
    assert here["risk"] == {**there["risk"], "quasi": here["risk"]["quasi"]}
    for one, other in zip(here["attributes"], there["attributes"], strict=True):
        reasons = [load_messages("en").render(told) for told in one["reasons"]]
        assert {**one, "reasons": reasons} == other


def test_a_chinese_report_is_that_of_the_command_line(opened_client, persons_csv, tmp_path):
    found = opened_client.job("anonymize")
    written = opened_client.job("write", candidate=found.result["candidate"], format="csv", language="zh")
    here = opened_client.desk.project.folder / "releases" / str(written.result["release"])
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(opened_client.get(f"/candidates/{found.result['candidate']}/recipe.toml").text, encoding="utf-8")
    command = [
        "anonymize",
        str(persons_csv),
        "--recipe",
        str(recipe),
        "--language",
        "zh",
        "--out",
        str(tmp_path / "out"),
    ]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert files_in(here) == files_in(tmp_path / "out")
    assert 'lang="zh"' in files_in(here)["internal/report.html"].decode()
