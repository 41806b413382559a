"""The gate of moved code: a few frozen releases are compared, and differences and gaps are reported."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "freeze"
GOLDEN = ROOT / "tests" / "golden" / "frozen"
FEW = "^(algorithm-0-mondrian|sets-0-.*|series-mdav-.*|duckdb-counted)$"


@pytest.fixture(scope="module")
def freeze():
    return runpy.run_path(str(SCRIPT))


def run(*arguments):
    command = [sys.executable, SCRIPT, "--workers", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - ours


def test_a_few_releases_equal_the_stored_hashes():
    done = run("--only", FEW, "--under", "hashseed")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout == "hashseed: 4 releases and snapshots, equal\n"


def test_a_changed_file_and_one_that_is_gone_are_listed(tmp_path):
    golden = shutil.copytree(GOLDEN, tmp_path / "golden")
    hashes = json.loads((golden / "files.json").read_text("utf-8"))
    hashes["algorithm-0-mondrian"]["public/table.csv"] = "0" * 16
    hashes["algorithm-0-mondrian"]["public/gone.csv"] = "0" * 16
    (golden / "files.json").write_text(json.dumps(hashes), "utf-8")
    done = run("--only", "^algorithm-0-mondrian$", "--golden", golden)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "algorithm-0-mondrian: public/gone.csv",
        "algorithm-0-mondrian: public/table.csv",
        "plain: 1 releases and snapshots, 2 differences",
    ]


def test_new_and_lost_releases_and_lines_are_listed(freeze, tmp_path):
    freeze["write"]({"a": {"x.csv": "1"}, "help": ["one", "two"]}, tmp_path, everything=True)
    found = {"b": {"x.csv": "1"}, "help": ["one", "three"]}
    seen = list(freeze["differences"](found, tmp_path, re.compile("")))
    assert seen == ["a: x.csv", "b: x.csv", "--- help", "+++ now", "@@ -2 +2 @@", "-two", "+three"]
    assert list(freeze["differences"]({"help": ["one", "two"]}, tmp_path, re.compile("help"))) == []


def test_every_choice_and_command_is_frozen_and_a_gap_is_named(freeze):
    from frozen.scenario import uncovered  # imports the conformance suites, which other tests do not need

    scenarios = list(freeze["everything"]()[0].values())
    assert freeze["listed"]()[0] == []
    without = [each for each in scenarios if each.name != "model-delta-presence"]
    assert uncovered(without) == ["delta-presence of table"]
    assert set(json.loads((GOLDEN / "files.json").read_text("utf-8"))) == {each.name for each in scenarios}
