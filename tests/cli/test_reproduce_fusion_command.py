"""`python -m papers fusion`: what it writes and says, and what it refuses."""

from __future__ import annotations

import csv

import pytest
from papers.__main__ import app
from typer.testing import CliRunner

FIGURES = ("3a", "3b", "3b-quasi", "4a", "4b", "4b-quasi")


def fusion(*arguments: object):
    return CliRunner().invoke(app, ["fusion", *map(str, arguments)])


def test_findings_are_printed_and_figures_written(tmp_path):
    out = tmp_path / "f"
    done = fusion("--rows", 300, "--repetitions", 1, "--scoring", "sensitive-sum", "--out", out)
    assert done.exit_code == 0, done.exception
    with (out / "findings.csv").open(encoding="utf-8", newline="") as file:
        findings = list(csv.DictReader(file))
    seen = sum(finding["seen"] == "yes" for finding in findings)
    assert f"{seen} of {len(findings)} findings were seen." in done.stdout
    names = {
        "findings.csv",
        *(f"figure-{name}.{kind}" for name in FIGURES for kind in ("csv", "png", "svg")),
    }
    assert {path.name for path in out.iterdir()} == names
    with (out / "figure-3b.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 4 * 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rows", 5], "too few to learn from"),
        (["--seed", -1], "seed"),
        (["--repetitions", 0], "repetitions"),
        (["--table", "absent.csv"], "absent.csv"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_measured(tmp_path, arguments, said):
    done = fusion(*arguments, "--out", tmp_path / "f")
    assert done.exit_code == 2
    assert done.stderr.startswith("sfumato: ")
    assert said in done.stderr
    assert not (tmp_path / "f").exists()
